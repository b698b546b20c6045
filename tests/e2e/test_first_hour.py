"""The tutorial as somebody has it who installs it: all of it, with the real command."""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.docs import pages, playing
from tests.docs.playing import Play, Weighbridge
from tests.docs.test_tutorial import PAGE, elsewhere, free_port


def test_the_first_hour_goes_as_the_page_says_from_installing_to_the_end(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = home / "hour"
    folder.mkdir(parents=True)
    programs = home / "weighbridge" / "bin"
    path = [str(programs), str(Path(sys.base_prefix, "bin")), "/usr/bin", "/bin"]
    environ = {
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        **playing.environment(home),
        "PATH": os.pathsep.join(path),
    }
    run = partial(subprocess.run, check=False, capture_output=True, text=True, timeout=600)

    def ran(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return run([str(programs / "weighbridge"), *words], cwd=folder, env=environ)

    def begun(words: Sequence[str], said: Path) -> subprocess.Popen[bytes]:
        with said.open("ab") as file:
            line = [str(programs / "weighbridge"), *words]
            return subprocess.Popen(line, cwd=folder, env=environ, stdout=file, stderr=file)

    agents, people = free_port(), free_port()
    play = Play(
        folder=folder,
        environ=environ,
        command=Weighbridge(ran=ran, begun=begun),
        stands_for={
            "127.0.0.1:8700": f"127.0.0.1:{agents}",
            "localhost:8701": f"localhost:{people}",
        },
        saved=partial(elsewhere, agents, people),
        skipped=frozenset(),
        checkout=pages.ROOT,
    )
    play.through(pages.page(PAGE).blocks)
    assert (programs / "weighbridge").exists()

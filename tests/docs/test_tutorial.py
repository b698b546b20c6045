"""The tutorial, played from its own text in an empty home."""

import socket
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.docs import pages, playing
from tests.docs.playing import Play, Weighbridge
from tests.helpers import forked

PAGE = pages.DOCS / "tutorial" / "first-hour.md"


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def elsewhere(agents: str, people: str, path: str, text: str) -> str:
    """Have the gateway listen where nobody else does."""
    if path != "config.yaml":
        return text
    listen = f'listen: {{address: "127.0.0.1:{agents}"}}\n'
    return listen + text.replace("admin:\n", f'admin:\n  address: "127.0.0.1:{people}"\n')


def test_the_first_hour_goes_as_the_page_says(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "hour"
    folder.mkdir(parents=True)
    environ = playing.environment(folder.parent)
    started: list[forked.Forked] = []

    def begun(words: Sequence[str], said: Path) -> forked.Forked:
        started.append(forked.begin(words, said, environ, folder=folder))
        return started[-1]

    ran = partial(forked.ran, environ=environ, folder=folder)
    command = Weighbridge(ran=ran, begun=begun)
    agents, people = free_port(), free_port()
    play = Play(
        folder=folder,
        environ=environ,
        command=command,
        stands_for={
            "127.0.0.1:8700": f"127.0.0.1:{agents}",
            "localhost:8701": f"localhost:{people}",
        },
        saved=partial(elsewhere, agents, people),
    )
    play.through(pages.page(PAGE).blocks)
    for each in started:
        each.process.join(30)
    assert [each.returncode for each in started] == [0]  # Ctrl-C ends the gateway in order

"""Completion in shells, asked of a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.workspaces import weighbridge

BASH = shutil.which("bash")

# What a shell does when Tab is pressed: it calls the function that `complete` names.
PRESS = """
eval "$(weighbridge completion bash)"
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_weighbridge_completion weighbridge "${{COMP_WORDS[COMP_CWORD]}}" ""
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p weighbridge
"""


def pressed(words: str, folder: Path) -> list[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(BASH), "--norc", "-c", PRESS.format(words=words)],
        env={"PATH": path, "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(BASH is None, reason="no bash here")
def test_bash_completes_commands_of_groups_and_options(tmp_path: Path) -> None:
    *found, how = pressed("weighbridge policy s", tmp_path)
    assert found == ["shadow", "suggest", "show"]
    assert "_weighbridge_completion weighbridge" in how
    assert pressed("weighbridge tools pin --rev", tmp_path)[0] == "--reviewed"


@pytest.mark.parametrize(("shell", "says"), [("zsh", "#compdef weighbridge"), ("fish", "complete")])
def test_other_shells_have_their_own_lines(shell: str, says: str) -> None:
    assert says in weighbridge("completion", shell).stdout


def test_a_shell_that_is_not_known_is_told() -> None:
    done = weighbridge("completion", "csh")
    assert done.exit_code == 2
    assert "`csh` is not one of `bash`, `zsh`, `fish`" in done.stderr

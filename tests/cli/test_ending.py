"""How the command ends when a person, or the next program, has enough of it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gateway.cli import late
from gateway.cli.ending import Program

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "gateway")
PROGRAM = Program("p", table={name: (name, "x") for name in ("one", "two", "four")})


@click.command()
def one() -> None:
    raise KeyboardInterrupt


@click.command()
def two() -> None:
    click.prompt("Why")


@click.command()
def four() -> None:
    raise BaseExceptionGroup("tasks", [BaseExceptionGroup("more", [KeyboardInterrupt()])])


@pytest.mark.parametrize("name", ["one", "two", "four"])
def test_an_interrupted_command_ends_with_130_and_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late, "named", {"one": one, "two": two, "four": four}.__getitem__)
    done = CliRunner().invoke(PROGRAM, [name], input="")
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "weighbridge: interrupted"
    assert "Traceback" not in done.output


def test_ctrl_c_while_a_server_starts_ends_the_command_without_a_traceback(tmp_path: Path) -> None:
    bell = tmp_path / "bell"
    os.mkfifo(bell)
    ring = f"import pathlib, time; pathlib.Path({str(bell)!r}).write_text('.'); time.sleep(60)"
    config = tmp_path / "config.yaml"
    server = json.dumps({"command": sys.executable, "args": ["-c", ring]})
    config.write_text(f"servers: {{a: {server}}}\n")
    child = subprocess.Popen(
        [*COMMAND, "tools", "list", "--config", str(config)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert bell.read_text() == "."  # the server is there, and says nothing
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (130, "", "weighbridge: interrupted\n")


@pytest.mark.parametrize("words", [["schema", "config"], ["policy", "--help"]])
def test_a_reader_who_leaves_is_no_error(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, *words], cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode in (1, 141)  # Click itself ends its own help with 1


def seen(words: list[str], environ: dict[str, str]) -> str:
    """Return what a terminal is sent, on both outputs."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *words],
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"PATH": os.environ["PATH"], **environ},
    ):
        os.close(theirs)
        found = b""
        try:
            while data := os.read(ours, 65536):
                found += data
        except OSError:  # how Linux says that the other side is closed
            pass
    os.close(ours)
    return found.decode()


def test_progress_is_drawn_on_a_terminal_and_taken_away_and_is_no_colour(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("servers: {}\n")
    words = ["doctor", "--config", str(tmp_path / "config.yaml")]
    drawn = seen(words, {"NO_COLOR": "1", "TERM": "xterm"})
    assert "\r\x1b[Klooking at servers" in drawn
    assert not re.search(r"\x1b\[[0-9;]*m", drawn)


def test_only_two_modules_know_how_to_draw_on_a_terminal() -> None:
    drawing = {
        str(path.relative_to(ROOT))
        for folder in ("cli", "demo", "app", "actions")
        for path in (ROOT / "gateway" / folder).rglob("*.py")
        if "\\x1b[" in path.read_text(encoding="utf-8") or "click.style" in path.read_text("utf-8")
    }
    assert drawing == {"gateway/cli/progress.py", "gateway/demo/table.py"}

"""What a child process gets to see."""

from pathlib import Path

import pytest

from gateway.servers.connection import ConnectFault
from gateway.servers.entry import Entry
from gateway.servers.environment import child_environment, launch

BASE = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/u",
    "LANG": "C",
    "GW_SIGNING_KEY": "S2",
    "AWS_SECRET_ACCESS_KEY": "S3",
}


def test_only_safe_names_and_the_entrys_own_are_passed_on() -> None:
    """case: CFG-02"""
    assert child_environment(BASE, {"ALPHA_TOKEN": "S4"}) == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/u",
        "LANG": "C",
        "ALPHA_TOKEN": "S4",
    }


def test_an_entry_may_replace_a_safe_name() -> None:
    assert child_environment(BASE, {"PATH": "/opt/bin"})["PATH"] == "/opt/bin"


def test_a_bare_command_is_looked_up_in_the_path_of_the_child(tmp_path: Path) -> None:
    program = tmp_path / "own tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    entry = Entry(name="a", command="own tool", env={"PATH": str(tmp_path)})
    assert launch(entry, base=BASE, folder=Path("/")).argv == (str(program),)


def test_a_relative_command_and_folder_start_where_the_config_lies(tmp_path: Path) -> None:
    """case: CFG-04"""
    folder = tmp_path / "dir with blank"
    folder.mkdir()
    (folder / "fake").touch()
    entry = Entry(name="a", command="dir with blank/fake", args=("", "*"), cwd="dir with blank")
    got = launch(entry, base=BASE, folder=tmp_path)
    assert (got.argv, got.cwd) == ((str(folder / "fake"), "", "*"), str(folder))


def test_a_missing_command_is_named_together_with_the_path() -> None:
    """case: CFG-04"""
    with pytest.raises(ConnectFault) as caught:
        launch(Entry(name="a", command="no-such-tool"), base=BASE, folder=Path("/"))
    assert caught.value.message == (
        "the command `no-such-tool` of `a` is not in PATH (`/usr/bin:/bin`)"
    )
    assert caught.value.slow


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        (Entry(name="a", command="./gone"), "`./gone`"),
        (Entry(name="a", command="sh", cwd="gone"), "`gone`"),
    ],
)
def test_a_missing_file_or_folder_is_named(entry: Entry, named: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectFault) as caught:
        launch(entry, base=BASE, folder=tmp_path)
    assert named in caught.value.message


@pytest.mark.parametrize("command", ["canary", "/no/canary"])
def test_a_command_or_folder_from_the_environment_is_named_and_not_shown(command: str) -> None:
    written = {"command": "${CMD}", "cwd": "${DIR}"}
    for entry in (
        Entry(name="a", command=command, written=written),
        Entry(name="a", command="sh", cwd="/no/canary", written=written),
    ):
        with pytest.raises(ConnectFault) as caught:
            launch(entry, base=BASE, folder=Path("/"))
        assert "${" in caught.value.message
        assert "canary" not in caught.value.message

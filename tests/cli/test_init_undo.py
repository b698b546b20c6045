"""Giving a client's file back."""

import json
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.cli.init_files import RECORD, Record, digest, record_text
from tests.helpers.taken_over import Project

TEXT = '\ufeff{\r\n\t"mcpServers": {"a": {"command": "no-such-program"}}, // c\r\n}'


@pytest.fixture
def place(tmp_path: Path) -> Project:
    place = Project(tmp_path)
    place.write(TEXT)
    place.file.chmod(0o604)
    assert place.init("--yes").exit_code == 0
    return place


def test_the_file_comes_back_byte_for_byte_and_what_stays_is_told(place: Project) -> None:
    done = place.init("--undo")
    assert done.exit_code == 0
    assert place.file.read_bytes() == TEXT.encode()
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o604
    assert place.made() == ["config.yaml", "policies"]
    assert "config.yaml`, `" in done.stdout
    assert place.init("--undo").exit_code == 2


def test_the_store_of_a_gateway_that_ran_is_among_what_stays(place: Project) -> None:
    for name in ("weighbridge.db", "weighbridge.db.key"):
        (place.folder / name).touch()
    done = place.init("--undo")
    assert "/weighbridge.db`, " in done.stdout
    assert "weighbridge.db.key`; remove them" in done.stdout
    assert (place.folder / "weighbridge.db").exists()


def test_a_file_that_was_changed_since_is_left_alone(place: Project) -> None:
    changed = place.file.read_bytes() + b"\n"
    place.file.write_bytes(changed)
    done = place.init("--undo")
    assert done.exit_code == 2
    assert "was changed since, so it is left alone" in done.stderr
    assert place.file.read_bytes() == changed


def test_by_force_servers_come_back_into_what_the_client_has_written_since(place: Project) -> None:
    before, written = b"{\r\n", b'{\r\n\t"startups": 7,\r\n'
    place.file.write_bytes(place.file.read_bytes().replace(before, written, 1))
    assert place.init("--undo", "--force").exit_code == 0
    assert place.file.read_bytes() == TEXT.encode().replace(before, written, 1)


def test_by_force_it_comes_back_and_what_it_was_is_kept(place: Project) -> None:
    place.file.write_bytes(b"changed")
    done = place.init("--undo", "--force", "--json")
    assert done.exit_code == 0
    assert place.file.read_bytes() == TEXT.encode()
    assert Path(json.loads(done.stdout)["copy"]).read_bytes() == b"changed"


def test_a_file_that_is_gone_comes_back_by_force(place: Project) -> None:
    place.file.unlink()
    assert place.init("--undo").exit_code == 2
    assert place.init("--undo", "--force").exit_code == 0
    assert place.file.read_bytes() == TEXT.encode()


def test_a_copy_that_was_changed_gives_nothing_back(place: Project) -> None:
    (copy,) = place.folder.glob("*.before-weighbridge")
    copy.write_bytes(b"{}")
    before = place.file.read_bytes()
    done = place.init("--undo", "--force")
    assert done.exit_code == 2
    assert "is no longer the copy" in done.stderr
    assert place.file.read_bytes() == before


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
@pytest.mark.parametrize("backup", ["theirs", "home/.profile", "link/.profile"])
def test_a_record_from_elsewhere_neither_writes_nor_removes_files(
    tmp_path: Path, backup: str, force: list[str]
) -> None:
    place = Project(tmp_path)
    place.home.mkdir()
    (tmp_path / "link").symlink_to(place.home)
    mine, theirs = place.home / ".profile", tmp_path / "theirs"
    mine.write_bytes(b"as every system has it")
    theirs.write_bytes(b"run me")
    record = Record(
        client=tmp_path / "link" / ".profile",
        backup=tmp_path / backup,
        before=digest((tmp_path / backup).read_bytes()),
        after=digest(mine.read_bytes()),
    )
    (tmp_path / RECORD).write_text(record_text(record))
    done = place.init("--undo", *force)
    assert done.exit_code == 2
    assert "`init` makes none there; nothing was done" in done.stderr
    assert mine.read_bytes() == b"as every system has it"
    assert theirs.exists()


def test_one_that_is_as_it_was_needs_nothing(place: Project) -> None:
    place.file.write_bytes(TEXT.encode())
    assert place.init("--undo").exit_code == 0
    assert place.made() == ["config.yaml", "policies"]


BLANK = st.sampled_from(["", " ", "\n", "\r\n\t", " // c\n", "/* { */"])
SERVERS = st.sampled_from(
    ['{"command": "no-such-program"}', '{"url": "http://127.0.0.1:9/mcp"}', "7", '{"type": "sse"}']
)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[str, str]:
    """A file of a client, in any layout, and its name."""
    servers = draw(st.lists(SERVERS, min_size=1, max_size=3))
    if draw(st.booleans()):
        gaps = [draw(st.sampled_from(["\n", "\n\n# c\n", " # c\n"])) for _ in servers]
        tables = [
            f"[mcp_servers.s{n}]\ncommand = 'no-such-program'{gap}" for n, gap in enumerate(gaps)
        ]
        return "".join(["a = 1\n", *tables, "[b]\n"]), ".codex/config.toml"
    members = [f'"s{n}"{draw(BLANK)}:{draw(BLANK)}{each}' for n, each in enumerate(servers)]
    inner = f"{draw(BLANK)},{draw(BLANK)}".join(members)
    end = draw(st.sampled_from(["", ",", "\n"]))
    return f'{draw(BLANK)}{{{draw(BLANK)}"mcpServers": {{{inner}{end}}}{end}}}', ".mcp.json"


@settings(max_examples=12)
@given(layouts())
def test_whatever_the_layout_it_comes_back_byte_for_byte(made: tuple[str, str]) -> None:
    text, name = made
    with tempfile.TemporaryDirectory() as folder:
        place = Project(Path(folder), name)
        before = place.write(text)
        done = place.init("--yes")
        assert done.exit_code in (0, 1), done.stderr
        assert (place.file.read_bytes() == before) == (done.exit_code == 1)
        if done.exit_code == 0:
            assert place.init("--undo").exit_code == 0
        assert place.file.read_bytes() == before

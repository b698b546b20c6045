import stat
from pathlib import Path

import pytest

from gateway.actions import archives
from gateway.actions.archives import ArchiveFile, Head
from gateway.errors import ConfigurationError, LogChanged
from gateway.events import tree
from gateway.events.tree import Edge

BODIES = [b'{"event":%d}' % number for number in range(1, 11)]


def an_edge(size: int) -> Edge:
    edge = Edge()
    for body in BODIES[:size]:
        edge.append(tree.leaf_hash(body))
    return edge


HEAD = Head(origin="log.example/a", begin=an_edge(4), end=an_edge(10), note="note\n")


def an_archive(folder: Path) -> Path:
    path = folder / "old.archive"
    with archives.written(path, HEAD) as add:
        for body in BODIES[4:]:
            add(body)
    return path


def test_an_archive_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = an_archive(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with ArchiveFile(path) as file:
        assert (file.head.origin, file.head.note) == ("log.example/a", "note\n")
        assert (file.head.first, file.head.last, file.start.hashes) == (5, 10, HEAD.begin.hashes)
        assert list(file.rows(7)) == [(5, BODIES[4]), (6, BODIES[5]), (7, BODIES[6])]
        assert list(file.rows(7)) == []
        assert [seq for seq, _ in file.rows(99)] == [8, 9, 10]
    assert [each.name for each in tmp_path.iterdir()] == ["old.archive"]


def test_it_is_checked_against_its_own_edge(tmp_path: Path) -> None:
    path = an_archive(tmp_path)
    assert checked(path).startswith("sha256:")
    whole = path.read_bytes()
    for data in (whole.replace(b":7}", b":8}"), whole[:-1]):
        path.write_bytes(data)
        with pytest.raises(LogChanged, match="not what its first line says"):
            checked(path)


@pytest.mark.parametrize("more", [b"more\n", b"{}", b"\n"])
def test_what_follows_its_last_event_is_no_part_of_it(tmp_path: Path, more: bytes) -> None:
    path = an_archive(tmp_path)
    path.write_bytes(path.read_bytes() + more)
    with pytest.raises(LogChanged, match="more follows than its first line says"):
        checked(path)
    with ArchiveFile(path) as file:
        assert [seq for seq, _ in file.rows(9)] == [5, 6, 7, 8, 9]
        with pytest.raises(LogChanged, match="more follows"):
            list(file.rows(99))


def checked(path: Path) -> str:
    with ArchiveFile(path) as file:
        return file.check()


def test_events_that_lead_elsewhere_leave_no_file(tmp_path: Path) -> None:
    with (
        pytest.raises(LogChanged, match="nothing is archived"),
        archives.written(tmp_path / "old.archive", HEAD) as add,
    ):
        add(BODIES[0])
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_or_can_not_be_written_is_told(tmp_path: Path) -> None:
    path = an_archive(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="is there already"):
        an_archive(tmp_path)
    assert path.read_bytes() == before
    with pytest.raises(ConfigurationError, match="no such file"):
        an_archive(tmp_path / "none")


@pytest.mark.parametrize("data", [b"", b"[]\n", b"{\n", b'{"weighbridge_archive":2}\n', b"\xff"])
def test_other_files_are_no_archives(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match="is no archive"):
        ArchiveFile(path)
    with pytest.raises(ConfigurationError, match="no such file"):
        ArchiveFile(tmp_path / "none")

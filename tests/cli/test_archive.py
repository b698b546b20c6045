"""`weighbridge events archive`, and `verify --archive`."""

from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from gateway.actions import departures
from gateway.cli import output
from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """A store of 600 events and a few more, with a copy of its checkpoints."""
    copies = {"checkpoints": {"to": [{"file": str(tmp_path / "copies.jsonl")}]}}
    place = a_workspace(tmp_path, events=copies)

    async def write() -> None:
        async with place.opened() as gateway:
            gateway.store.events.append([an_event() for _ in range(600)])

    anyio.run(write)
    return place


def archived(place: Workspace, *words: str) -> tuple[int, str]:
    file = str(place.folder / "old.archive")
    done = place.run("events", "archive", "--before", "0s", "--out", file, *words)
    return done.exit_code, done.stdout + done.stderr


def test_what_is_old_goes_into_a_file_and_the_log_is_proven_with_and_without(
    place: Workspace,
) -> None:
    code, said = archived(place, "--by", "ada")
    assert code == 0, said
    assert "events 1 to 512 left the log" in said
    copies = ("--checkpoint", str(place.folder / "copies.jsonl"))
    code, document = place.json("events", "verify", *copies)
    assert (code, document["first"], document["whole"]) == (0, 513, True)
    assert document["archived"] == {"first": 1, "last": 512, "read": False}
    assert document["outside"]["first"] == 513
    first, second, *_ = place.run("events", "verify", *copies).stdout.splitlines()
    assert first.startswith("archived events 1 to 512: archived, not read")
    assert second.startswith("outside  events 513 to ")
    words = ("--archive", str(place.folder / "old.archive"))
    code, document = place.json("events", "verify", *copies, *words)
    assert (code, document["first"], document["whole"]) == (0, 1, True)
    assert (document["archived"], document["outside"]["first"]) == (None, 1)
    events = place.run("events", "query", "--json", "--kind", "admin").stdout
    assert '"action":"log_archived","first":1,"last":512' in events
    assert '"by":"ada"' in events


def test_a_program_is_told_what_left(place: Workspace) -> None:
    file = str(place.folder / "old.archive")
    words = ("events", "archive", "--before", "0s", "--out", file, "--most", "300")
    code, document = place.json(*words)
    assert (code, document["archived"], document["file"]) == (0, {"first": 1, "last": 256}, file)
    assert document["digest"].startswith("sha256:")


def test_a_hold_keeps_everything(place: Workspace) -> None:
    place.run("events", "hold", "add", "--tenant", "acme", "--reason", "case 4711")
    code, said = archived(place)
    assert code == 0
    assert "nothing to archive: event" in said
    assert "on hold, of tenant `acme`" in said
    assert "fewer than 256 events come before that" in said
    assert not (place.folder / "old.archive").exists()


def test_what_can_not_be_done_is_told(place: Workspace) -> None:
    (place.folder / "old.archive").write_text("mine")
    code, said = archived(place)
    assert code == output.EXIT_USAGE
    assert "is there already" in said
    assert (
        "no archive"
        in place.run("events", "verify", "--archive", str(place.folder / "old.archive")).stderr
    )
    done = place.run("events", "archive", "--before", "", "--out", "x")
    assert "say what is old enough" in done.stderr


def test_an_export_takes_what_left_the_log_from_the_archive_or_says_what_is_missing(
    place: Workspace,
) -> None:
    archived(place)
    file, folder = str(place.folder / "old.archive"), str(place.folder / "acme")
    words = ("events", "export", "--tenant", "acme", "--out")
    done = place.run(*words, folder)
    assert "(events 1 to 512 are in archives; with `--archive FILE`" in done.stdout
    code, told = place.json(*words, folder + "-whole", "--archive", file)
    assert (code, told["missing"], told["events"] >= 600) == (0, [], True), told
    _, told = place.json(*words, folder + "-part")
    assert told["missing"] == [{"first": 1, "last": 512}]
    done = place.run("events", "export", "--format", "csv")
    assert "events 1 to 512 left the log for archives" in done.stderr
    assert place.run("events", "export", "--format", "csv", "--archive", file).exit_code == 2


async def test_who_is_told_of_the_archive_and_by_which_name(place: Workspace) -> None:
    for name in ("old.archive", "next.archive"):
        file = str(place.folder / name)
        words = ("events", "archive", "--before", "0s", "--out", file, "--most", "256")
        done = await anyio.to_thread.run_sync(lambda words=words: place.run(*words))
        assert done.exit_code == 0, done.stderr
    with place.store() as store:
        found = await departures.left(store)
    assert found is not None
    assert found.size == 512
    assert found.files == (str(place.folder / "next.archive"), str(place.folder / "old.archive"))


def test_a_tail_that_asks_for_more_than_the_log_goes_back_names_the_archive(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    archived(place)

    def hear(value: object) -> None:
        del value
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "as_json_line", hear)
    short = place.run("events", "tail", "--lines", "3", "--json")
    long = place.run("events", "tail", "--lines", "5000", "--json")
    assert "archives" not in short.stderr
    assert "events 1 to 512 left the log for archives" in long.stderr
    assert "old.archive`" in long.stderr

"""`weighbridge events verify`: exit code and words for each outcome."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import Result

from gateway.cli import output
from gateway.store import key_files
from tests.helpers.events import an_event
from tests.helpers.tampering import tamper
from tests.helpers.workspaces import Workspace, a_workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """A store that a gateway wrote to, with a copy of each checkpoint beside it."""
    copies = {"checkpoints": {"to": [{"file": str(tmp_path / "copies.jsonl")}]}}
    place = a_workspace(tmp_path, events=copies)

    async def write() -> None:
        async with place.opened() as gateway:
            gateway.store.events.append([an_event() for _ in range(20)])

    anyio.run(write)
    return place


def verified(place: Workspace, *words: str) -> Result:
    return place.run("events", "verify", *words)


def found(place: Workspace, *words: str) -> tuple[int, Any]:
    return place.json("events", "verify", *words)


def copies(place: Workspace) -> tuple[str, str]:
    return "--checkpoint", str(place.folder / "copies.jsonl")


def test_a_whole_log_with_a_copy_outside_is_told_so(place: Workspace) -> None:
    done = verified(place, *copies(place))
    assert done.exit_code == 0, done.stdout
    first, last = done.stdout.splitlines()
    assert first.startswith("outside  events 1 to ")
    assert "copies.jsonl:1 says, signed by `weighbridge/log-" in first
    assert last.startswith("whole: events 1 to ")


def test_without_a_copy_it_says_what_that_leaves_open(place: Workspace) -> None:
    done = verified(place)
    assert done.exit_code == 0
    assert "and no copy outside" in done.stdout
    assert "no checkpoint of this came from outside" in done.stdout
    assert "could have written all of this anew" in done.stdout


def test_to_read_the_log_is_in_the_log_and_not_covered_yet(place: Workspace) -> None:
    verified(place, *copies(place))
    code, document = found(place, *copies(place))
    assert (code, document["whole"]) == (0, True)
    assert document["uncovered"] == {"first": document["last"], "last": document["last"]}
    events = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    assert '"action":"log_read","how":"verify"' in events[-1]
    assert "no checkpoint covers this yet" in verified(place).stdout


def test_an_index_that_hides_an_event_is_told_of_the_store(place: Workspace) -> None:
    told = "CREATE INDEX events_by_call ON events (call_id)"
    tamper(
        place.store_url,
        "DROP INDEX events_by_call",
        "CREATE INDEX events_by_call ON events (CASE WHEN seq = 7 THEN 'x' ELSE call_id END)",
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = '{told}' WHERE name = 'events_by_call'",
    )
    assert verified(place).exit_code == 0  # it holds as many as it has to
    done = verified(place, "--indexes")
    assert done.exit_code == output.EXIT_FAILED
    first, *_ = done.stdout.splitlines()
    assert first.startswith("FAULT    the store: columns: SQLite says: row 7 missing from index")


def test_only_bytes_say_less_in_less_time_and_the_answer_tells(place: Workspace) -> None:
    tamper(place.store_url, "UPDATE events SET rule = 'r' WHERE seq = 7")
    assert verified(place, *copies(place)).exit_code == output.EXIT_FAILED
    done = verified(place, *copies(place), "--only-bytes")
    assert done.exit_code == 0
    assert "only bytes were looked at" in done.stdout.splitlines()[-1]
    code, document = found(place, *copies(place), "--only-bytes")
    assert (code, document["whole"], document["depth"]) == (0, True, "bytes")
    both = verified(place, "--only-bytes", "--indexes")
    assert both.exit_code == output.EXIT_USAGE
    assert "leave it or `--only-bytes` out" in both.stderr


def test_a_change_is_found_and_named(place: Workspace) -> None:
    tamper(place.store_url, "UPDATE events SET body = replace(body, 'crm', 'crn') WHERE seq = 7")
    code, document = found(place, *copies(place))
    assert (code, document["whole"]) == (output.EXIT_FAILED, False)
    assert [fault["kind"] for fault in document["faults"]] == ["rewritten", "rewritten", "columns"]
    done = verified(place, *copies(place))
    assert done.exit_code == output.EXIT_FAILED
    assert "FAULT    event 7: columns: " in done.stdout
    assert "NOT WHOLE" in done.stdout
    assert "no checkpoint from outside bears any of this out" in done.stdout
    assert "came from outside" not in done.stdout, "one was given"


def test_many_faults_are_cut_short_for_people(place: Workspace) -> None:
    for number in range(1, 22):
        tamper(place.store_url, f"UPDATE events SET rule = 'r', at = {number} WHERE seq = {number}")
        tamper(
            place.store_url, f"UPDATE events SET tool = 'x' WHERE seq = {number} AND seq % 2 = 0"
        )
    assert "FAULT    and 1 more; `--json` lists them" in verified(place).stdout


def test_the_key_may_be_given_as_text_or_file_and_then_only_that_counts(place: Workspace) -> None:
    path = place.folder / "store.db.checkpoints.key"
    key = str(key_files.read(path).key)
    public = path.with_name(path.name + ".pub")
    assert verified(place, "--key", key).exit_code == 0
    assert verified(place, "--key", str(public)).exit_code == 0
    other = str(key_files.new("log.example/other").key)
    done = verified(place, "--key", other)
    assert done.exit_code == output.EXIT_FAILED
    assert "nobody who is trusted has signed it" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--key", "a+b+c"), "`--key`: a public key reads"),
        (("--key", "none"), "is neither a public key nor a file of some"),
        (("--checkpoint", "{folder}/config.yaml"), "config.yaml: it is no signed note"),
        (("--checkpoint", "{folder}/store.db"), "store.db: it is no text"),
        (("--checkpoint", "{folder}/none"), "does not exist"),
    ],
)
def test_what_can_not_be_used_is_told_with_another_exit_code(
    place: Workspace, words: tuple[str, ...], message: str
) -> None:
    done = verified(place, *(word.format(folder=place.folder) for word in words))
    assert done.exit_code == output.EXIT_USAGE
    assert message in done.stderr


def test_without_any_key_nothing_can_be_told(place: Workspace) -> None:
    for file in place.folder.glob("store.db.checkpoints.key*"):
        file.unlink()
    done = verified(place)
    assert done.exit_code == output.EXIT_USAGE
    assert "no key is trusted" in done.stderr

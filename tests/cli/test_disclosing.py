"""A command that tells of the log is in the log, with the user of the machine."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from gateway.cli import disclosing
from gateway.cli.people import who
from gateway.store.events import EventFilter
from gateway.store.store import Store
from tests.cli.test_verify import place as place  # noqa: PLC0414 - a fixture
from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace


async def test_the_user_of_the_machine_is_named(store: Store) -> None:
    id = await disclosing.told(store, "query", {"tenant": ["acme"]}, tenant="acme", events=2)
    (event,) = await store.events.query(EventFilter(tenant="acme"))
    body = event.json()["body"]
    assert event.json()["id"] == id
    assert body == {
        **{"action": "log_read", "how": "query", "by": "", "account": who("").account},
        **{"asked": {"tenant": ["acme"]}, "events": 2},
    }


@contextmanager
def read_only(place: Workspace) -> Generator[None]:
    """Let a store take nothing, as one that may only be read; not even root has rights to."""
    with closing(sqlite3.connect(place.folder / "store.db")) as store:
        store.execute(
            "CREATE TRIGGER shut BEFORE INSERT ON events BEGIN "
            "SELECT RAISE(ABORT, 'attempt to write a readonly database'); END"
        )
        store.commit()
        yield
        store.execute("DROP TRIGGER shut")
        store.commit()


def test_what_cant_be_kept_is_not_told(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    with place.store() as opened:
        opened.events.append([an_event(call="call_9")])
    with read_only(place):
        done = place.run("events", "query", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "weighbridge: nothing is told, since who reads the log has to be in the log"
    )
    assert "call_9" not in done.stderr


def test_to_verify_needs_no_event_since_nothing_of_one_is_told(place: Workspace) -> None:
    copies = ("--checkpoint", str(place.folder / "copies.jsonl"))
    with read_only(place):
        done = place.run("events", "verify", *copies)
    assert (done.exit_code, "whole: events 1 to" in done.stdout) == (0, True)
    assert done.stderr.startswith("weighbridge: (not in the log: nothing is told, since")

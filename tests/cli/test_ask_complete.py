"""`weighbridge events ask complete`: what `verify` finds, as the answer to a question."""

import json
import sqlite3
from contextlib import closing

from tests.cli.test_verify import place as place  # noqa: PLC0414 - a fixture
from tests.helpers.workspaces import Workspace


def test_a_log_is_complete_since_a_checkpoint_from_outside(place: Workspace) -> None:
    copies = ("--checkpoint", str(place.folder / "copies.jsonl"))
    done = place.run("events", "ask", "complete", *copies, "--json")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["part"] for row in rows] == ["outside", "verdict"]
    assert (rows[0]["first"], rows[-1]["what"][:6]) == (1, "whole:")
    after = place.run("events", "ask", "complete", *copies, "--csv").stdout.splitlines()
    assert [line.split(",")[0] for line in after] == ["part", "outside", "open", "verdict"]
    rows = place.run("events", "ask", "readers", "--json").stdout.splitlines()
    assert json.loads(rows[0])["how"] == "ask complete"


def test_a_log_that_was_changed_is_not(place: Workspace) -> None:
    with closing(sqlite3.connect(place.folder / "store.db")) as store:
        store.execute("DROP TRIGGER events_stay")
        store.execute("UPDATE events SET body = replace(body, 'crm.find', 'crm.fine')")
        store.commit()
    copies = ("--checkpoint", str(place.folder / "copies.jsonl"))
    done = place.run("events", "ask", "complete", *copies, "--json")
    assert done.exit_code == 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[0]["part"] == "fault"
    assert rows[-1]["what"].startswith("not whole:")

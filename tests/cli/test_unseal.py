"""`weighbridge events unseal`."""

import json
from pathlib import Path

import anyio

from gateway.types.audit import Audit
from tests.helpers.recorded import CALLS, recorded
from tests.helpers.tampering import tamper
from tests.helpers.workspaces import Workspace

SEALED = Audit(seal=True)


def unseal(place: Workspace, call: str) -> tuple[int, str]:
    done = place.run("events", "unseal", call)
    return done.exit_code, (done.stdout or done.stderr).strip()


def test_the_arguments_are_printed_as_they_came_and_that_is_logged(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    id, arguments = CALLS[1]
    assert place.json("events", "unseal", id) == (0, {"call": id, "arguments": arguments})
    code, said = unseal(place, id)
    assert (code, said.startswith("arguments as they came: {")) == (0, True)
    assert "DE02120300000000202051" in said
    lines = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    reads = [json.loads(line) for line in lines if '"unseal"' in line]
    assert [(each["tenant"], each["body"]["asked"]) for each in reads] == [
        ("acme", {"call": id})
    ] * 2


def test_a_call_that_nobody_sealed_has_nothing_to_print(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path)
    nothing = "nothing of this call is sealed; its contract has no `audit: {seal: true}`"
    assert nothing in unseal(place, "call_1")[1]
    place.run("events", "keys", "seal")
    assert nothing in unseal(place, "call_1")[1]
    assert "the log has no call" in unseal(place, "call_none")[1]


def test_a_lost_key_a_changed_and_a_missing_copy_are_told_apart(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    url = place.store_url
    tamper(
        url,
        "UPDATE sealed_copies SET content = substr(content, 5) WHERE call_id = 'call_1'",
        "DELETE FROM sealed_copies WHERE call_id = 'call_2'",
    )
    assert "is not what was sealed" in unseal(place, "call_1")[1]
    assert "its sealed copy is gone" in unseal(place, "call_2")[1]
    (tmp_path / "store.db.sealing.key").unlink()
    assert unseal(place, "call_3") == (
        2,
        f"weighbridge: `{tmp_path}/store.db.sealing.key`: there is no key for sealed copies; put "
        "it back, or make one with `weighbridge events keys seal`, which opens nothing of before",
    )
    place.run("events", "keys", "seal")
    code, said = unseal(place, "call_3")
    assert (code, "under another key" in said) == (1, True)

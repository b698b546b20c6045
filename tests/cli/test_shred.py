"""`weighbridge events shred`."""

import json
from pathlib import Path

import anyio

from gateway.cli.shred import lines
from gateway.store.sealed_copies import Copy, Shredded
from gateway.types.audit import Audit
from gateway.types.values import replaced
from tests.helpers.recorded import recorded
from tests.helpers.workspaces import Workspace

SEALED = Audit(seal=True)


def shred(place: Workspace, *words: str) -> tuple[int, str]:
    done = place.run("events", "shred", *words)
    return done.exit_code, (done.stdout or done.stderr).strip()


def test_what_is_sealed_of_a_call_or_a_tenant_is_destroyed_once(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    assert place.json("events", "shred", "--call", "call_1") == (
        0,
        {"copies": 1, "keys": 1, "operations": 0, "requests": 0, "open": []},
    )
    assert shred(place, "--tenant", "acme", "--reason", "Art. 17", "--by", "ada") == (
        *(0, "sealed copies destroyed: 2, and data keys: 2; the log stays as it is"),
    )
    nothing = (0, "nothing is sealed there, or all of it was shredded before")
    assert shred(place, "--tenant", "acme") == nothing
    assert shred(place, "--run", "run_none") == nothing
    lines = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    told = [json.loads(line) for line in lines if "log_shredded" in line]
    assert [(each["tenant"], each["body"]["copies"]) for each in told] == [("acme", 1), ("acme", 2)]
    assert (told[1]["body"]["reason"], told[1]["body"]["by"]) == ("Art. 17", "ada")


def test_only_what_is_old_enough_goes(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    assert shred(place, "--tenant", "acme", "--before", "1d")[1].startswith("nothing is sealed")
    code, said = shred(place, "--tenant", "acme", "--before", "2999-01-01")
    assert (code, said.startswith("sealed copies destroyed: 3")) == (0, True), said


def test_a_hold_stops_it_with_its_reason(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    place.run("events", "hold", "add", "--tenant", "acme", "--reason", "case 4711")
    code, said = shred(place, "--call", "call_1")
    assert code == 1
    assert "the events of tenant `acme` are on hold (case 4711)" in said
    assert place.json("events", "unseal", "call_1")[0] == 0


def test_whose_it_is_has_to_be_said_and_only_once(tmp_path: Path) -> None:
    place = Workspace(tmp_path)
    for words in ([], ["--run", "r", "--tenant", "t"], ["--before", "1d"]):
        code, said = shred(place, *words)
        assert (code, "say whose arguments" in said or "config" in said) == (2, True)


def test_nothing_of_it_is_left_in_the_files(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    found = anyio.run(_copies, place)
    contents = [each.content.encode() for each in found]
    wrapped = [each.wrapped.encode() for each in found]
    assert len(contents) == 3
    assert shred(place, "--tenant", "acme")[0] == 0
    left = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    assert not [each for each in (*contents, *wrapped) if each in left]


async def _copies(place: Workspace) -> list[Copy]:
    with place.store() as store:
        events = [str(each.json()["id"]) async for each in store.events.tail()]
        return list((await store.sealed.beside(events)).values())


def test_what_is_left_of_it_is_said_and_who_keeps_it() -> None:
    found = Shredded(copies=2, keys=1, operations=1, requests=3, open=("op_1", "op_2"))
    destroyed, emptied, kept = lines(found)
    assert destroyed.startswith("sealed copies destroyed: 2, and data keys: 1")
    assert emptied.startswith("emptied as well: operations: 1, and requests: 3; ")
    assert "not settled: op_1, op_2; settle them" in kept
    many = replaced(found, open=tuple(f"op_{number}" for number in range(25)))
    assert "op_19 and 5 more; " in list(lines(many))[-1]
    (only,) = lines(Shredded(copies=0, keys=0, open=("op_1",)))
    assert only.startswith("still kept by operations that are not settled: op_1; ")

"""`weighbridge events prove`: files that others can check."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.cli import output
from gateway.events import checkpoints, copies, notes, proofs, tree
from gateway.store import key_files
from tests.cli.test_verify import place as place  # noqa: PLC0414 - a fixture
from tests.helpers.tampering import tamper
from tests.helpers.workspaces import Workspace


def an_id(place: Workspace, seq: int) -> str:
    return str(tamper(place.store_url, f"SELECT id FROM events WHERE seq = {seq}")[0][0])


def prove(place: Workspace, *words: str) -> Any:
    return place.run("events", "prove", "--out", str(place.folder), *words)


def test_an_event_and_its_proof_are_written_and_can_be_checked(place: Workspace) -> None:
    event = an_id(place, 7)
    done = prove(place, event)
    assert done.exit_code == 0, done.stderr
    data, proof = map(Path, done.stdout.splitlines())
    key = key_files.read(place.folder / "store.db.checkpoints.key").key
    found = proofs.parse(proof.read_text(encoding="utf-8"))
    assert found.index == 6
    assert found.proven(data.read_bytes(), [key]).size > 20
    events = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    assert f'"asked":{{"event":"{event}"}}' in events[-1]


def test_an_event_may_be_named_by_its_number_or_by_what_begins_its_id_alone(
    place: Workspace,
) -> None:
    event = an_id(place, 7)
    new = place.folder / "a" / "proof"
    for said in ("7", event, event[:25], event[:25].lower()):
        code, told = place.json("events", "prove", said, "--out", str(new), "--json")
        assert code == 0
        assert told == {"files": [str(new / f"{event}{end}") for end in (".json", ".tlog-proof")]}
    several = prove(place, event[:1])
    assert several.exit_code == output.EXIT_USAGE
    assert "several events" in several.stderr
    assert prove(place, "999999").exit_code == output.EXIT_FAILED


def test_the_largest_checkpoint_of_a_file_may_be_named(place: Workspace) -> None:
    file = str(place.folder / "copies.jsonl")
    assert prove(place, an_id(place, 7), "--checkpoint", file).exit_code == 0


def test_a_log_that_only_grew_is_proven_to_have(place: Workspace) -> None:
    old = place.folder / "old.jsonl"
    old.write_text((place.folder / "copies.jsonl").read_text())

    async def go_on() -> None:
        async with place.opened():
            pass

    anyio.run(go_on)
    done = prove(place, "--from", str(old))
    assert done.exit_code == 0, done.stderr
    head, note = Path(done.stdout.strip()).read_text(encoding="utf-8").split("\n\n", 1)
    first, *path = head.split("\n")
    before = notes.parse(_note(old))
    new = checkpoints.parse(notes.parse(note).text)
    was = checkpoints.parse(before.text)
    assert first == f"old {was.size}"
    hashes = proofs.parse(f"c2sp.org/tlog-proof@v1\nindex 0\n{chr(10).join(path)}\n\n{note}").path
    assert tree.is_consistent(was.size, new.size, was.root, new.root, hashes)


def _note(file: Path) -> str:
    return max(copies.read(file.read_text(), "f"), key=lambda mark: mark.size).note


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), output.EXIT_USAGE, "say which event, or from which checkpoint"),
        (("none",), output.EXIT_FAILED, "there is no event `none` in the log"),
        (("none", "--key", "x"), output.EXIT_USAGE, "is neither a public key nor a file"),
    ],
)
def test_what_can_not_be_proven_is_told(
    place: Workspace, words: tuple[str, ...], code: int, message: str
) -> None:
    done = prove(place, *words)
    assert done.exit_code == code
    assert message in done.stderr


def test_a_changed_event_has_no_proof(place: Workspace) -> None:
    tamper(place.store_url, "UPDATE events SET body = '{}' WHERE seq = 7")
    done = prove(place, an_id(place, 7))
    assert done.exit_code == output.EXIT_USAGE
    assert "event 7 is not what the checkpoint" in done.stderr


def test_a_checkpoint_of_somebody_else_proves_nothing(place: Workspace) -> None:
    other = str(key_files.new("log.example/other").key)
    done = prove(place, an_id(place, 7), "--key", other)
    assert "nobody who is trusted has signed it" in done.stderr
    (place.folder / "empty.jsonl").write_text('{"a"\n')
    assert prove(place, "x", "--checkpoint", str(place.folder / "empty.jsonl")).exit_code == 2

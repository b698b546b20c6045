"""Commands about the past and what is sealed beside the log."""

from pathlib import Path

import anyio

from gateway.types.audit import Audit
from tests.helpers.recorded import recorded
from tests.helpers.replayed import OF_IBAN, changed

SEALED = Audit(seal=True)
IBAN = "DE02120300000000202051"


def test_replay_reads_what_is_sealed_shows_none_of_it_and_says_that_it_did(
    tmp_path: Path,
) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    other = changed(place, tmp_path / "other", OF_IBAN)
    for form in ("text", "json", "html"):
        done = place.run("replay", "--policies", other, "--format", form)
        assert done.exit_code == 0, done.stdout
        assert IBAN not in done.stdout
    _, report = place.json("replay", "--policies", other)
    assert (report["undecidable"], report["changed"]) == (0, 1)
    _, shown = place.json("replay", "show", "call_3", "--policies", other)
    assert shown["grade"] == "changed"
    assert shown["arguments"]["iban"] == {"$redacted": "secret"}
    words = ("replay", "show", "call_3", "--policies", other, "--unsealed")
    assert place.json(*words)[1]["arguments"]["iban"] == IBAN
    lines = place.run("events", "query", "--json", "--kind", "admin").stdout.splitlines()
    asked = [line for line in lines if '"unsealed":3' in line]
    assert len(asked) == 4
    assert any('"unsealed":1' in line and '"replay show"' in line for line in lines)


def test_without_the_key_replay_says_that_the_value_is_sealed(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    other = changed(place, tmp_path / "other", OF_IBAN)
    (tmp_path / "store.db.sealing.key").unlink()
    done = place.run("replay", "--policies", other)
    assert "/arguments/iban (sealed)" in done.stdout
    assert '"unsealed"' not in place.run("events", "query", "--json", "--kind", "admin").stdout


def test_a_recorded_test_holds_nothing_of_what_is_sealed(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    for words in (["--record", "call_1"], ["--record", "call_2"]):
        done = place.run("policy", "test", *words)
        assert done.exit_code == 0, done.stderr
        assert "alpha.pay" in done.stdout
        assert IBAN not in done.stdout + done.stderr


def test_an_export_holds_nothing_of_what_is_sealed(tmp_path: Path) -> None:
    place = anyio.run(recorded, tmp_path, SEALED)
    folder = tmp_path / "export"
    done = place.run("events", "export", "--tenant", "acme", "--out", str(folder))
    assert done.exit_code == 0, done.stderr
    said = b"".join(each.read_bytes() for each in folder.iterdir())
    assert b'"sealed":{"key":' in said
    assert IBAN.encode() not in said

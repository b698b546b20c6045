"""The whole demo, as a person or a program runs it."""

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.demo import gate, run
from gateway.demo.processes import weighbridge
from gateway.demo.workspace import ROOT
from gateway.types.json import Json, JsonObject
from tests.helpers.selfcheck import checked_folder

STORE = "weighbridge.db"


def _objects(value: Json) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def test_the_demo_ends_by_itself_with_every_verdict_as_expected(tmp_path: Path) -> None:
    done = subprocess.run(
        [*weighbridge(), "demo", "--json", "--keep"],
        capture_output=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    people = done.stderr.decode()
    assert done.returncode == 0, people
    document = jsontext.parse_result(done.stdout)
    assert isinstance(document, dict)
    assert document["ok"] is True
    calls, events = document["calls"], document["events"]
    assert isinstance(calls, list)
    assert isinstance(events, list)
    assert len(calls) >= 43
    assert len(events) > 2 * len(calls)
    assert "UNEXPECTED" not in people
    assert "tickets opened: 3; refunds: 4 (1 cancelled), 445.00 EUR in all; notes: 2" in people
    assert "operations  12: 1 awaiting_approval, 9 succeeded, 1 compensated, 1 expired" in people
    commands = _objects(document["commands"])
    assert [each["difference"] for each in commands] == [""] * len(commands)
    assert [each["state"] for each in commands] == [
        "pending",
        "self_approval",
        "approved",
        "already_decided",
        "expired",
        "too_late",
        "indeterminate",
        "compensated",
        "paused",
        "acting",
        "succeeded",
    ]
    requests = _objects(document["requests"])
    assert [(each["phase"], each["difference"]) for each in requests] == [
        ("created", ""),
        ("handoff", ""),
    ]
    (store,) = tmp_path.rglob(STORE)
    judged_again(store.parent)


def judged_again(folder: Path) -> None:
    """All that the demo has decided is the same under its revisions, and under its policies now."""
    found = asyncio.run(checked_folder(folder, STORE))
    assert not found.other, found.told
    assert (found.calls >= 43, found.unkept) == (True, 0)
    config = ["--config", str(folder / "config.yaml")]
    done = subprocess.run(
        [*weighbridge(), "replay", *config, "--json", "--fail-on", "changed"],
        capture_output=True,
        timeout=120,
        check=False,
        cwd=folder,
    )
    said = jsontext.parse_result(done.stdout)
    assert isinstance(said, dict)
    assert (done.returncode, said["calls"]) == (0, said["same"]), said
    assert said["self_check"] == {"same": found.calls, "different": [], "unchecked": 0}


def test_a_demo_that_can_not_start_ends_with_1_and_keeps_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(gate, "weighbridge", lambda: ["false"])
    assert run.main([]) == 1
    said = capsys.readouterr().err
    assert "weighbridge: gateway is not ready" in said
    assert f"kept for a look: {tmp_path}" in said
    for words in ("events query --decision deny", "replay --since 1h"):
        assert f"  weighbridge {words} --config {tmp_path}" in said
    assert f"  weighbridge events verify --checkpoint {tmp_path}" in said
    assert len(list(tmp_path.glob("*/gateway.log"))) == 1

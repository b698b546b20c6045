"""The whole demo, as a person or a program runs it."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.demo import run, stage
from gateway.demo.processes import weighbridge
from gateway.demo.workspace import ROOT


def test_the_demo_ends_by_itself_with_every_verdict_as_expected() -> None:
    done = subprocess.run(
        [*weighbridge(), "demo", "--json"], capture_output=True, timeout=120, check=False, cwd=ROOT
    )
    people = done.stderr.decode()
    assert done.returncode == 0, people
    document = jsontext.parse_result(done.stdout)
    assert isinstance(document, dict)
    assert document["ok"] is True
    calls, events = document["calls"], document["events"]
    assert isinstance(calls, list)
    assert isinstance(events, list)
    assert len(calls) >= 19
    assert len(events) > 2 * len(calls)
    assert "UNEXPECTED" not in people
    assert "1 refund, 25.00 EUR in all; 2 notes; 6 customers" in people


def test_a_demo_that_can_not_start_ends_with_1_and_keeps_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(stage, "weighbridge", lambda: ["false"])
    assert run.main([]) == 1
    said = capsys.readouterr().err
    assert "weighbridge: gateway is not ready" in said
    assert f"kept for a look: {tmp_path}" in said
    assert len(list(tmp_path.glob("*/gateway.log"))) == 1

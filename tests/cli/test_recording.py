"""`weighbridge policy test --record` as a person types it."""

from pathlib import Path

import anyio
import pytest

from tests.helpers.recorded import RULES, recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return anyio.run(recorded, tmp_path)


def folder(place: Workspace) -> Path:
    return place.loaded().settings.policies


def test_a_recorded_call_is_a_test_that_passes_as_it_is(place: Workspace) -> None:
    out = folder(place) / "tests/recorded.yaml"
    done = place.run("policy", "test", "--record", "call_1", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"1 of 1 call can be tested by {out}\n"
    text = out.read_text()
    assert "DE02" not in text
    assert "# call_1: `/iban` is made up: it was redacted" in text
    assert "expect: {decision: allow, rule: pay}" in text
    done = place.run("policy", "test")
    assert (done.exit_code, "1 passed, 0 failed" in done.stdout) == (0, True)
    again = place.run("policy", "test", "--record", "call_1", "--out", str(out))
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_a_denied_call_is_a_test_of_the_denial(place: Workspace) -> None:
    done = place.run("policy", "test", "--record", "call_3")
    assert done.exit_code == 0, done.stderr
    assert "expect: {decision: deny, code: no_matching_rule}" in done.stdout
    assert "callers:\n  kim: {user: kim, tenant: acme, roles: [lead]" in done.stdout


def test_what_the_folder_decides_another_way_is_told(place: Workspace) -> None:
    (folder(place) / "policy.yaml").write_text(RULES.replace("100.0", "10.0"))
    done = place.run("policy", "test", "--record", "call_1")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "call_1 is no test: decision: expected allow, got deny" in done.stderr


def test_a_call_that_the_log_does_not_have_is_told(place: Workspace) -> None:
    done = place.run("policy", "test", "--record", "call_9")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the log has no judged call and no run `call_9`" in done.stderr

"""Requests of `/v1` as values."""

import pytest

from gateway.client import calls, wire
from gateway.client.calls import RunsError
from gateway.operations import keys
from gateway.types.runs import Phase

PROBLEM = b"""{"type": "urn:weighbridge:problem:phase_blocked", "title": "t", "status": 409,
"detail": "not yet", "code": "phase_blocked", "missing": ["evidence >= 1"], "more": 1}"""


def test_a_host_names_a_run_in_meta_where_no_model_can() -> None:
    assert calls.meta("run_1") == {"weighbridge/run": {"id": "run_1"}}
    assert calls.meta("run_1", Phase.ACTING) == {
        "weighbridge/run": {"id": "run_1", "phase": "acting"}
    }


def test_the_key_is_the_only_credential_and_a_version_is_asked_for_by_name() -> None:
    call = calls.change("run_1", "pause", wire.Why(reason="lunch"), 3)
    assert (call.method, call.path, call.body) == (
        "POST",
        "/v1/runs/run_1/pause",
        b'{"reason":"lunch"}',
    )
    assert call.headers("wba_k_0") == {
        "Accept": "application/json",
        "Authorization": "Bearer wba_k_0",
        "Content-Type": "application/json",
        "If-Match": '"3"',
    }
    assert "If-Match" not in calls.show("run_1").headers("k")


def test_an_id_can_name_no_other_path() -> None:
    assert calls.show("../../approvals?x=1").path == "/v1/runs/..%2F..%2Fapprovals%3Fx%3D1"


def test_a_list_asks_for_what_is_not_the_default() -> None:
    assert calls.list_runs(wire.ListRuns()).path == "/v1/runs"
    asked = wire.ListRuns(phase=Phase.ACTING, is_open=True, limit=5)
    assert calls.list_runs(asked).path == "/v1/runs?phase=acting&is_open=true&limit=5"


def test_a_problem_is_raised_with_what_is_missing() -> None:
    with pytest.raises(RunsError, match="not yet: evidence >= 1") as raised:
        calls.show("run_1").read(409, PROBLEM)
    assert raised.value.problem.code == "phase_blocked"


def test_a_problem_says_each_thing_once_and_what_is_wrong_where() -> None:
    fault = wire.Fault(pointer="/fields/amount", detail="has to be there")
    base = wire.Problem(type="t", title="T", status=409, detail="needs evidence >= 1", code="c")
    told = base.model_copy(update={"missing": ["evidence >= 1"], "errors": [fault]})
    assert str(RunsError(told)) == "needs evidence >= 1: `/fields/amount` has to be there"
    assert str(RunsError(base)) == "needs evidence >= 1"


@pytest.mark.parametrize(("status", "body"), [(200, b"{}"), (502, b"<html>"), (302, b"")])
def test_what_another_program_answers_is_no_run(status: int, body: bytes) -> None:
    with pytest.raises(RunsError, match="admin listener") as raised:
        calls.show("run_1").read(status, body)
    assert (raised.value.problem.code, raised.value.problem.status) == ("unexpected", status)


def test_references_are_checked_before_they_are_sent() -> None:
    assert calls.evidence([{"source": "kb://1", "version": "2"}]).items[0].version == "2"
    with pytest.raises(ValueError, match="source"):
        calls.evidence([{"chunk": "1"}])


def test_a_key_of_the_hosts_own_stands_in_quotes() -> None:
    sent = calls.start(wire.StartRun(), 'a "b" \\c').headers("wba_x")
    assert sent["Idempotency-Key"] == '"a \\"b\\" \\\\c"'
    assert keys.of_header(sent["Idempotency-Key"]) == 'a "b" \\c'
    assert "Idempotency-Key" not in calls.start(wire.StartRun()).headers("wba_x")

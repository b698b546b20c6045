import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from gateway.clock import SystemClock
from gateway.policy import engine
from gateway.telemetry import meters
from gateway.telemetry.durations import CountedDurations, Durations, Series
from gateway.telemetry.facts import ApprovalFacts, approval_facts, facts_of
from gateway.telemetry.meters import MAX_CODES, MAX_TOOLS, POLICY_ERRORS, Meters
from gateway.telemetry.metrics import METRICS, Kind, Labels, Name, Tick
from gateway.telemetry.stencils import Stencil, Timed
from gateway.types.approvals import ApprovalState
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, ShadowDecision
from gateway.types.observed import Observed, Would
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from gateway.types.tools import Kind as ToolKind
from tests.helpers.approvals import an_approval
from tests.telemetry.builders import DENIED, Caller, a_call, a_denied_record, a_record, a_tool


class Stdio(Caller):
    """A client at the other end of a pipe."""

    transport = "stdio"


class Bench:
    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self._provider = MeterProvider([self._reader], shutdown_on_exit=False)
        meter = self._provider.get_meter("t")
        meter.create_counter("beside").add(1)  # or there is nothing to export durations with
        self._durations = CountedDurations(SystemClock())
        self.meters = Meters(meter, self._durations)

    def record(self, *records: CallRecord) -> None:
        self.meters.record(facts_of(record) for record in records)

    def points(self, name: Name) -> list[Any]:
        data = self._reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in self._durations.added_to(data, "t").resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def close(self) -> None:
        self._provider.shutdown()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


def test_durations_are_seconds_in_the_buckets_of_the_convention(bench: Bench) -> None:
    bench.record(a_record())
    (point,) = bench.points(Name.SERVER_DURATION)
    assert point.sum == pytest.approx(0.053)
    assert point.explicit_bounds == (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
    assert dict(point.attributes) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "gateway.server.name": "crm",
        "network.transport": "tcp",
        "gateway.status": "ok",
    }
    (point,) = bench.points(Name.CLIENT_DURATION)
    assert point.sum == pytest.approx(0.050)
    (point,) = bench.points(Name.AUTHORIZATION)
    assert point.sum == pytest.approx(0.001)


def test_every_label_is_one_of_the_table(bench: Bench) -> None:
    shadow = (ShadowDecision(effect=DecisionEffect.DENY, rule="s", code="no"),)
    decision = Decision(effect=DecisionEffect.ALLOW, code="policy_evaluation_error", shadow=shadow)
    bench.record(
        a_record(decision=decision, redactions=1, tool_error=True),
        a_denied_record(status=Status.LIMIT_EXCEEDED),
    )
    seen = 0
    for name, row in METRICS.items():
        for point in bench.points(name):
            seen += 1
            assert set(point.attributes) <= set(row.labels), name
    assert seen >= 9


def test_a_refused_call_has_no_downstream_duration(bench: Bench) -> None:
    bench.record(a_denied_record())
    assert bench.points(Name.CLIENT_DURATION) == []
    (point,) = bench.points(Name.DECISIONS)
    assert point.attributes["gateway.decision"] == "deny"
    assert point.attributes["gateway.decision.code"] == DENIED.code
    assert point.attributes["gateway.enforcement"] == "enforced"


def test_shadow_decisions_are_counted_apart_and_so_are_mismatches(bench: Bench) -> None:
    shadow = (
        ShadowDecision(effect=DecisionEffect.ALLOW, rule="same", code="allowed"),
        ShadowDecision(effect=DecisionEffect.DENY, rule="stricter", code="no"),
    )
    bench.record(
        a_record(decision=Decision(effect=DecisionEffect.ALLOW, code="allowed", shadow=shadow))
    )
    counted = {
        (point.attributes["gateway.enforcement"], point.attributes["gateway.decision"])
        for point in bench.points(Name.DECISIONS)
    }
    assert counted == {("enforced", "allow"), ("shadow", "allow"), ("shadow", "deny")}
    (point,) = bench.points(Name.SHADOW_MISMATCHES)
    assert dict(point.attributes) == {
        "gateway.shadow.rule.id": "stricter",
        "gateway.decision": "allow",
        "gateway.shadow.decision": "deny",
    }


def test_calls_that_are_alike_are_counted_together_and_each_once(bench: Bench) -> None:
    bench.record(a_record(), a_denied_record(), a_record())
    bench.record(a_record())
    bench.record()
    counted = {
        point.attributes["gateway.decision"]: point.value for point in bench.points(Name.DECISIONS)
    }
    assert counted == {"allow": 3, "deny": 1}


def test_what_was_counted_stands_when_one_of_a_batch_is_broken(bench: Bench) -> None:
    broken = facts_of(a_record())
    broken.received_ns = None  # type: ignore[assignment]
    with pytest.raises(TypeError):
        bench.meters.record([facts_of(a_record()), broken])
    bench.record(a_record())
    assert [point.value for point in bench.points(Name.DECISIONS)] == [2]


@pytest.mark.parametrize(
    "change",
    [
        {"call": a_call(method=Method.GET_TASK)},
        {"call": a_call(caller=Stdio())},
        {"tool": None},
        {"tool": a_tool(server="erp")},
        {"tool": a_tool(name="other")},
        {"tool": a_tool(kind=ToolKind.PROMPT)},
        {"status": Status.TIMEOUT},
        {"tool_error": True},
        {"error_code": -32602, "status": Status.TOOL_FAILED},
        {"status": Status.TIMEOUT, "answered_ns": 0},
        {"downstream_transport": "stdio"},
        {"decision": DENIED},
        {"decision": Decision(effect=DecisionEffect.DENY, code="allowed")},
        {"decision": Decision(effect=DecisionEffect.ALLOW, code="other")},
        {"observed": Observed(would=Would.HOLD)},
        {"observed": Observed(would=Would.DENY, code="schema", status="invalid_arguments")},
    ],
)
def test_calls_that_differ_in_a_label_are_not_alike(bench: Bench, change: dict[str, Any]) -> None:
    lone = Bench()
    lone.record(a_record(**change))
    same_end = {key: change[key] for key in ("status",) if key in change}
    bench.record(a_record(), a_record(**same_end), a_record(**change))
    for name in (Name.SERVER_DURATION, Name.CLIENT_DURATION, Name.AUTHORIZATION, Name.DECISIONS):
        (expected,) = lone.points(name)
        found = [dict(point.attributes) for point in bench.points(name)]
        assert dict(expected.attributes) in found, name
    lone.close()


def test_labels_at_hand_are_bounded_and_counts_survive(bench: Bench) -> None:
    with patch.object(meters, "MAX_ALIKE", 3):
        for _ in range(2):
            bench.record(*[a_record(tool=a_tool(name=f"t{number}")) for number in range(10)])
    assert len(bench.meters._alike) <= 3  # pyright: ignore[reportPrivateUsage]
    assert [point.value for point in bench.points(Name.DECISIONS)] == [2] * 10


def test_refusing_limits_redactions_and_policy_errors_are_counted(bench: Bench) -> None:
    error = Decision(code="policy_evaluation_error", rule="broken")
    bench.record(
        a_denied_record(status=Status.LIMIT_EXCEEDED, code="per-day"),
        a_record(redactions=3),
        a_denied_record(decision=error, code="policy_evaluation_error"),
    )
    assert bench.points(Name.LIMIT_REFUSALS)[0].value == 1
    assert bench.points(Name.REDACTIONS)[0].value == 3
    assert dict(bench.points(Name.POLICY_ERRORS)[0].attributes) == {
        "gateway.policy.rule.id": "broken"
    }


def test_the_codes_of_a_broken_policy_are_the_engines() -> None:
    assert {engine.EVALUATION_ERROR, engine.CONFLICT} <= POLICY_ERRORS


def test_tools_and_error_codes_without_end_share_a_label(bench: Bench) -> None:
    """case: OBS-07"""
    bench.record(*[a_record(tool=a_tool(name=f"t{number}")) for number in range(MAX_TOOLS + 50)])
    tools = {point.attributes["gen_ai.tool.name"] for point in bench.points(Name.SERVER_DURATION)}
    assert len(tools) == MAX_TOOLS + 1
    assert "_other" in tools


def test_error_codes_without_end_share_a_label(bench: Bench) -> None:
    """case: OBS-07"""
    records = [
        a_record(error_code=code, status=Status.TOOL_FAILED) for code in range(MAX_CODES + 50)
    ]
    bench.record(*records)
    codes = {point.attributes["error.type"] for point in bench.points(Name.SERVER_DURATION)}
    assert len(codes) == MAX_CODES + 1
    assert "_other" in codes


def test_a_gauge_without_a_reader_says_nothing(bench: Bench) -> None:
    bench.meters.watch(Name.AUDIT_BACKLOG, {})
    assert bench.points(Name.AUDIT_BACKLOG) == []


def test_values_are_recorded_a_batch_at_a_time() -> None:
    """Or an export could have the count of a call, and not yet its time."""
    bench = Bench()
    held: list[bool] = []
    durations = bench.meters._durations  # pyright: ignore[reportPrivateUsage]
    lock = durations.lock
    assert isinstance(lock, type(threading.Lock()))

    class Looking(Durations):
        def of(self, name: Name, labels: Labels) -> Series:
            held.append(lock.locked())
            return durations.of(name, labels)

        @property
        def lock(self) -> AbstractContextManager[object]:
            return durations.lock

    bench.meters._durations = Looking()  # pyright: ignore[reportPrivateUsage]
    bench.record(a_record())
    assert held == [True] * 3
    assert not lock.locked()
    bench.close()


def test_ticks_are_counted_with_their_labels(bench: Bench) -> None:
    tick = Tick(name=Name.SCHEMA_CHANGES, labels={"gateway.server.name": "crm"})
    bench.meters.record([tick, tick])
    assert bench.points(Name.SCHEMA_CHANGES)[0].value == 2


def test_a_clock_that_went_back_gives_zero_not_a_negative_duration(bench: Bench) -> None:
    record = a_record()
    bench.record(a_record(closed_ns=record.received_ns - 5))
    assert bench.points(Name.SERVER_DURATION)[0].sum == 0


def test_every_counter_and_histogram_of_the_table_exists() -> None:
    kinds = {row.kind for row in METRICS.values()}
    assert kinds == set(Kind)


def test_prompts_have_a_label_and_resources_none() -> None:
    bench = Bench()
    prompt = a_tool(name="greet", kind=ToolKind.PROMPT)
    resource = a_tool(name="crm://1", kind=ToolKind.RESOURCE)
    bench.record(
        a_record(tool=prompt, call=a_call(method=Method.GET_PROMPT)),
        a_record(tool=resource, call=a_call(method=Method.READ_RESOURCE), resource="crm://1"),
    )
    points = bench.points(Name.SERVER_DURATION)
    found = {point.attributes["mcp.method.name"]: dict(point.attributes) for point in points}
    bench.close()
    assert found["prompts/get"]["gen_ai.prompt.name"] == "greet"
    assert "crm://1" not in str(found)
    for labels in found.values():
        assert set(labels) <= set(METRICS[Name.SERVER_DURATION].labels)
        assert "gen_ai.operation.name" not in labels


def an_end(**changes: Any) -> ApprovalFacts:
    approval = an_approval(created_at=1, **({"state": ApprovalState.CONSUMED} | changes))
    return approval_facts(approval, ended_at=50_000_000_001, asked_by=None, ids=("a", "b"))


def test_people_are_waited_for_in_buckets_of_up_to_a_day(bench: Bench) -> None:
    bench.meters.record([an_end()])
    (point,) = bench.points(Name.APPROVAL_WAIT)
    assert point.explicit_bounds[-1] == 86_400
    assert point.bucket_counts[-2] == 1
    assert dict(point.attributes) == {
        "gateway.approval.outcome": "approved",
        "gen_ai.tool.name": "refund",
        "gateway.server.name": "desk",
    }


def test_what_is_waited_for_shares_the_bound_on_tools(bench: Bench) -> None:
    """case: OBS-07"""
    bench.meters.record(an_end(tool=f"desk.t{number}") for number in range(MAX_TOOLS + 5))
    tools = {point.attributes["gen_ai.tool.name"] for point in bench.points(Name.APPROVAL_WAIT)}
    assert len(tools) == MAX_TOOLS + 1


def timed(stencil: Stencil, record: CallRecord) -> Timed:
    return Timed(
        stencil,
        record.received_ns,
        record.judged_ns,
        record.sent_ns,
        record.answered_ns,
        record.closed_ns,
    )


ALIKE_NAMES = (Name.SERVER_DURATION, Name.CLIENT_DURATION, Name.AUTHORIZATION, Name.DECISIONS)


def shown(bench: Bench) -> list[tuple[object, ...]]:
    return [
        (name, sorted(point.attributes.items()), getattr(point, "sum", 0), told)
        for name in ALIKE_NAMES
        for point in bench.points(name)
        for told in [getattr(point, "count", None) or point.value]
    ]


def test_calls_by_their_times_alone_are_counted_as_any(bench: Bench) -> None:
    first = a_record()
    calls = [
        a_record(closed_ns=first.closed_ns + number * 10**9, judged_ns=first.judged_ns + number)
        for number in range(3)
    ]
    stencil, other = Stencil(facts_of(first), None), Bench()
    other.record(first, *calls)
    bench.meters.record([facts_of(first), *(timed(stencil, each) for each in calls)])
    assert shown(bench) == shown(other)
    bench.meters.record([timed(stencil, calls[0])])
    other.record(calls[0])
    assert shown(bench) == shown(other), "and in the next batch too"
    other.close()


def test_calls_by_their_times_are_counted_under_the_labels_of_their_own(bench: Bench) -> None:
    stencils = [
        Stencil(facts_of(a_record(tool=a_tool(name=name))), None) for name in ("find", "list")
    ]
    bench.meters.record([timed(stencil, a_record()) for stencil in (*stencils, stencils[0])])
    counted = {
        point.attributes["gen_ai.tool.name"]: point.value for point in bench.points(Name.DECISIONS)
    }
    assert counted == {"find": 2, "list": 1}

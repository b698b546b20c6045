import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.telemetry.attributes import SPAN_ATTRIBUTES
from gateway.telemetry.facts import approval_facts, facts_of
from gateway.telemetry.moulds import Shared
from gateway.telemetry.spans import Span, SpanBuilder, SpanKind
from gateway.types.approvals import ApprovalState
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, ShadowDecision
from gateway.types.observed import Observed, Would
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from gateway.types.tools import Effect, Kind, Risk
from tests.helpers.approvals import an_approval
from tests.telemetry.builders import (
    SPAN_ID,
    START_NS,
    TRACE_ID,
    a_call,
    a_context,
    a_denied_record,
    a_record,
    a_tool,
    an_actor,
)
from tests.telemetry.generated import records

NOTHING = Shared(values={})
USED = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}")  # by all examples
BUILDER = SpanBuilder(lambda tenant, user: f"h:{tenant}")


def built(record: CallRecord) -> dict[SpanKind, Span]:
    return {span.kind: span for span in BUILDER.build(facts_of(record))}


def values(span: Span) -> dict[str, object]:
    found = span.shared.values | span.values
    return {key: value for key, value in found.items() if value not in ("", ())}


def test_a_call_that_went_through_has_three_spans_with_the_times_of_the_record() -> None:
    spans = built(a_record())
    times = {kind: (span.start_ns, span.end_ns) for kind, span in spans.items()}
    assert times == {
        SpanKind.SERVER: (START_NS, START_NS + 53_000_000),
        SpanKind.INTERNAL: (START_NS, START_NS + 1_000_000),
        SpanKind.CLIENT: (START_NS + 2_000_000, START_NS + 52_000_000),
    }
    assert {span.name for span in spans.values()} == {"tools/call find", "authorize find"}


def test_the_server_span_says_who_what_and_how_it_ended() -> None:
    span = built(a_record(redactions=2))[SpanKind.SERVER]
    assert values(span) == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "jsonrpc.request.id": "7",
        "network.transport": "tcp",
        "client.address": "192.0.2.9",
        "client.port": 51000,
        "user.id": "h:acme",
        "user.roles": ("agent", "support"),
        "gateway.server.name": "crm",
        "gateway.tool.exposed_name": "crm__find",
        "gateway.tool.schema_hash": a_tool().pin,
        "gateway.tool.risk": "low",
        "gateway.tool.effect": "read",
        "gateway.tenant.id": "acme",
        "gateway.call.id": "call_1",
        "gateway.run.id": "run_1",
        "gateway.run.phase": "acting",
        "gateway.decision": "allow",
        "gateway.decision.code": "allowed",
        "gateway.policy.rule.id": "support-reads",
        "gateway.policy.revision": "sha256:77",
        "gateway.arguments.digest": "sha256:ab",
        "gateway.redactions": 2,
        "gateway.status": "ok",
        "gateway.executed": "yes",
    }


def test_the_client_span_says_where_the_call_went() -> None:
    record = a_record(error_code=-32602, status=Status.TOOL_FAILED)
    span = built(record)[SpanKind.CLIENT]
    assert values(span) == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "error.type": "-32602",
        "rpc.response.status_code": "-32602",
        "network.transport": "tcp",
        "server.address": "crm.internal",
        "server.port": 8443,
        "gateway.server.name": "crm",
        "gateway.call.id": "call_1",
        "gateway.run.id": "run_1",
        "gateway.result.size": 512,
    }
    assert span.failure == "-32602"


def test_every_span_of_a_call_of_the_gateways_own_names_its_cause() -> None:
    spans = built(a_record(call=a_call(cause="lookup", parent="call_0")))
    assert {values(span)["gateway.cause"] for span in spans.values()} == {"lookup"}


def test_a_refused_call_has_no_client_span_and_no_error() -> None:
    spans = built(a_denied_record())
    assert set(spans) == {SpanKind.SERVER, SpanKind.INTERNAL}
    assert not spans[SpanKind.SERVER].failure
    assert values(spans[SpanKind.SERVER])["gateway.status"] == "denied"


def test_a_limit_that_refused_is_named() -> None:
    record = a_denied_record(status=Status.LIMIT_EXCEEDED, code="refunds-per-day")
    span = values(built(record)[SpanKind.SERVER])
    assert span["gateway.limit.id"] == "refunds-per-day"
    assert "gateway.status.code" not in span


def test_a_shadow_rule_that_disagrees_is_on_the_authorize_span() -> None:
    shadow = (
        ShadowDecision(effect=DecisionEffect.ALLOW, rule="same", code="allowed"),
        ShadowDecision(effect=DecisionEffect.DENY, rule="stricter", code="no"),
    )
    decision = Decision(effect=DecisionEffect.ALLOW, code="allowed", rule="r", shadow=shadow)
    span = values(built(a_record(decision=decision))[SpanKind.INTERNAL])
    assert span["gateway.enforcement"] == "enforced"
    assert span["gateway.shadow.decision"] == "deny"
    assert span["gateway.shadow.rule.id"] == "stricter"


def test_a_decision_that_was_only_recorded_is_told_from_one_that_was_carried_out() -> None:
    denied = Observed(would=Would.DENY, code="schema", status="invalid_arguments")
    span = values(built(a_record(observed=denied))[SpanKind.INTERNAL])
    assert span["gateway.enforcement"] == "observed"
    assert span["gateway.observed"] == "deny"
    assert (span["gateway.decision"], span["gateway.decision.code"]) == ("deny", "schema")


def test_a_name_that_no_server_has_is_not_repeated() -> None:
    record = a_denied_record(call=a_call(name="rm -rf"), tool=None, status=Status.UNKNOWN_TOOL)
    span = built(record)[SpanKind.SERVER]
    assert span.name == "tools/call _unknown"
    assert "rm -rf" not in str(values(span))


def test_an_unanswered_call_lasts_until_it_was_given_up() -> None:
    span = built(a_record(status=Status.TIMEOUT, answered_ns=0))[SpanKind.CLIENT]
    assert span.end_ns == START_NS + 53_000_000


@pytest.mark.parametrize(
    ("peer", "address", "port"),
    [
        ("host:80", "host", 80),
        ("[::1]:80", "::1", 80),
        ("::1", "::1", None),
        ("host", "host", None),
        ("", None, None),
    ],
)
def test_addresses_are_split_from_ports(peer: str, address: str | None, port: int | None) -> None:
    span = values(built(a_record(call=a_call(peer=peer)))[SpanKind.SERVER])
    assert span.get("client.address") == address
    assert span.get("client.port") == port


def test_stdio_is_a_pipe() -> None:
    record = a_record(downstream_transport="stdio", downstream_address="")
    span = values(built(record)[SpanKind.CLIENT])
    assert span["network.transport"] == "pipe"
    assert "server.address" not in span


def test_the_callers_span_is_a_remote_parent_with_its_state() -> None:
    span = built(a_record(parent=a_context(state="vendor=1")))[SpanKind.SERVER]
    assert (span.parent, span.is_parent_remote, span.state) == (SPAN_ID, True, "vendor=1")


def test_the_spans_of_a_call_are_children_of_the_first() -> None:
    record = a_record(parent=a_context(state="vendor=1"))
    spans = built(record)
    for kind in (SpanKind.INTERNAL, SpanKind.CLIENT):
        span = spans[kind]
        assert (span.parent, span.is_parent_remote) == (record.server_span, False)
        assert (span.trace_id, span.state) == (TRACE_ID, "vendor=1")


def test_every_attribute_that_can_be_set_is_in_the_table() -> None:
    for span in BUILDER.build(facts_of(a_record(redactions=1), content="{}")):
        assert set(values(span)) <= set(SPAN_ATTRIBUTES)


def test_a_resource_is_an_attribute_and_never_a_span_name() -> None:
    tool = a_tool(name="crm://notes/1", exposed_name="crm://notes/1", kind=Kind.RESOURCE)
    call = a_call("crm://notes/1", method=Method.READ_RESOURCE)
    spans = built(a_record(tool=tool, call=call, resource="crm://notes/1"))
    names = {span.name for span in spans.values()}
    assert names == {"resources/read", "authorize resources/read"}
    for span in spans.values():
        assert values(span)["mcp.resource.uri"] == "crm://notes/1"
        assert "gen_ai.tool.name" not in values(span)
        assert "gen_ai.operation.name" not in values(span)
    assert values(spans[SpanKind.CLIENT])["mcp.method.name"] == "resources/read"


def test_a_prompt_is_named_as_its_server_names_it() -> None:
    tool = a_tool(name="greet", exposed_name="crm__greet", kind=Kind.PROMPT)
    spans = built(a_record(tool=tool, call=a_call("crm__greet", method=Method.GET_PROMPT)))
    assert {span.name for span in spans.values()} == {"prompts/get greet", "authorize greet"}
    server = values(spans[SpanKind.SERVER])
    assert server["gen_ai.prompt.name"] == "greet"
    assert server["gateway.tool.exposed_name"] == "crm__greet"
    assert "gen_ai.tool.name" not in server


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (Method.READ_RESOURCE, "resources/read"),
        (Method.GET_PROMPT, "prompts/get _unknown"),
        (Method.COMPLETE, "completion/complete"),
        (Method.GET_TASK, "tasks/get _unknown"),
    ],
)
def test_what_no_server_has_is_named_by_nothing_that_a_caller_chose(
    method: Method, name: str
) -> None:
    record = a_record(tool=None, judged_ns=0, sent_ns=0, call=a_call("secret://x", method=method))
    span = built(record)[SpanKind.SERVER]
    assert span.name == name
    assert "secret" not in str(values(span))


def test_a_call_that_people_decide_about_names_the_request_and_the_call_that_asked() -> None:
    asked_by = f"00-{'1' * 32}-{'2' * 16}-01"
    span = built(a_record(approval_id="apr_1", asked_by=asked_by, link=a_context()))[
        SpanKind.SERVER
    ]
    assert values(span)["gateway.approval.id"] == "apr_1"
    assert [link.trace_id for link in span.links] == [TRACE_ID, "1" * 32]


def test_how_a_request_ended_is_a_short_span_in_a_trace_of_its_own() -> None:
    approval = an_approval(
        approval_id="apr_1", call_id="call_1", state=ApprovalState.CONSUMED, created_at=5_000_000
    )
    facts = approval_facts(
        approval, ended_at=95_500_000, asked_by=a_context(), ids=("a" * 32, "b" * 16)
    )
    (span,) = BUILDER.build(facts)
    assert (span.name, span.kind) == ("approval refund", SpanKind.INTERNAL)
    assert span.start_ns == span.end_ns == 95_500_000_000
    assert span.trace_id == "a" * 32
    assert [link.trace_id for link in span.links] == [TRACE_ID]
    assert values(span) == {
        "gateway.approval.id": "apr_1",
        "gateway.approval.outcome": "approved",
        "gateway.approval.wait_s": 90.5,
        "gateway.approval.quorum": 1,
        "gen_ai.tool.name": "refund",
        "gateway.server.name": "desk",
        "gateway.tool.risk": "high",
        "gateway.policy.rule.id": "refunds-over-100",
        "gateway.policy.revision": "r1",
        "gateway.tenant.id": "acme",
        "gateway.call.id": "call_1",
    }
    assert values(span).keys() <= SPAN_ATTRIBUTES.keys()


def test_a_request_without_a_trace_has_no_link_and_a_clock_that_went_back_no_wait() -> None:
    approval = an_approval(created_at=5_000_000)
    facts = approval_facts(approval, ended_at=1, asked_by=None, ids=("a" * 32, "b" * 16))
    (span,) = BUILDER.build(facts)
    assert (span.links, values(span)["gateway.approval.wait_s"]) == ((), 0.0)


def bare(spans: list[Span]) -> list[tuple[Span, dict[str, object]]]:
    """Spans as they are to whoever gets them, whatever they share with others."""
    return [(dataclasses.replace(span, shared=NOTHING, values={}), values(span)) for span in spans]


@given(found=st.lists(records(), min_size=2, max_size=4))
def test_no_call_has_anything_of_another(found: list[CallRecord]) -> None:
    """case: OBS-01"""
    for record in found:
        alone = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}").build(facts_of(record))
        assert bare(USED.build(facts_of(record))) == bare(alone)


STRICTER = ShadowDecision(effect=DecisionEffect.DENY, rule="s", code="no")


def an_allowing(**changes: Any) -> Decision:
    fields: dict[str, Any] = {"effect": DecisionEffect.ALLOW, "code": "allowed"}
    return Decision(**(fields | changes))


CHANGES: list[dict[str, Any]] = [
    {"call": a_call(request_id="8")},
    {"call": a_call(method=Method.GET_PROMPT)},
    {"call": a_call(cause="lookup")},
    {"call": a_call(peer="198.51.100.7:1")},
    {"tool": None},
    {"tool": a_tool(server="erp")},
    {"tool": a_tool(exposed_name="other")},
    {"tool": a_tool(pin="sha256:02")},
    {"tool": a_tool(kind=Kind.RESOURCE), "resource": "crm://2"},
    {"actor": None},
    {"actor": an_actor(user="lee@example.com")},
    {"actor": an_actor(tenant="other")},
    {"actor": an_actor(roles=frozenset())},
    {"run_id": "run_2"},
    {"phase": "other"},
    {"effect": Effect.WRITE},
    {"risk": Risk.HIGH},
    {"approval_id": "apr_1"},
    {"observed": Observed(would=Would.HOLD)},
    {"status": Status.TIMEOUT},
    {"status": Status.TIMEOUT, "answered_ns": 0},
    {"status": Status.LIMIT_EXCEEDED, "code": "per-day"},
    {"executed": Execution.NO},
    {"error_code": -32602, "status": Status.TOOL_FAILED},
    {"tool_error": True},
    {"downstream_transport": "stdio"},
    {"downstream_address": "other:1"},
    {"downstream_version": "2026-07-28"},
    {"arguments_digest": "sha256:cd"},
    {"result_size": 7},
    {"redactions": 2},
    {"decision": an_allowing(code="other")},
    {"decision": an_allowing(rule="other")},
    {"decision": an_allowing(revision="sha256:78")},
    {"decision": an_allowing(effect=DecisionEffect.DENY)},
    {"decision": an_allowing(shadow=(STRICTER,))},
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_between_calls_differs_in_their_spans(change: dict[str, Any]) -> None:
    builder = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}")
    first = bare(builder.build(facts_of(a_record())))
    second = bare(builder.build(facts_of(a_record(**change))))
    alone = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}")
    fresh = bare(alone.build(facts_of(a_record(**change))))
    assert [values for _, values in second] == [values for _, values in fresh]
    assert [values for _, values in second] != [values for _, values in first]


def test_calls_that_are_alike_share_what_they_have_in_common() -> None:
    builder = SpanBuilder(None)
    first, second = (builder.build(facts_of(a_record())) for _ in range(2))
    assert [one.shared is other.shared for one, other in zip(first, second, strict=True)] == [
        True,
        True,
        True,
    ]


def test_what_is_kept_for_calls_that_are_alike_is_bounded() -> None:
    builder = SpanBuilder(None)
    for number in range(1200):
        builder.build(facts_of(a_record(tool=a_tool(name=f"t{number}"))))
    assert len(builder._moulds) <= 512  # pyright: ignore[reportPrivateUsage]

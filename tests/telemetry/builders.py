"""Builders of finished calls and of environments that point at a receiver."""

from datetime import UTC, datetime
from typing import Any

from gateway import ids
from gateway.types.actors import Actor
from gateway.types.calls import AuthMethod, Nobody, Principal, ProposedCall, TraceContext
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from gateway.types.tools import Effect, Risk, Tool

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE_ID}-{SPAN_ID}-01"
START_NS = 1_800_000_000_000_000_000
ALLOWED = Decision(
    effect=DecisionEffect.ALLOW, code="allowed", rule="support-reads", revision="sha256:77"
)
DENIED = Decision(
    effect=DecisionEffect.DENY, code="no_exports", rule="no-exports", revision="sha256:77"
)


class Caller(Nobody):
    """A client over HTTP that asked for nothing."""

    protocol_version = "2026-07-28"
    transport = "http"


def a_call(name: str = "crm__find", **changes: Any) -> ProposedCall:
    principal = Principal(
        issuer="keys",
        subject="sam-key",
        client="test",
        tenant="acme",
        user="sam@example.com",
        roles=frozenset(),
        scopes=frozenset(),
        method=AuthMethod.API_KEY,
    )
    fields: dict[str, Any] = {
        "call_id": "call_1",
        "arguments": {},
        "meta": {},
        "principal": principal,
        "caller": Caller(),
        "received_at": datetime(2026, 11, 30, tzinfo=UTC),
    }
    return ProposedCall(**(fields | changes), name=name)


def a_tool(**changes: Any) -> Tool:
    fields: dict[str, Any] = {
        "server": "crm",
        "name": "find",
        "exposed_name": "crm__find",
        "definition": {},
        "pin": "sha256:01",
    }
    return Tool(**(fields | changes))


def a_context(**changes: Any) -> TraceContext:
    fields: dict[str, Any] = {"trace_id": TRACE_ID, "span_id": SPAN_ID, "sampled": True}
    return TraceContext(**(fields | changes))


def an_actor(**changes: Any) -> Actor:
    fields: dict[str, Any] = {
        "user": "sam@example.com",
        "tenant": "acme",
        "roles": frozenset({"support", "agent"}),
        "scopes": frozenset({"crm:read"}),
        "client": "test",
        "method": "api_key",
        "issuer": "keys",
    }
    return Actor(**(fields | changes))


def a_record(**changes: Any) -> CallRecord:
    """A call that went well: judged at 1 ms, sent at 2, answered at 52, closed at 53."""
    fields: dict[str, Any] = {
        "call": a_call(request_id="7", peer="192.0.2.9:51000"),
        "parent": None,
        "trace_id": TRACE_ID,
        "server_span": ids.span_id(),
        "authorize_span": ids.span_id(),
        "client_span": ids.span_id(),
        "received_ns": START_NS,
        "judged_ns": START_NS + 1_000_000,
        "sent_ns": START_NS + 2_000_000,
        "answered_ns": START_NS + 52_000_000,
        "closed_ns": START_NS + 53_000_000,
        "tool": a_tool(),
        "actor": an_actor(),
        "run_id": "run_1",
        "phase": "acting",
        "effect": Effect.READ,
        "risk": Risk.LOW,
        "decision": ALLOWED,
        "status": Status.OK,
        "executed": Execution.YES,
        "downstream_transport": "http",
        "downstream_address": "crm.internal:8443",
        "downstream_version": "2025-11-25",
        "arguments_digest": "sha256:ab",
        "result_size": 512,
    }
    return CallRecord(**(fields | changes))


def a_denied_record(**changes: Any) -> CallRecord:
    fields: dict[str, Any] = {
        "sent_ns": 0,
        "answered_ns": 0,
        "decision": DENIED,
        "status": Status.DENIED,
        "code": "no_exports",
        "executed": Execution.NO,
        "result_size": 0,
    }
    return a_record(**(fields | changes))


def endpoint(url: str, **more: str) -> dict[str, str]:
    """An environment that exports both signals to a receiver, soon after they came to be."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "5",
    } | more

"""Judged calls out of the log."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from gateway.cli.pasts import Span, past, pasts
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
from tests.helpers.cases import NOW
from tests.helpers.recorded import recorded


def an_event(body: JsonObject | None = None, **envelope: Any) -> JsonObject:
    known: JsonObject = {
        "method": "tools/call",
        "tool": "crm.find",
        "server": "crm",
        "decision": "allow",
        "status": "ok",
        "rule": "find",
        "code": "allowed",
        "effect": "write",
        "risk": "high",
        "arguments": {"a": 1},
    }
    return {
        "ts": NOW.isoformat(),
        "call": "call_1",
        "tenant": "acme",
        "actor": {
            "user": "sam",
            "roles": ["r"],
            "scopes": ["s"],
            "client": "c",
            "auth_method": "jwt",
            "issuer": "i",
        },
        "body": known | (body or {}),
        **envelope,
    }


def unknown(arguments: Json, **envelope: Any) -> dict[str, str]:
    return dict(past(an_event({"arguments": arguments}, **envelope)).unknown)


def test_a_call_is_read_as_it_was_judged() -> None:
    found = past(an_event({"snapshot": {"received_us": 2_000_000, "pin": "sha256:x"}}))
    assert (found.at, found.pin) == (NOW - timedelta(seconds=2), "sha256:x")
    assert (found.kind, found.key, found.decided, found.rule) == (
        Kind.TOOL,
        "crm.find",
        DecisionEffect.ALLOW,
        "find",
    )
    assert (found.actor.user, found.actor.roles, found.actor.tenant) == (
        "sam",
        frozenset({"r"}),
        "acme",
    )
    assert (found.does, found.risk, found.cause) == (Effect.WRITE, Risk.HIGH, Cause.CALLER)
    assert (found.run, found.unknown) == (None, {})
    inputs: JsonObject = {"inputs": {"phase": "finalizing"}, "cause": "lookup"}
    late = past(an_event(inputs, phase="acting"))
    assert (late.phase, late.cause) == (Phase.FINALIZING, Cause.LOOKUP)
    assert past(an_event(phase="planning")).phase is Phase.PLANNING


def test_values_that_the_log_does_not_hold_are_known_by_their_place() -> None:
    redacted, cut = "it was redacted", "it was too long to be kept"
    assert unknown({"a": {"$redacted": "secret"}, "b": [{"c": "x [redacted:email]"}]}) == {
        "/a": redacted,
        "/b/0/c": redacted,
    }
    assert unknown({"$cut": {"digest": "d", "bytes": 9, "head": "h"}}) == {"": cut}
    assert unknown({"a/b": "x… [12 more characters]"}) == {"/a~1b": cut}
    assert unknown({"a": {"[redacted:email]": 1}}) == {"/a": redacted}
    assert unknown({"a": 1}, masked=["/arguments/a", "/snapshot/x"]) == {"/a": redacted}
    assert unknown({"a": 1}, erased=["/arguments"]) == {"": redacted}
    assert unknown({"a": "plain", "b": [1, None]}) == {}


def test_a_run_is_read_as_a_test_has_it() -> None:
    run: JsonObject = {
        "version": 3,
        "mode": "auto",
        "phase": "acting",
        "bound_by": "meta",
        "template": "case",
        "resume_phase": "acting",
        "evidence": 2,
        "tainted": True,
        "paused": True,
        "fields": {
            "customer": {"source": "host", "trust": "host", "value": "c-1"},
            "why": {"source": "model", "trust": "model", "value": "so"},
            "iban": {"source": "host", "trust": "host", "value": {"$redacted": "secret"}},
            "large": {"source": "host", "trust": "host"},
        },
    }
    found = past(an_event({"snapshot": {"run": run}}))
    assert found.run == {
        "mode": "auto",
        "phase": "acting",
        "bound_by": "meta",
        "template": "case",
        "evidence": 2,
        "tainted": True,
        "paused": True,
        "fields": {"customer": "c-1"},
        "said": {"why": "so"},
    }
    assert found.gone == ("`iban`", "`large`")
    stopped: JsonObject = {
        "phase": "failed",
        "mode": "auto",
        "stop_reason": "blocked",
        "paused": True,
    }
    assert past(an_event({"snapshot": {"run": stopped}})).run == {
        "phase": "failed",
        "mode": "auto",
        "stop": "blocked",
    }
    assert past(an_event({"snapshot": {"tainted": True}})).run == {"tainted": True}


async def test_the_judged_calls_of_a_log_are_read_in_order(tmp_path: Path) -> None:
    place = await recorded(tmp_path)
    with place.store() as store:
        every = [each async for each in pasts(store.events, Span())]
        one = [each async for each in pasts(store.events, Span(call="call_2"))]
    assert [(each.call, each.decided.value, each.rule) for each in every] == [
        ("call_1", "allow", "pay"),
        ("call_2", "allow", "pay"),
        ("call_3", "deny", ""),
    ]
    assert [each.call for each in one] == ["call_2"]
    assert {*every[0].unknown} == {"/iban"}


def test_of_a_call_at_the_level_metadata_values_are_known_to_be_left_out() -> None:
    marker: Json = {"$redacted": "level", "type": "integer"}
    found = unknown({"a": marker}, erased=["/arguments/a"])
    assert found == {"/a": "its call is kept at the level `metadata`"}

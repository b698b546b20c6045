from typing import Any

from gateway.events.named import named
from gateway.events.redact import Redactor
from gateway.types.calls import Method
from gateway.types.records import CallRecord
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_call, a_case, a_resource

REDACTOR = Redactor(lambda tenant: b"k")


def a_record(**changes: Any) -> CallRecord:
    fields: dict[str, Any] = {
        "call": a_call(),
        "parent": None,
        "trace_id": "",
        "server_span": "",
        "authorize_span": "",
        "client_span": "",
        "tool": a_case().tool,
        "effect": Effect.READ,
        "risk": Risk.LOW,
        "arguments_digest": "one",
    }
    return CallRecord(**(fields | changes))


def test_calls_of_one_tool_share_all_but_their_digest() -> None:
    tool = a_case().tool
    told = [named(a_record(tool=tool, arguments_digest=each), REDACTOR) for each in ("one", "two")]
    assert [each.pop("arguments_digest") for each in told] == ["one", "two"]
    assert told[0] == told[1]
    assert told[0] == {
        "method": "tools/call",
        "tool": tool.key,
        "server": tool.server,
        "name": tool.exposed_name,
        "effect": "read",
        "risk": "low",
    }


def test_what_was_told_of_one_call_can_be_changed_without_harm_to_the_next() -> None:
    tool = a_case().tool
    named(a_record(tool=tool), REDACTOR)["tool"] = "forged"
    assert named(a_record(tool=tool), REDACTOR)["tool"] == tool.key


def test_another_method_effect_class_or_cause_is_told() -> None:
    tool = a_case().tool
    named(a_record(tool=tool), REDACTOR)
    others: list[tuple[dict[str, Any], str, str]] = [
        ({"call": a_call(method=Method.GET_PROMPT)}, "method", "prompts/get"),
        ({"call": a_call(cause="compensation")}, "cause", "compensation"),
        ({"effect": Effect.WRITE}, "effect", "write"),
        ({"risk": Risk.HIGH}, "risk", "high"),
    ]
    for changes, key, expected in others:
        assert named(a_record(tool=tool, **changes), REDACTOR)[key] == expected
    assert "effect" not in named(a_record(tool=tool, effect=None), REDACTOR)


def test_a_resource_is_told_by_the_form_of_its_uri_that_may_be_kept() -> None:
    tool = a_resource()
    for uri in ("note://1", "note://2"):
        told = named(a_record(tool=tool, resource=uri), REDACTOR)
        assert (told["tool"], told["name"]) == (uri, uri)


def test_of_a_name_that_no_server_has_only_what_may_be_kept_is_told() -> None:
    call = a_call(name="Bearer abcdefghijklmnopqrstuvwxyz0123456789" + "x" * 200)
    told = named(a_record(tool=None, call=call), REDACTOR)
    assert told["tool"] == told["server"] == ""
    assert "abcdefghij" not in str(told["name"])

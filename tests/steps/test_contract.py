"""Step 2: contract."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Case
from gateway.steps import contract
from gateway.types.calls import Method
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import Json, JsonObject
from gateway.types.operations import RetryClass
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Away, Effect, OnFail, ProvenanceRule, Quarantine
from tests.helpers.cases import (
    a_call,
    a_case,
    a_contract,
    a_definition,
    a_prompt,
    a_resource,
    a_tool,
)

BUILT_IN = a_contract(a_prompt())
PUT: dict[str, Any] = {"item": {"type": "object"}, "tags": {"type": "array"}}


def put_case(arguments: JsonObject, properties: dict[str, Any] | None = None) -> Case:
    return a_case(arguments, tool=a_tool(a_definition("put_item", properties or PUT)))


def refusal(answer: Case | Refusal) -> Refusal:
    assert isinstance(answer, Refusal)
    return answer


def test_checked_arguments_are_the_ones_that_came() -> None:
    """case: ARG-04"""
    properties = {"zip": {"type": "string"}, "n": {"type": "integer"}}
    arguments: JsonObject = {"zip": "00123", "n": 1.0, "extra": {"a": [1]}}
    answer = contract.check(put_case(arguments, properties))
    assert isinstance(answer, Case)
    assert answer.arguments is arguments


@pytest.mark.parametrize(
    ("uri", "is_clear"),
    [
        ("file:///handbook/travel.md", True),
        ("file:///handbook/a%20b%2Fc.md", True),
        ("file:///handbook/...", True),
        ("file:///handbook/.well-known?at=../x", True),
        ("file:///handbook/../../etc/passwd", False),
        ("file:///handbook/..", False),
        ("file:///handbook/./secret.md", False),
        ("file:///handbook/%2e%2E/etc", False),
        ("file:///handbook/..%2fetc", False),
        ("file:///handbook/..%5Cetc", False),
        ("file:///handbook\\..\\etc", False),
        ("file:///handbook/s%65cret.md", False),
        ("file:///handbook/secret%7e", False),
        ("file:///handbook/", True),
        ("file:///handbook?at=a//b#c//d", True),
        ("web://https://example.org/a", True),
        ("web:///https://example.org/a", True),
        ("web://shot/https%3A%2F%2Fexample.org", True),
        ("mem:a/b", True),
        ("file:///handbook//secret.md", False),
        ("file:////handbook/secret.md", False),
        ("crm://notes//secret", False),
        ("crm://notes/%2Fsecret", False),
        ("crm://notes\\/secret", False),
        ("web://https:////example.org/a", False),
        ("mem:a//b", False),
    ],
)
def test_a_uri_that_a_server_may_take_for_another_is_only_read_where_it_is_listed(
    uri: str, is_clear: bool
) -> None:
    listed = a_resource(uri)
    unlisted = replace(listed, definition={"uri": uri})
    for tool, passes in ((listed, True), (unlisted, is_clear)):
        case = a_case(tool=tool, contract=replace(BUILT_IN, pin=tool.pin))
        answer = contract.admit(case)
        assert isinstance(answer, Case) is passes
        if not passes:
            assert refusal(answer).code == "unclear_uri"


def test_an_object_sent_as_text_is_named_with_what_was_expected() -> None:
    """case: ARG-01"""
    answer = refusal(contract.check(put_case({"item": '{"id": 1}', "tags": '["a"]'})))
    assert answer.status is Status.INVALID_ARGUMENTS
    assert [detail["pointer"] for detail in answer.details] == ["/item", "/tags"]
    assert "expected" in answer.reason
    assert '{"id": 1}' not in answer.reason


@pytest.mark.parametrize("arguments", [{"zip": 123}, {"ok": "false"}, {"n": "5"}, {"n": 1.5}])
def test_nothing_is_coerced(arguments: JsonObject) -> None:
    """case: ARG-04"""
    properties = {
        "zip": {"type": "string"},
        "ok": {"type": "boolean"},
        "n": {"type": "integer"},
    }
    answer = refusal(contract.check(put_case(arguments, properties)))
    assert answer.status is Status.INVALID_ARGUMENTS


def test_null_for_an_optional_field_is_refused_with_the_mend() -> None:
    """case: ARG-03"""
    answer = refusal(contract.check(put_case({"q": None}, {"q": {"type": "string"}})))
    assert "omit" in answer.reason


def test_a_changed_definition_is_refused() -> None:
    tool = a_tool()
    answer = refusal(contract.check(a_case(tool=tool, contract=a_contract(tool, pin="sha256:0"))))
    assert answer.status is Status.TOOL_CHANGED


def test_a_quarantined_tool_says_where_its_definition_is_wrong() -> None:
    """case: SCH-01"""
    tool = a_tool(quarantine=Quarantine(reason="`text` is no type", pointer="/properties/depth"))
    answer = refusal(contract.check_definition(a_case(tool=tool)))
    assert answer.status is Status.TOOL_QUARANTINED
    assert "/properties/depth" in answer.reason


def test_arguments_that_could_not_be_read_are_the_models_to_mend() -> None:
    call = a_call(input_error="duplicate key at `/arguments/a`")
    answer = refusal(contract.check(a_case(call=call)))
    assert answer.status is Status.INVALID_ARGUMENTS
    assert "duplicate key" in answer.reason


def test_a_prompts_arguments_are_texts_and_pass_as_they_are() -> None:
    arguments: JsonObject = {"who": "Ann"}
    call = a_call("crm__greet", arguments, method=Method.GET_PROMPT)
    answer = contract.admit(a_case(tool=a_prompt(), contract=BUILT_IN, call=call))
    assert isinstance(answer, Case)
    assert answer.arguments is arguments


@pytest.mark.parametrize("value", [1, None, {"a": "b"}, True])
def test_a_prompts_argument_of_another_type_is_refused_without_its_value(value: Json) -> None:
    call = a_call("crm__greet", {"who": value}, method=Method.GET_PROMPT)
    answer = refusal(contract.admit(a_case(tool=a_prompt(), contract=BUILT_IN, call=call)))
    assert answer.status is Status.INVALID_ARGUMENTS
    assert [detail["pointer"] for detail in answer.details] == ["/who"]


def test_what_could_not_be_read_is_refused_without_a_schema_too() -> None:
    call = a_call("crm__greet", method=Method.GET_PROMPT, input_error="`arguments` is no object")
    answer = refusal(contract.admit(a_case(tool=a_prompt(), contract=BUILT_IN, call=call)))
    assert answer.status is Status.INVALID_ARGUMENTS


def test_a_tool_that_is_away_is_refused_before_its_arguments_are_looked_at() -> None:
    away = Away(reason="`crm` is still starting", code="downstream_starting", retry_after_s=2.0)
    answer = contract.check(a_case({"unknown": 1}, tool=replace(a_tool(), away=away)))
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code) == (Status.UNAVAILABLE, "downstream_starting")
    assert (answer.reason, answer.retry_after_s) == ("`crm` is still starting", 2.0)
    assert answer.row.retryable


KEYED: dict[str, Any] = {
    "v": {"type": "integer"},
    "key": {"type": "string", "format": "uuid", "minLength": 36, "maxLength": 36},
}


def keyed_case(arguments: JsonObject, name: str = "/key", effect: Effect = Effect.WRITE) -> Case:
    definition = a_definition("put", KEYED)
    schema = definition["inputSchema"]
    assert isinstance(schema, dict)
    tool = a_tool({**definition, "inputSchema": {**schema, "required": ["v", "key"]}})
    injection = Injection(place=InjectPlace.ARGUMENT, name=name)
    keyed = Idempotency(retry=RetryClass.KEYED, inject=injection)
    return a_case(arguments, tool=tool, contract=a_contract(tool, effect=effect, idempotency=keyed))


@pytest.mark.parametrize("said", [{}, {"key": "the model's own"}, {"key": 1}])
def test_a_key_that_the_gateway_fills_in_is_neither_missed_nor_taken_from_the_model(
    said: JsonObject,
) -> None:
    answer = contract.check(keyed_case({"v": 1, **said}))
    assert isinstance(answer, Case)
    assert answer.arguments == {"v": 1}


def test_what_else_a_call_lacks_is_still_refused_and_the_key_is_no_part_of_that() -> None:
    [missing] = refusal(contract.check(keyed_case({}))).details
    assert missing["pointer"] == "/v"


def test_a_read_gets_no_key_and_so_has_to_bring_its_arguments() -> None:
    assert refusal(contract.check(keyed_case({"v": 1}, effect=Effect.READ))).code == "schema"


def test_arguments_without_a_place_for_the_key_are_refused() -> None:
    refused = refusal(contract.check(keyed_case({"v": 1}, name="/v/key")))
    assert (refused.status, refused.code) == (Status.INVALID_ARGUMENTS, "idempotency_key")


def test_another_spelling_of_an_argument_is_refused_with_the_right_one() -> None:
    tool = a_tool(a_definition("pay", {"tenant_id": {"type": "string"}}))
    for name in ("Tenant_ID", "tenantId"):
        answer = refusal(contract.check(a_case({"tenant_id": "a", name: "b"}, tool=tool)))
        assert (answer.code, answer.next) == (
            "argument_name",
            "write `tenant_id`, or leave it out",
        )
        assert f"`/{name}` is no argument" in answer.reason
    other = a_case({"tenant_id": "a", "other": "b"}, tool=tool)
    assert isinstance(contract.check(other), Case)


def test_a_name_that_only_a_rule_of_origins_knows_has_one_spelling_as_well() -> None:
    tool = a_tool(a_definition("pay", {}))
    rule = ProvenanceRule(pointer="/iban", sources=(), on_fail=OnFail.DENY)
    case = a_case({"IBAN": "x"}, tool=tool, contract=a_contract(tool, provenance=(rule,)))
    assert refusal(contract.check(case)).code == "argument_name"

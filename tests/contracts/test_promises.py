"""The sections about repeated writes, checks of outcomes and the way back."""

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.contracts.promises import (
    CompensationSection,
    IdempotencySection,
    InjectSection,
    OutcomeSection,
)


@pytest.mark.parametrize(
    "place", [{"arg": "/options/key"}, {"meta": "example.org/key"}, {"header": "Idempotency-Key"}]
)
def test_a_key_goes_to_one_place(place: dict[str, Any]) -> None:
    assert InjectSection.model_validate(place).format == "uuid5"
    assert InjectSection.model_validate({**place, "format": "hex"}).format == "hex"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "one of `arg`, `meta` and `header`"),
        ({"arg": "/k", "meta": "k"}, "one of `arg`, `meta` and `header`"),
        ({"arg": "k"}, "not a JSON Pointer"),
        ({"arg": "/items/*/k"}, "without `\\*`"),
        ({"meta": "progressToken"}, "MCP's own"),
        ({"meta": "io.modelcontextprotocol/key"}, "MCP's own"),
        ({"meta": "mcp/key"}, "MCP's own"),
        ({"meta": "traceparent"}, "MCP's own"),
        ({"header": "Authorization"}, "another use"),
        ({"header": "cookie"}, "another use"),
        ({"header": "Mcp-Session-Id"}, "another use"),
        ({"header": "HOST"}, "another use"),
        ({"header": "Content-Length"}, "another use"),
        ({"header": "transfer-encoding"}, "another use"),
        ({"header": "X Key"}, "name of a header"),
        ({"header": "X-Key: 1"}, "name of a header"),
        ({"header": ""}, "name of a header"),
        ({"arg": "/k", "format": "uuid4"}, "'hex'"),
        ({"query": "k"}, "not permitted"),
    ],
)
def test_a_key_goes_nowhere_else(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        InjectSection.model_validate(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"intent": []}, "at least 1"),
        ({"intent": ["customer"]}, "not a JSON Pointer"),
        ({"ignore": [""]}, "has to name a field"),
        ({"from": "/orders/*"}, "without `\\*`"),
        ({"normalise": {"/v": "title"}}, "'trim'"),
        ({"window": "a run"}, "a time with its unit"),
        ({"on_variant": "merge"}, "'conflict'"),
        ({"repeat": "yes"}, "'deny'"),
        ({"retry": "always"}, "'never'"),
        ({"not_executed_on": [True]}, "valid integer"),
        ({"not_executed_on": [""]}, "at least 1"),
        ({"lookup": {"tool": "desk.find"}}, "Field required"),
        ({"lookup": {"tool": "find", "found": "true"}}, "`server.name`"),
        ({"lookup": {"tool": "desk.find", "found": "true", "absent_after": 60}}, "with its unit"),
        ({"cancel": "always"}, "'safe'"),
        ({"retry_class": "never"}, "not permitted"),
    ],
)
def test_a_bad_word_about_repeats_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        IdempotencySection.model_validate(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"readback": {"tool": "desk.get"}}, "Field required"),
        ({"readback": {"tool": "desk.get", "expect": "true", "wait": {"interval": "0s"}}},
         "than 0"),
        ({"readback": {"tool": "desk.get", "expect": "true", "wait": {"target": "x"}}},
         "permitted"),
        ({"old": {"args": {}}}, "Field required"),
        ({"checksum": {"of": "$args.a"}}, "Field required"),
        ({"checksum": {"of": "$args.a", "equals": "$result.b", "alg": "md5"}}, "'sha256'"),
        ({"object": {"id": "$result.id"}}, "Field required"),
        ({"object": {"type": "", "id": "$result.id"}}, "at least 1"),
        ({"object": {"type": "crm.ticket", "id": 7}}, "valid string"),
        ({"on_fail": ["block"]}, "not permitted"),
    ],
)  # fmt: skip
def test_a_bad_word_about_the_outcome_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OutcomeSection.model_validate(value)


@pytest.mark.parametrize("key", ["before", "else", "approval", "on_indeterminate", "steps"])
def test_what_nobody_carries_out_can_t_be_asked_for(key: str) -> None:
    with pytest.raises(ValidationError, match="not permitted"):
        CompensationSection.model_validate({"tool": "desk.undo", key: "none"})


def test_a_class_of_a_way_back_is_one_of_four() -> None:
    with pytest.raises(ValidationError, match="'irreversible'"):
        CompensationSection.model_validate({"class": "maybe"})

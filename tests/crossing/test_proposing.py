"""What is wrong with a proposal, by the schema of its tool."""

import pytest

from gateway.contracts.schemas import compile_tool
from gateway.crossing.proposing import faults
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import JsonObject
from gateway.types.tools import Effect
from tests.helpers.cases import a_contract

DEFINITION: JsonObject = {
    "name": "refund",
    "inputSchema": {
        "type": "object",
        "properties": {"amount": {"type": "number", "minimum": 1}, "key": {"type": "string"}},
        "required": ["amount", "key"],
        "additionalProperties": False,
    },
}
KEYED = a_contract(
    effect=Effect.WRITE,
    idempotency=Idempotency(inject=Injection(place=InjectPlace.ARGUMENT, name="/key")),
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"amount": 5}, ()),
        ({"amount": 5, "key": "the model's own"}, ()),
        ({"amount": "5"}, ("`/amount`: expected number, got string",)),
        ({"amount": 0}, ("`/amount`: expected at least 1, got integer",)),
        ({}, ("`/amount`: expected number, got nothing",)),
    ],
)
def test_a_proposal_is_judged_as_the_call_would_be(
    arguments: JsonObject, said: tuple[str, ...]
) -> None:
    assert faults(KEYED, compile_tool(DEFINITION), arguments) == said


def test_where_the_gateway_adds_no_key_the_proposal_has_to_have_all() -> None:
    plain = a_contract(effect=Effect.WRITE)
    assert faults(plain, compile_tool(DEFINITION), {"amount": 5}) == (
        "`/key`: expected string, got nothing",
    )

"""Effects, classes and names of tools."""

from gateway.types.tools import Effect, Risk
from tests.helpers.cases import a_contract, a_definition, a_prompt, a_resource, a_tool


def test_effects_and_classes_are_ordered_from_harmless_to_worst() -> None:
    assert sorted(Effect, key=lambda each: each.rank) == [
        Effect.READ,
        Effect.WRITE,
        Effect.DESTRUCTIVE,
    ]
    assert sorted(Risk, key=lambda each: each.rank) == [
        Risk.LOW,
        Risk.MEDIUM,
        Risk.HIGH,
        Risk.CRITICAL,
    ]


def test_tools_and_prompts_are_known_by_server_and_name_and_resources_by_their_uri() -> None:
    assert a_tool().key == "crm.find"
    assert a_prompt().key == "crm.greet"
    assert a_resource().key == "crm://notes/1"


def test_a_contract_has_the_schemas_that_were_reviewed() -> None:
    definition = a_definition(outputSchema={"type": "string"})
    contract = a_contract(a_tool(definition))
    assert contract.input_schema == definition["inputSchema"]
    assert contract.output_schema == {"type": "string"}
    assert a_contract().output_schema is None

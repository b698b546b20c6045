"""Step 1: resolve."""

import pytest

from gateway.case import Case
from gateway.results import envelope
from gateway.revision import Unreviewed
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Ambiguous, Effect, Kind, Risk, Tool
from tests.helpers.cases import (
    ALLOW_ALL,
    a_call,
    a_contract,
    a_prompt,
    a_resource,
    a_revision,
    a_tool,
)
from tests.helpers.shelves import Law, Shelf, a_resolve

FIND, GREET, NOTE = a_tool(), a_prompt(), a_resource()
NOTES = a_resource("crm://notes/{id}")
HELD = (FIND, GREET, NOTE, NOTES)
READS = "rules:\n  - {id: r, decision: allow, match: {resources: ['crm://*']}}\n"
ADMINS = (
    "rules:\n  - {id: r, decision: allow, match: {resources: ['crm://*'], roles: {any: [admin]}}}\n"
)


async def resolved(
    name: str,
    method: Method,
    params: JsonObject | None = None,
    *,
    policy: str = ALLOW_ALL,
    shelf: Shelf | None = None,
) -> Case | Refusal:
    law = Law(a_revision([a_contract(FIND)], policy))
    step = a_resolve(shelf or Shelf(HELD), law)
    return await step(a_call(name, method=method, params=params or {}))


@pytest.mark.parametrize(
    ("method", "found"),
    [
        (Method.CALL_TOOL, FIND),
        (Method.READ_RESOURCE, NOTE),
        (Method.SUBSCRIBE, NOTE),
        (Method.GET_PROMPT, GREET),
    ],
)
async def test_the_method_says_what_a_name_stands_for(method: Method, found: Tool) -> None:
    case = await resolved(found.exposed_name, method)
    assert isinstance(case, Case)
    assert case.tool is found


@pytest.mark.parametrize("tool", [GREET, NOTE])
async def test_a_prompt_or_resource_needs_no_contract_to_be_read(tool: Tool) -> None:
    method = Method.GET_PROMPT if tool.kind is Kind.PROMPT else Method.READ_RESOURCE
    case = await resolved(tool.exposed_name, method)
    assert isinstance(case, Case)
    contract = case.contract
    assert (contract.effect, contract.risk, contract.scopes) == (Effect.READ, Risk.LOW, set())
    assert contract.reviewed
    assert contract.pin == tool.pin


async def test_a_contract_of_a_tool_is_not_the_one_of_a_prompt_with_its_name() -> None:
    prompt = a_prompt("find")
    case = await resolved("crm__find", Method.GET_PROMPT, shelf=Shelf((FIND, prompt)))
    assert isinstance(case, Case)
    assert case.tool is prompt
    assert case.contract.place == "built in"


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ({"type": "ref/prompt", "name": "crm__greet"}, GREET),
        ({"type": "ref/resource", "uri": "crm://notes/{id}"}, NOTES),
        ({"type": "ref/resource", "uri": "crm://notes/1"}, NOTE),
    ],
)
async def test_a_completion_is_about_what_its_ref_names(ref: JsonObject, found: Tool) -> None:
    name = str(ref.get("name", ref.get("uri")))
    case = await resolved(name, Method.COMPLETE, {"ref": ref})
    assert isinstance(case, Case)
    assert case.tool is found


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (Method.CALL_TOOL, {}),
        (Method.READ_RESOURCE, {}),
        (Method.SUBSCRIBE, {}),
        (Method.GET_PROMPT, {}),
        (Method.COMPLETE, {"ref": {"type": "ref/prompt"}}),
        (Method.COMPLETE, {"ref": {"type": "ref/other"}}),
        (Method.COMPLETE, {}),
        (Method.GET_TASK, {}),
        (Method.UPDATE_TASK, {}),
        (Method.CANCEL_TASK, {}),
    ],
)
async def test_a_name_that_nothing_has_is_refused_as_if_hidden(
    method: Method, params: JsonObject
) -> None:
    refusal = await resolved("nothing", method, params)
    assert isinstance(refusal, Refusal)
    assert refusal.status is Status.UNKNOWN_TOOL
    assert refusal.hidden


def ambiguous() -> Shelf:
    mine = a_resource(exposed_name="weighbridge://crm/crm%3A%2F%2Fnotes%2F1")
    theirs = a_resource(server="erp", exposed_name="weighbridge://erp/crm%3A%2F%2Fnotes%2F1")
    return Shelf((), shared={NOTE.name: Ambiguous(uri=NOTE.name, candidates=(theirs, mine))})


async def test_a_uri_of_several_servers_is_refused_with_those_that_are_certain() -> None:
    refusal = await resolved(NOTE.name, Method.READ_RESOURCE, policy=READS, shelf=ambiguous())
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.code) == (Status.INVALID_ARGUMENTS, "ambiguous_uri")
    assert "`weighbridge://crm/crm%3A%2F%2Fnotes%2F1`, `weighbridge://erp" in refusal.next
    assert not refusal.hidden


async def test_a_uri_of_several_servers_is_unknown_to_those_who_may_see_none() -> None:
    """case: AUT-01"""
    refusal = await resolved(NOTE.name, Method.READ_RESOURCE, policy=ADMINS, shelf=ambiguous())
    assert isinstance(refusal, Refusal)
    assert refusal.hidden
    assert "weighbridge://" not in refusal.reason + refusal.next


async def test_a_servers_question_is_never_resolved() -> None:
    with pytest.raises(ValueError, match="goes to clients"):
        await resolved("x", Method.SAMPLE)


def test_every_request_that_a_client_can_name_has_its_words_for_nothing() -> None:
    for method in Method:
        if not method.is_ask:
            assert "`x`" in envelope.missing("x", method).reason


async def test_a_definition_that_nobody_reviewed_is_kept_once() -> None:
    kept: list[Tool] = []
    law = Law(a_revision([], unreviewed=Unreviewed.OBSERVE))
    step = a_resolve(Shelf(HELD), law)
    step.kept = kept.append
    for _ in range(2):
        found = await step(a_call(FIND.exposed_name))
        assert isinstance(found, Case)
        assert not found.contract.reviewed
    assert kept == [FIND]

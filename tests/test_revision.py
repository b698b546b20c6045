"""A revision and the schemas that it judges by."""

from gateway.types.tools import SourceTrust
from tests.helpers.cases import a_contract, a_definition, a_revision, a_tool


def test_a_contract_is_judged_by_the_schemas_that_were_compiled_with_it() -> None:
    contract = a_contract()
    revision = a_revision([contract])
    assert revision.schemas_for(contract) is revision.schemas[contract.pin]


def test_a_draft_is_compiled_once_and_stays_out_of_the_revision() -> None:
    draft = a_contract(a_tool(a_definition("new", {"a": {"type": "string"}})), reviewed=False)
    revision = a_revision([])
    schemas = revision.schemas_for(draft)
    assert schemas.input.is_valid({"a": "x"})
    assert not schemas.input.is_valid({"a": 1})
    assert revision.schemas_for(draft) is schemas
    assert revision.schemas == {}


def test_a_server_is_open_to_others_where_one_of_its_tools_is() -> None:
    mail = a_contract(a_tool(a_definition("read"), "mail"), result_trust=SourceTrust.EXTERNAL)
    other = a_contract(a_tool(a_definition("send"), "mail"))
    assert a_revision([a_contract(), mail, other]).open_servers == {"mail"}


def test_parts_can_be_swapped_for_one_judgement_and_the_revision_stays_as_it_is() -> None:
    revision, other = a_revision([a_contract()]), a_revision([])
    swapped = revision.swapped(policy=other.policy, templates={}, schemas={})
    assert (swapped.policy, swapped.schemas) == (other.policy, {})
    assert (swapped.id, swapped.contracts) == (revision.id, revision.contracts)
    assert revision.policy is not other.policy
    assert revision.schemas
    assert revision.swapped().policy is revision.policy

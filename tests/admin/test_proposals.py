import pytest

from gateway import jsontext
from gateway.admin import proposals
from gateway.admin.proposals import ProposalRefused
from gateway.types.json import JsonObject

ARGUMENTS: JsonObject = {
    "amount": 12345678901234567890123,
    "to": "a\u202eb\u200b",
    "lines": [{"note": "für"}, {}, []],
    "flag": True,
}
DOCUMENT: JsonObject = {"arguments": ARGUMENTS, "masked": []}


def test_a_draft_is_the_same_value_with_nothing_hidden_in_it() -> None:
    text = proposals.draft(DOCUMENT)
    assert jsontext.parse(text) == ARGUMENTS
    assert '"a\\u202eb\\u200b"' in text
    assert "für" in text
    assert '\n  "amount": 12345678901234567890123,\n' in text


def test_what_is_hidden_from_approvers_is_not_drafted_and_not_proposed() -> None:
    masked: JsonObject = {**DOCUMENT, "masked": ["/iban"]}
    nothing: JsonObject = {"v": 1}
    long: JsonObject = {"arguments": {"x": "y" * 70_000}, "masked": []}
    for document in (masked, None, nothing, long):
        assert proposals.draft(document) == ""
        with pytest.raises(ProposalRefused, match="say in words"):
            proposals.read("{}", document)


def test_a_proposal_is_read_exactly() -> None:
    assert proposals.read('{"amount": 1.10}', DOCUMENT) == {"amount": 1.1}


def test_what_the_tool_does_not_take_is_refused_field_by_field() -> None:
    proposals.check(())
    with pytest.raises(ProposalRefused, match="mend them") as refused:
        proposals.check(("`/amount`: expected number, got string",))
    assert refused.value.faults == ("`/amount`: expected number, got string",)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("{", "not JSON"),
        ('{"a": 1, "a": 2}', "not JSON"),
        ("[]", "JSON object"),
        ('{"a": "' + "x" * 70_000 + '"}', "not JSON"),
        (proposals.draft(DOCUMENT), "approve or deny it"),
    ],
)
def test_a_proposal_that_is_none_is_refused(text: str, mend: str) -> None:
    with pytest.raises(ProposalRefused, match=mend):
        proposals.read(text, DOCUMENT)

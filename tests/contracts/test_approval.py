"""What a contract says about asking people, between the file and the value."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contracts import approval, files
from gateway.contracts.pins import pin
from gateway.contracts.promises import ApprovalSection
from gateway.errors import FilesError
from gateway.types.approvals import ApprovalNotes, Execute
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect, Risk

DEFINITION: JsonObject = {"name": "pay"}
HEAD = f"""\
tools:
  desk.pay:
    pin: {pin(DEFINITION)}
    effect: write
    risk: low
    definition: {{name: pay}}
"""


def contract(notes: ApprovalNotes) -> Contract:
    return Contract(
        tool="desk.pay",
        pin=pin(DEFINITION),
        effect=Effect.WRITE,
        risk=Risk.LOW,
        definition=DEFINITION,
        approval=notes,
    )


def faults(section: str) -> list[str]:
    try:
        files.load(f"{HEAD}    approval: {section}\n", file="c.yaml")
    except FilesError as error:
        return [str(each) for each in error.errors]
    return []


def test_every_word_about_asking_people_is_read() -> None:
    (found,) = files.load(
        f"""{HEAD}
    approval:
      summary: Pay $args.amount $$ to $args.to
      show: {{Amount: /amount, To: /to/name}}
      confirm: /amount
      execute: on_approval
      on_disconnect: cancel
      on_pin_change: deny
""",
        file="c.yaml",
    )
    assert found.approval == ApprovalNotes(
        summary="Pay $args.amount $$ to $args.to",
        show={"Amount": "/amount", "To": "/to/name"},
        confirm="/amount",
        execute=Execute.ON_APPROVAL,
        cancel_on_disconnect=True,
        reapprove_on_pin_change=False,
    )


def test_without_a_section_the_gateway_s_own_words_are_used() -> None:
    (found,) = files.load(HEAD, file="c.yaml")
    assert found.approval == ApprovalNotes() == approval.notes(ApprovalSection())
    assert approval.section(found.approval) == {}
    assert "approval" not in files.dump([found])


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{summary: Pay $amount}", "`$amount` is no reference"),
        ("{summary: Paid as $result.id}", "`$result.id` is not known here"),
        ("{summary: Undo $old.id}", "`$old.id` is not known here"),
        ("{show: {All: /items/*/id}}", "has to name one field, so without `*`"),
        ("{show: {'': /amount}}", "is empty"),
        ("{confirm: amount}", "is not a JSON Pointer"),
        ("{execute: at_once}", "it should be `on_reentry` or"),
        ("{on_disconnect: stop}", "it should be `keep` or"),
        ("{sumary: x}", "did you mean `summary`"),
    ],
)
def test_a_section_that_can_t_be_kept_is_told_with_its_place(section: str, message: str) -> None:
    (said,) = faults(section)
    assert said.startswith("c.yaml:7:")
    assert message in said


NOTES = st.builds(
    ApprovalNotes,
    summary=st.sampled_from(["", "Pay", "Pay $args.amount to $args.to[0]", "100 $$\nor more"]),
    show=st.none()
    | st.dictionaries(st.text("Aé :", min_size=1, max_size=5), st.just("/a"), min_size=1),
    confirm=st.sampled_from(["", "/amount", "/a~1b/0"]),
    execute=st.sampled_from(Execute),
    cancel_on_disconnect=st.booleans(),
    reapprove_on_pin_change=st.booleans(),
)


@given(NOTES)
def test_notes_survive_the_file(notes: ApprovalNotes) -> None:
    (found,) = files.load(files.dump([contract(notes)]), file="c.yaml")
    assert replace(found, place="") == contract(notes)

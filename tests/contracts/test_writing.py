"""Contract files as they are written."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.contracts import files
from gateway.contracts.draft import draft
from gateway.contracts.pins import pin
from gateway.contracts.writing import dump
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract, Effect, Risk, Tool


def a_contract(definition: JsonObject) -> Contract:
    return Contract(
        tool=f"crm.{definition['name']}",
        pin=pin(definition),
        effect=Effect.READ,
        risk=Risk.LOW,
        definition=definition,
    )


def again(contract: Contract) -> Contract:
    (found,) = files.load(dump([contract]), file="c.yaml")
    return replace(found, place="")


def test_a_draft_says_why_it_guessed_and_is_marked_for_review() -> None:
    definition: JsonObject = {
        "name": "find",
        "description": "Finds.\n\nTwo lines.\n",
        "inputSchema": {"type": "object", "properties": {"email": {"type": "string"}}},
    }
    tool = Tool(
        server="crm", name="find", exposed_name="find", definition=definition, pin=pin(definition)
    )
    drafted = draft(tool)
    text = dump([drafted.contract], reasons={drafted.contract.tool: drafted.reasons})
    assert (
        text[text.index("tools:") :]
        == f"""\
tools:
  # read: its name starts with `find`
  # personal by its name: /email
  crm.find:
    pin: {drafted.contract.pin}
    effect: read
    risk: low
    reviewed: false
    sensitive:
      /email: personal
    definition:
      name: find
      description: |
        Finds.

        Two lines.
      inputSchema:
        type: object
        properties:
          email:
            type: string
"""
    )
    assert again(drafted.contract) == drafted.contract


def test_texts_that_yaml_readers_disagree_on_are_quoted() -> None:
    odd: list[Json] = ["no", "1e3", "012", "0o7", "", "~", "null", "<<", "=", "2026-01-01", "1:30"]
    contract = a_contract({"name": "t", "inputSchema": {"enum": odd}})
    assert again(contract) == contract


def test_nothing_invisible_reaches_the_reviewer() -> None:
    hidden = "Adds.\u200b\u202e\U000e0041\x1b[2J\ufeff"
    contract = a_contract({"name": "t", "description": hidden})
    text = dump([contract])
    assert text.isascii()
    assert "\\u200B" in text
    assert again(contract) == contract
    assert "é" in dump([a_contract({"name": "t", "description": "é"})])


def test_a_name_cannot_break_out_of_a_comment() -> None:
    contract = a_contract({"name": "t"})
    text = dump([contract], reasons={"crm.t": ["secret by its name: /a\n  evil: 1\u2028x"]})
    (found,) = files.load(text, file="c.yaml")
    assert replace(found, place="") == contract


def test_short_times_keep_their_unit() -> None:
    for seconds in (0.25, 1.5, 30.0, 90.0, 7200.0, 86400.0):
        contract = replace(a_contract({"name": "t"}), timeout_s=seconds)
        assert again(contract) == contract


def test_no_contracts_are_an_empty_map() -> None:
    assert files.load(dump([]), file="c.yaml") == ()


texts = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(texts, values)
@example("", "\n")
@example("\n\n", {" \n": "\n "})
def test_any_definition_survives_the_file(description: str, value: Json) -> None:
    contract = a_contract({"name": "t", "description": description, "inputSchema": value})
    assert pin(again(contract).definition) == contract.pin

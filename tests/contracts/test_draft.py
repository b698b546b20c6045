"""Drafted contracts."""

from typing import Any

import pytest

from gateway.contracts.draft import draft, reasons
from gateway.contracts.pins import pin
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Risk, Sensitivity, SourceTrust, Tool


def a_tool(name: str, properties: Any = None, **annotations: bool | None) -> Tool:
    definition: JsonObject = {
        "name": name,
        "inputSchema": {"type": "object", "properties": properties or {}},
        "annotations": dict(annotations),
        "_meta": {"k": 1},
    }
    return Tool(
        server="crm", name=name, exposed_name=name, definition=definition, pin=pin(definition)
    )


@pytest.mark.parametrize(
    ("name", "effect", "risk"),
    [
        ("get_customer", Effect.READ, Risk.LOW),
        ("searchWeb", Effect.READ, Risk.LOW),
        ("list-deleted-items", Effect.READ, Risk.LOW),
        ("get_or_create", Effect.WRITE, Risk.HIGH),
        ("fetch_and_update", Effect.WRITE, Risk.HIGH),
        ("send_mail", Effect.WRITE, Risk.HIGH),
        ("frobnicate", Effect.WRITE, Risk.HIGH),
        ("customer_get", Effect.WRITE, Risk.HIGH),
        ("", Effect.WRITE, Risk.HIGH),
        ("deleteItem", Effect.DESTRUCTIVE, Risk.CRITICAL),
        ("get_then_remove", Effect.DESTRUCTIVE, Risk.CRITICAL),
        ("DROP_TABLE", Effect.DESTRUCTIVE, Risk.CRITICAL),
    ],
)
def test_a_guess_from_the_name_errs_on_the_side_of_caution(
    name: str, effect: Effect, risk: Risk
) -> None:
    drafted = draft(a_tool(name))
    assert (drafted.contract.effect, drafted.contract.risk) == (effect, risk)
    assert drafted.reasons


@pytest.mark.parametrize(
    ("annotations", "effect", "risk"),
    [
        ({"readOnlyHint": False}, Effect.WRITE, Risk.HIGH),
        ({"destructiveHint": True}, Effect.DESTRUCTIVE, Risk.CRITICAL),
        ({"destructiveHint": True, "readOnlyHint": True}, Effect.READ, Risk.LOW),
        ({"openWorldHint": True}, Effect.READ, Risk.MEDIUM),
        ({"openWorldHint": False}, Effect.READ, Risk.LOW),
    ],
)
def test_annotations_raise_a_guess(annotations: Any, effect: Effect, risk: Risk) -> None:
    contract = draft(a_tool("get_customer", **annotations)).contract
    assert (contract.effect, contract.risk) == (effect, risk)


@pytest.mark.parametrize("name", ["send_mail", "delete_item"])
def test_annotations_never_lower_a_guess(name: str) -> None:
    """case: APR-02"""
    plain = draft(a_tool(name)).contract
    harmless = draft(
        a_tool(name, readOnlyHint=True, destructiveHint=False, idempotentHint=True)
    ).contract
    assert (harmless.effect, harmless.risk) == (plain.effect, plain.risk)


@pytest.mark.parametrize("argument", ["sql", "command", "force", "dryRun"])
def test_a_read_that_takes_a_program_or_a_force_is_a_write(argument: str) -> None:
    drafted = draft(a_tool("find_rows", {argument: {"type": "string"}}))
    assert drafted.contract.effect is Effect.WRITE
    assert any(argument.lower()[:3] in reason for reason in drafted.reasons)


def test_arguments_that_promise_secrets_or_persons_are_sensitive() -> None:
    contract = draft(
        a_tool(
            "create_user",
            {
                "apiKey": {},
                "user": {"properties": {"e-mail": {}, "pass/word": {}, "password": {}}},
                "keyword": {},
                "shipping": {},
            },
        )
    ).contract
    assert contract.sensitive == {
        "/apiKey": Sensitivity.SECRET,
        "/user/e-mail": Sensitivity.PERSONAL,
        "/user/password": Sensitivity.SECRET,
    }


NUMBER: JsonObject = {"type": "integer"}
MAYBE: JsonObject = {"anyOf": [{"type": "integer"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("maxTokens", {}),
        ("max_output_tokens", {}),
        ("num_tokens", {}),
        ("token_count", {}),
        ("tokens_used", {}),
        ("prompt_tokens", {}),
        ("budget_tokens", {}),
        ("tokenLimit", {}),
        ("nextToken", {}),
        ("next_page_token", {}),
        ("tokens", NUMBER),
        ("thinking_tokens", MAYBE),
        ("token", {"type": ["number", "null"]}),
        ("reset_password", {"type": "boolean"}),
    ],
)
def test_what_is_counted_or_switched_is_no_secret(name: str, schema: JsonObject) -> None:
    assert draft(a_tool("get_customer", {name: schema})).contract.sensitive == {}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("token", {}),
        ("tokens", {"type": "array"}),
        ("access_token", {"type": "string"}),
        ("refreshToken", {}),
        ("per_user_token", {}),
        ("token", {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/t"}]}),
        ("token", {"type": "null"}),
        ("pin", NUMBER),
        ("cvv", NUMBER),
        ("max_password", {}),
    ],
)
def test_what_could_open_something_stays_a_secret(name: str, schema: JsonObject) -> None:
    sensitive = draft(a_tool("get_customer", {name: schema})).contract.sensitive
    assert list(sensitive.values()) == [Sensitivity.SECRET]


def test_a_draft_is_not_reviewed_and_holds_only_what_is_pinned() -> None:
    tool = a_tool("get_customer")
    contract = draft(tool).contract
    assert not contract.reviewed
    assert contract.tool == "crm.get_customer"
    assert contract.pin == tool.pin == pin(contract.definition)
    assert "_meta" not in contract.definition


def test_odd_definitions_do_not_stop_a_draft() -> None:
    nested: Any = {}
    for _ in range(50):
        nested = {"properties": {"a": nested}}
    odd: list[Json] = [None, [], {"properties": []}, nested]
    for schema in odd:
        definition: JsonObject = {"name": "x", "inputSchema": schema, "annotations": [1]}
        tool = Tool(server="s", name="x", exposed_name="x", definition=definition, pin="")
        assert draft(tool).contract.effect is Effect.WRITE


@pytest.mark.parametrize("name", ["send_mail", "delete_item"])
def test_a_drafted_write_can_not_be_undone_until_somebody_says_how(name: str) -> None:
    assert draft(a_tool(name)).contract.compensation == Compensation(
        kind=CompensationClass.IRREVERSIBLE, reason="nobody has looked for a way back yet"
    )


def test_a_drafted_read_needs_no_way_back() -> None:
    assert draft(a_tool("get_item")).contract.compensation is None


@pytest.mark.parametrize(
    ("hint", "trust"),
    [(True, SourceTrust.EXTERNAL), (False, SourceTrust.TENANT), (None, SourceTrust.TENANT)],
)
def test_what_comes_from_an_open_world_can_be_written_by_anybody(
    hint: bool | None, trust: SourceTrust
) -> None:
    made = draft(a_tool("get_page", openWorldHint=hint))
    assert made.contract.result_trust is trust
    assert any("external" in reason for reason in made.reasons) is (hint is True)


def test_each_guess_of_a_draft_names_its_line_and_value() -> None:
    guesses = reasons(a_tool("create_user", {"email": {}}, openWorldHint=True))
    assert [(guess.field, guess.value) for guess in guesses if not guess.offered] == [
        ("effect", "write"),
        ("sensitive", {"/email": "personal"}),
        ("results.trust", "external"),
    ]


def test_what_comes_from_an_address_that_is_given_can_be_written_by_anybody() -> None:
    made = draft(a_tool("fetch", {"url": {"type": "string"}}))
    assert made.contract.result_trust is SourceTrust.EXTERNAL
    assert "external: it goes to the `url` that it is given" in made.reasons

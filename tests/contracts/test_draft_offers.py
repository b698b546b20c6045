"""What is offered beside a draft."""

from gateway.contracts.draft import draft, reasons
from gateway.contracts.guess import Guess
from gateway.contracts.pins import pin
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Tool


def offered(name: str, *arguments: str, **more: Json) -> dict[str, Guess]:
    properties: JsonObject = {argument: {"type": "string"} for argument in arguments}
    definition: JsonObject = {"name": name, "inputSchema": {"properties": properties}, **more}
    return offered_for(definition)


def offered_for(definition: JsonObject) -> dict[str, Guess]:
    tool = Tool(
        server="s",
        name=str(definition["name"]),
        exposed_name="t",
        definition=definition,
        pin=pin(definition),
    )
    return {guess.field: guess for guess in reasons(tool) if guess.offered}


def test_wording_and_manner_make_no_other_call() -> None:
    guess = offered("create_issue", "repo", "title", "comment", "dryRun")["idempotency.intent"]
    assert guess.value == ["/repo", "/title"]
    assert guess.why == (
        "the same call by `/repo`, `/title`; `comment`, `dryRun` is wording or manner"
    )


def test_a_key_of_the_callers_is_enough() -> None:
    found = offered("send_mail", "to", "text", "request/id", "idempotencyKey")
    assert found["idempotency.from"].value == "/request~1id"
    assert "idempotency.intent" not in found


def test_a_read_is_offered_no_keys() -> None:
    assert offered("get_issue", "repo", "request_id") == {}


def test_a_switch_that_stops_at_nothing_raises() -> None:
    definition: JsonObject = {
        "name": "push",
        "inputSchema": {"properties": {"force": {"type": "boolean"}, "a-ll": {"type": "boolean"}}},
    }
    assert offered_for(definition)["risk_when"].value == [
        {
            "when": "has(args.force) && args.force",
            "effect": "destructive",
            "risk": "critical",
            "reason": "with force",
        }
    ]


def test_scopes_are_those_that_the_definition_speaks_of() -> None:
    schemes: Json = [{"type": "oauth2", "scopes": ["mail.send", "bad scope"]}]
    assert offered("x", _meta={"securitySchemes": schemes})["scopes"].value == ["mail.send"]
    told = offered("x", description="Sends. Requires the `chat:write` scope, or scope: im:write.")
    assert told["scopes"].value == ["chat:write", "im:write"]
    assert "scopes" not in offered("x", description="The scope: of this is small")


def test_a_secret_of_a_result_is_offered_to_be_kept_back() -> None:
    schema: Json = {"properties": {"user": {"properties": {"api_key": {}, "email": {}}}}}
    assert offered("get_user", outputSchema=schema)["results.sensitive"].value == {
        "/user/api_key": "secret"
    }


def test_nothing_that_is_only_offered_is_in_the_draft() -> None:
    definition: JsonObject = {
        "name": "create_issue",
        "description": "Requires the `repo:write` scope",
        "inputSchema": {"properties": {"title": {}, "force": {"type": "boolean"}}},
    }
    made = draft(
        Tool(server="s", name="create_issue", exposed_name="t", definition=definition, pin="p")
    )
    assert {guess.field for guess in made.guesses if guess.offered} >= {"scopes", "risk_when"}
    assert not made.contract.scopes
    assert not made.contract.raises
    assert not made.contract.idempotency.is_declared
    assert not any("scope" in why for why in made.reasons)

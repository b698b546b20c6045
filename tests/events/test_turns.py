"""Model turns."""

import json

from gateway.events import turns
from gateway.events.redact import Redactor
from gateway.events.turns import Turn
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from tests.helpers.cases import NOW
from tests.helpers.runs import a_run


def described(request: JsonObject, result: JsonObject | None) -> JsonObject:
    return turns.described(request, result, digest=digest, text=lambda text: text)


def digest(value: Json) -> str:
    return f"<{value}>"


def test_an_answer_is_described_by_model_reason_counts_and_digests() -> None:
    asked: JsonObject = {
        "messages": [{"role": "user", "content": "hi"}],
        "systemPrompt": "s",
        "maxTokens": 9,
    }
    said: JsonObject = {
        "model": "m",
        "stopReason": "endTurn",
        "content": "yes",
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }
    assert described(asked, said) == {
        "model": "m",
        "stop_reason": "endTurn",
        "messages": [{"role": "user", "digest": "<hi>"}],
        "tool_calls": [],
        "input_tokens": 4,
        "output_tokens": 2,
        "max_tokens": 9,
        "system_digest": "<s>",
        "output_digest": "<yes>",
    }


def test_proposed_tool_calls_are_named_without_their_input() -> None:
    use: JsonObject = {"type": "tool_use", "name": "find", "id": "u1", "input": {"q": "x"}}
    said = described({}, {"content": [{"type": "text", "text": "t"}, use]})
    assert said["tool_calls"] == [{"name": "find", "id": "u1"}]


def test_members_of_a_wrong_type_are_left_out() -> None:
    asked: JsonObject = {"messages": "x", "maxTokens": -1}
    said = described(asked, {"model": 7, "usage": {"inputTokens": "4"}, "_meta": []})
    assert said == {"model": "", "stop_reason": "", "messages": [], "tool_calls": []}


def test_a_message_of_a_wrong_form_is_still_counted() -> None:
    assert described({"messages": [3, {"role": "boss"}]}, None)["messages"] == [
        {"role": "", "digest": "<None>"},
        {"role": "", "digest": "<None>"},
    ]


REDACTOR = Redactor(lambda tenant: tenant.encode())
TURN = Turn(
    provider="openai",
    model="gpt-x",
    stop_reason="tool_calls",
    tool_calls=(("crm__find", "call_1"),),
    input_tokens=812,
    output_tokens=44,
    duration_ms=900,
    input=({"messages": ["my card is 4111111111111111"]},),
    output=(None,),
)


def told(turn: Turn) -> Event:
    run = a_run(tokens=856, phase=Phase.ACTING)
    return turns.told(turn, run, REDACTOR, id="e1", at=NOW, actor=None)


def test_what_a_host_tells_of_a_turn_is_kept_without_a_word_of_it() -> None:
    event = told(TURN)
    assert (event.kind, event.stage, event.phase) == ("model_turn", "recorded", "acting")
    digests = {name: event.body.pop(f"{name}_digest") for name in ("input", "output")}
    assert event.body == {
        "provider": "openai",
        "model": "gpt-x",
        "stop_reason": "tool_calls",
        "tool_calls": [{"name": "crm__find", "id": "call_1"}],
        "tokens": 856,
        "input_tokens": 812,
        "output_tokens": 44,
        "duration_ms": 900,
    }
    assert digests["input"] == REDACTOR.digest(TURN.input[0], tenant="acme")
    assert digests["output"] == REDACTOR.digest(None, tenant="acme")


def test_a_digest_of_the_hosts_own_is_kept_as_it_is_and_none_is_made_up() -> None:
    given = "sha256:" + "a" * 64
    event = told(Turn(model="m", input_digest=given))
    assert (event.body["input_digest"], "output_digest" in event.body) == (given, False)
    assert "input_tokens" not in event.body


def test_names_and_errors_of_hosts_are_redacted_and_cut() -> None:
    key = "sk-ant-api03-" + "a1B2" * 24
    event = told(Turn(model=key, error=f"refused {key}", tool_calls=((key, "n" * 500),)))
    assert key not in json.dumps(event.body)
    (call,) = event.body["tool_calls"] if isinstance(event.body["tool_calls"], list) else []
    assert isinstance(call, dict)
    assert len(str(call["id"])) == 128


def test_what_was_spent_is_the_sum_of_what_is_told() -> None:
    assert (TURN.tokens, Turn(model="m").tokens, Turn(model="m", output_tokens=3).tokens) == (
        856,
        0,
        3,
    )


def every_event() -> tuple[Event, ...]:
    """Return told turns with all and with hardly any of their members."""
    return told(TURN), told(Turn(model="m", error="down"))

"""What an event keeps of a model's turn: who answered, how much, and digests; never a text.

A turn passes the gateway where a server asks for it (`sampling/createMessage`); of others, hosts
tell over `/v1`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from gateway.events.forms import COUNT, TEXT, about, an_object
from gateway.events.redact import Redactor
from gateway.types.actors import Actor
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Run
from gateway.types.values import value

_NAME: Final = 128
_REASON: Final = 1_000
_MOST: Final = 100  # messages, and tool calls, of one turn
# As clients spell them: MCP names no member for token counts (2025-11-25, client/sampling).
_TOKENS: Final = {
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
}


@value
class Turn:
    """One turn of a model, as a host tells of it; a digest is its own, else a value is here."""

    provider: str = ""
    model: str
    stop_reason: str = ""
    tool_calls: tuple[tuple[str, str], ...] = ()  # (name, id) of each that the model wants made
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: int | None = None
    error: str = ""  # why there is no answer
    input_digest: str = ""
    output_digest: str = ""
    input: tuple[Json, ...] = ()  # one, of which the gateway makes the digest; none otherwise
    output: tuple[Json, ...] = ()

    @property
    def tokens(self) -> int:
        """How many were spent on it."""
        return (self.input_tokens or 0) + (self.output_tokens or 0)


def told(
    turn: Turn, run: Run, redactor: Redactor, *, id: str, at: datetime, actor: Actor | None
) -> Event:
    """Tell of a turn in a run, as the run is after it."""
    body: JsonObject = {
        "provider": _short(turn.provider, redactor),
        "model": _short(turn.model, redactor),
        "stop_reason": _short(turn.stop_reason, redactor),
        "tool_calls": [
            {"name": _short(name, redactor), "id": _short(id, redactor)}
            for name, id in turn.tool_calls[:_MOST]
        ],
        "tokens": run.tokens,
    }
    counts = ("input_tokens", "output_tokens", "duration_ms")
    body |= {name: count for name in counts if (count := getattr(turn, name)) is not None}
    for name, given, whole in (
        ("input_digest", turn.input_digest, turn.input),
        ("output_digest", turn.output_digest, turn.output),
    ):
        digest = redactor.digest(whole[0], tenant=run.tenant) if whole else given
        if digest:
            body[name] = digest
    if turn.error:
        body["error"] = redactor.text(turn.error, tenant=run.tenant)[:_REASON]
    return Event(
        id=id,
        at=at,
        kind=EventKind.MODEL_TURN,
        stage=Stage.RECORDED,
        body=body,
        tenant=run.tenant,
        run=run.run_id,
        phase=str(run.phase),
        actor=actor,
    )


def _short(text: str, redactor: Redactor) -> str:
    return redactor.text(text)[:_NAME]


def described(
    request: JsonObject,
    result: JsonObject | None,
    *,
    digest: Callable[[Json], str],
    text: Callable[[str], str],
) -> JsonObject:
    """Return the members about one `sampling/createMessage`; `text` redacts, `digest` is keyed."""
    answer = result or {}
    said: JsonObject = {
        "model": text(_text(answer.get("model"))[:_NAME]),
        "stop_reason": text(_text(answer.get("stopReason"))[:_NAME]),
        "messages": [_message(message, digest) for message in _list(request.get("messages"))],
        "tool_calls": [
            {
                "name": text(_text(block.get("name"))[:_NAME]),
                "id": text(_text(block.get("id"))[:_NAME]),
            }
            for block in _blocks(answer.get("content"))
            if isinstance(block, dict) and block.get("type") == "tool_use"
        ],
        **_usage(answer),
    }
    maximum = request.get("maxTokens")
    if type(maximum) is int and maximum >= 0:
        said["max_tokens"] = maximum
    if "systemPrompt" in request:
        said["system_digest"] = digest(request["systemPrompt"])
    if "content" in answer:
        said["output_digest"] = digest(answer["content"])
    return said


def _message(message: Json, digest: Callable[[Json], str]) -> JsonObject:
    said = message if isinstance(message, dict) else {}
    role = said.get("role")
    known = role if role in ("user", "assistant") else ""
    return {"role": known, "digest": digest(said.get("content"))}


def _usage(answer: JsonObject) -> JsonObject:
    meta = answer.get("_meta")
    places = (answer, meta if isinstance(meta, dict) else {})
    found: JsonObject = {}
    for place in places:
        usage = place.get("usage")
        for name, spellings in _TOKENS.items():
            for spelling in spellings if isinstance(usage, dict) else ():
                count = usage.get(spelling) if isinstance(usage, dict) else None
                if type(count) is int and count >= 0:
                    found.setdefault(name, count)
    return found


def _blocks(content: Json) -> Sequence[Json]:
    return _list(content) if isinstance(content, list) else [content]


def _list(value: Json) -> Sequence[Json]:
    return value[:_MOST] if isinstance(value, list) else ()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


TOLD: Final = an_object(
    {
        "provider": about(TEXT, "of the model, as the host names it"),
        "model": TEXT,
        "stop_reason": about(TEXT, "as its provider says it"),
        "tool_calls": about(
            {"type": "array", "items": an_object({"name": TEXT, "id": TEXT}), "maxItems": _MOST},
            "what the model wants called, by the names and ids that the host has for it",
        ),
        "tokens": about(COUNT, "of the run in all, after it"),
        "input_tokens": COUNT,
        "output_tokens": COUNT,
        "duration_ms": COUNT,
        "input_digest": about(TEXT, "keyed where the gateway made it, else the host's own"),
        "output_digest": about(TEXT, "the same, of what the model said"),
        "error": about(TEXT, "why there is no answer, redacted"),
    },
    frozenset(
        {"input_tokens", "output_tokens", "duration_ms", "input_digest", "output_digest", "error"}
    ),
)

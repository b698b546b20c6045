"""Judged calls out of the log, as rules and tests are drafted from them.

Only how they were judged is read: one event a call, whatever became of it later.
"""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.cli.search import each
from gateway.events import levels, markers
from gateway.policy.methods import kind_of
from gateway.policy.past import Past
from gateway.store.events import EventFilter, EventLog
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk

_REDACTED: Final = "it was redacted"
_CUT: Final = "it was too long to be kept"
_LEFT_OUT: Final = "its call is kept at the level `metadata`"
_IN_TEXT: Final = re.compile(r"\[redacted[:\]]|" + re.escape(f'"{markers.KEY}"'))
_SHORTENED: Final = re.compile(r"… \[\d+ more characters\]\Z")
_ARGUMENTS: Final = "/arguments"
# Of a run, what a test has under the name that its snapshot has.
_TOLD: Final = (
    *("template", "mode", "phase", "bound_by", "resume_phase", "objective", "task"),
    *("evidence", "calls", "tokens", "open_ops", "pending_approvals", "verified", "succeeded"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which calls are wanted; an empty field matches all, `until` itself is left out."""

    since: datetime | None = None
    until: datetime | None = None
    tenant: str = ""
    tool: str = ""
    run: str = ""
    call: str = ""


async def pasts(log: EventLog, span: Span) -> AsyncIterator[Past]:
    """Yield the judged calls of a span in the order of the log. Raises StoreUnavailable."""
    wanted = EventFilter(
        kind=EventKind.AUTHORIZATION.value,
        stage=Stage.DECIDED.value,
        since=span.since,
        until=span.until,
        tenant=span.tenant,
        tool=span.tool,
        run=span.run,
        call=span.call,
    )
    async for event in each(log, wanted):
        read = event.json()
        if "arguments" in _object(read.get("body")):  # else it is about a question of a server
            yield past(read)


def past(event: JsonObject) -> Past:
    """Return the call that an `authorization` event tells of."""
    body = _object(event.get("body"))
    snapshot, inputs = _object(body.get("snapshot")), _object(body.get("inputs"))
    method = Method(_text(body.get("method")))
    arguments = _object(body.get("arguments"))
    run, gone = _run(_object(snapshot.get("run")), is_tainted=snapshot.get("tainted") is True)
    phase = _text(inputs.get("phase")) or _text(event.get("phase"))
    received = snapshot.get("received_us")
    before = timedelta(microseconds=received if isinstance(received, int) else 0)
    effect, risk = _text(body.get("effect")), _text(body.get("risk"))
    return Past(
        call=_text(event.get("call")),
        at=datetime.fromisoformat(_text(event.get("ts"))) - before,
        actor=_actor(_object(event.get("actor")), _text(event.get("tenant"))),
        kind=Kind(text) if (text := _text(snapshot.get("kind"))) else kind_of(method),
        method=method,
        key=_text(body.get("tool")),
        server=_text(body.get("server")),
        arguments=arguments,
        unknown=dict([*_named(event), *_places(arguments, "")]),
        phase=Phase(phase) if phase else Phase.ACTING,
        run=run,
        gone=gone,
        cause=Cause(_text(body.get("cause")) or Cause.CALLER),
        pin=_text(snapshot.get("pin")),
        decided=DecisionEffect(_text(body.get("decision"))),
        rule=_text(body.get("rule")),
        code=_text(body.get("code")),
        does=Effect(effect) if effect else None,
        risk=Risk(risk) if risk else None,
    )


def _named(event: JsonObject) -> Iterator[tuple[JsonPointer, str]]:
    """Yield the places in the arguments that an event itself names as redacted."""
    for name in ("masked", "erased"):
        listed = event.get(name)
        for said in listed if isinstance(listed, list) else []:
            pointer = _text(said)
            if pointer.startswith(f"{_ARGUMENTS}/") or pointer == _ARGUMENTS:
                yield pointer.removeprefix(_ARGUMENTS), _REDACTED


def _places(value: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, str]]:
    """Yield the places of a value that hold something else than what was there."""
    match value:
        case dict() if value.get(markers.KEY) == levels.KIND:
            yield pointer, _LEFT_OUT
        case dict() if markers.KEY in value or any("[redacted" in key for key in value):
            yield pointer, _REDACTED
        case dict() if value.keys() == {"$cut"}:
            yield pointer, _CUT
        case dict():
            for key, member in value.items():
                yield from _places(member, f"{pointer}/{jsontext.escape(key)}")
        case list():
            for at, item in enumerate(value):
                yield from _places(item, f"{pointer}/{at}")
        case str() if _SHORTENED.search(value):
            yield pointer, _CUT
        case str() if _IN_TEXT.search(value):
            yield pointer, _REDACTED
        case _:
            return


def _run(said: JsonObject, *, is_tainted: bool) -> tuple[JsonObject | None, tuple[str, ...]]:
    """Return a run as a test has it, and the names of fields whose values are not known."""
    if not said:
        return ({"tainted": True} if is_tainted else None), ()
    found: JsonObject = {name: said[name] for name in _TOLD if said.get(name)}
    if said.get("phase") != Phase.AWAITING_APPROVAL.value:
        found.pop("resume_phase", None)
    if said.get("stop_reason"):
        found["stop"] = said["stop_reason"]
    elif said.get("paused"):
        found["paused"] = True
    if is_tainted or said.get("tainted"):
        found["tainted"] = True
    gone: list[str] = []
    for name, told in _object(said.get("fields")).items():
        field = _object(told)
        if "value" not in field or [*_places(field["value"], "")]:
            gone.append(f"`{name}`")
            continue
        of = "said" if field.get("source") == "model" else "fields"
        found[of] = {**_object(found.get(of)), name: field["value"]}
    return found, tuple(gone)


def _actor(said: JsonObject, tenant: str) -> Actor:
    return Actor(
        user=_text(said.get("user")),
        tenant=tenant,
        roles=_texts(said.get("roles")),
        scopes=_texts(said.get("scopes")),
        client=_text(said.get("client")),
        method=_text(said.get("auth_method")),
        issuer=_text(said.get("issuer")),
    )


def _text(said: Json) -> str:
    return said if isinstance(said, str) else ""


def _texts(said: Json) -> frozenset[str]:
    return frozenset(map(_text, said)) if isinstance(said, list) else frozenset()


def _object(said: Json) -> JsonObject:
    return said if isinstance(said, dict) else {}

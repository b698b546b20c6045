"""From events as they are kept to the parts of a recorded call."""

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from gateway.policy.methods import kind_of
from gateway.replay import unknown, unsealed
from gateway.replay.types import (
    Asked,
    Ended,
    Judgement,
    Recorded,
    SideEffect,
    Taken,
    Word,
    Written,
)
from gateway.store.unsealing import Unsealed
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import replaced, value

_CHOICES: Final = frozenset({Stage.VOTED, Stage.DECIDED, Stage.VOIDED})


@value
class Told:
    """One event, as far as it is looked at."""

    seq: int
    kind: str
    stage: str
    call: str
    body: JsonObject
    unsealed: Unsealed | None = None  # what is sealed beside it, where that was asked for
    whole: JsonObject = field(default_factory=dict[str, Json])

    @property
    def is_decision(self) -> bool:
        """Whether it says how a call was judged; questions of servers are of that kind as well."""
        is_kind = self.kind == EventKind.AUTHORIZATION and self.stage == Stage.DECIDED
        return is_kind and "decision" in self.body and "arguments" in self.body

    @property
    def is_end(self) -> bool:
        """Whether it is the final event of a call."""
        return self.kind == EventKind.TOOL_CALL and self.stage in (Stage.FINISHED, Stage.FAILED)


def told(event: JsonObject, unsealed: Unsealed | None = None) -> Told:
    """Return what an event, read with its number, says of which call."""
    body = event.get("body")
    return Told(
        seq=_whole(event.get("seq")),
        kind=_text(event.get("kind")),
        stage=_text(event.get("stage")),
        call=_text(event.get("call")),
        body=body if isinstance(body, dict) else {},
        unsealed=unsealed,
        whole=event,
    )


def recorded(event: Told) -> Recorded:
    """Return the call that an `authorization` event tells of, as far as it was then."""
    whole, body = event.whole, event.body
    snapshot = _object(body.get("snapshot"))
    method = Method(_text(body.get("method")))
    kind = Kind(text) if (text := _text(snapshot.get("kind"))) else kind_of(method)
    arguments = _object(body.get("arguments"))
    gone = unknown.places(arguments)
    for name in ("masked", "erased"):
        gone = unknown.noted(_texts(whole.get(name)), "/arguments") | gone
    received = timedelta(microseconds=_whole(snapshot.get("received_us")))
    tenant = _text(whole.get("tenant"))
    call = Recorded(
        seq=event.seq,
        id=_text(whole.get("id")),
        call=event.call,
        at=_moment(whole.get("ts")) - received,
        decided=_moment(whole.get("ts")),
        tenant=tenant,
        actor=_known(_actor(_object(whole.get("actor")), tenant)),
        method=method,
        kind=kind,
        tool=_text(body.get("tool")),
        server=_text(body.get("server")),
        name=_text(body.get("name")),
        arguments=arguments,
        unknown=gone,
        run=_text(whole.get("run")),
        parent=_text(whole.get("parent")),
        cause=_text(body.get("cause")),
        revision=_text(body.get("revision")),
        contract=_text(body.get("contract")),
        judged=_judged(whole, body),
        inputs=_object(body.get("inputs")),
        snapshot=snapshot,
        digest=_text(body.get("arguments_digest")),
        would=_text(_object(body.get("observed")).get("would")),
    )
    return unsealed.known(call, event.unsealed)


def with_event(call: Recorded, event: Told) -> Recorded:
    """Return a call with what one more event says of it."""
    body = event.body
    if event.kind == EventKind.TOOL_CALL and event.stage == Stage.STARTED:
        final = body.get("arguments")
        return replaced(call, is_sent=True, final=final if isinstance(final, dict) else None)
    if event.is_end:
        original = body.get("original")
        ended = Ended(
            status=Status(_text(body.get("status"))),
            code=_text(body.get("code")),
            executed=Execution(_text(body.get("executed"))),
            seq=event.seq,
            rule=_text(body.get("rule")),
            result=original if isinstance(original, dict) else None,
        )
        return replaced(
            call, ended=ended, digest=_text(body.get("arguments_digest")) or call.digest
        )
    if event.kind == EventKind.SIDE_EFFECT:
        return replaced(call, effects=(*call.effects, _side_effect(event)))
    if event.kind == EventKind.APPROVAL:
        return replaced(call, asked=_asked(call.asked, event))
    return call


def _judged(whole: JsonObject, body: JsonObject) -> Judgement:
    effect, risk = _text(body.get("effect")), _text(body.get("risk"))
    return Judgement(
        effect=DecisionEffect(_text(body.get("decision"))),
        status=Status(_text(body.get("status"))),
        code=_text(body.get("code")),
        reason=_text(body.get("reason")),
        rule=_text(body.get("rule")),
        place=_text(body.get("place")),
        matched=tuple(_texts(body.get("matched"))),
        does=Effect(effect) if effect else None,
        risk=Risk(risk) if risk else None,
        phase=_text(whole.get("phase")),
        constraints=tuple(
            Written(
                pointer=_text(each.get("pointer")),
                kind=_text(each.get("kind")),
                rule=_text(each.get("rule")),
                is_known=False,
            )
            for each in _objects(body.get("constraints"))
        ),
        limits=tuple(
            Taken(
                id=_text(each.get("id")),
                rule=_text(each.get("rule")),
                amount=_number(each.get("amount")),
            )
            for each in _objects(body.get("limits"))
        ),
        keep=tuple(_texts(body.get("kept"))),
        shadow=tuple(
            (_text(each.get("rule")), _text(each.get("effect")))
            for each in _objects(body.get("shadow"))
        ),
    )


def _side_effect(event: Told) -> SideEffect:
    body, written = event.body, _object(event.body.get("object"))
    return SideEffect(
        op=_text(body.get("op")),
        outcome=_text(body.get("outcome")),
        executed=Execution(_text(body.get("executed"))),
        object_type=_text(written.get("type")),
        object_id=_text(written.get("id")),
        compensates=_text(body.get("compensates")),
        seq=event.seq,
    )


def _asked(before: Asked | None, event: Told) -> Asked:
    body = event.body
    approval, choice = _text(body.get("approval")), _text(body.get("choice"))
    words = before.words if before is not None and before.approval == approval else ()
    if choice and event.stage in _CHOICES:
        word = Word(
            by=_text(_object(event.whole.get("actor")).get("user")),
            choice=choice,
            at=_moment(event.whole.get("ts")),
            reason=_text(body.get("reason")),
            seq=event.seq,
        )
        words = (*words, word)
    state, op = _text(body.get("status")), _text(body.get("op"))
    return Asked(approval=approval, state=state, words=words, op=op)


@lru_cache(maxsize=4096)
def _known(actor: Actor) -> Actor:
    """Return the same actor for all that are equal: rules are matched once for each of them."""
    return actor


def _actor(said: JsonObject, tenant: str) -> Actor:
    return Actor(
        user=_text(said.get("user")),
        tenant=tenant,
        roles=frozenset(_texts(said.get("roles"))),
        scopes=frozenset(_texts(said.get("scopes"))),
        client=_text(said.get("client")),
        method=_text(said.get("auth_method")),
        issuer=_text(said.get("issuer")),
    )


def _moment(said: Json) -> datetime:
    return datetime.fromisoformat(_text(said))


def _text(said: Json) -> str:
    return said if isinstance(said, str) else ""


def _whole(said: Json) -> int:
    return said if isinstance(said, int) else 0


def _number(said: Json) -> float | None:
    return float(said) if isinstance(said, int | float) else None


def _object(said: Json) -> JsonObject:
    return said if isinstance(said, dict) else {}


def _objects(said: Json) -> Iterable[JsonObject]:
    return [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []


def _texts(said: Json) -> Iterable[str]:
    return [each for each in said if isinstance(each, str)] if isinstance(said, list) else []

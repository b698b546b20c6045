"""From events as they are kept to the parts of a recorded call."""

from collections.abc import Callable, Iterable, Sequence
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
from gateway.types.members import Members
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import maker, replaced, value

_METHODS, _KINDS, _STATUSES = Members(Method), Members(Kind), Members(Status)
_DECISIONS, _EXECUTIONS = Members(DecisionEffect), Members(Execution)
_EFFECTS, _RISKS = Members(Effect), Members(Risk)
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
        if self.kind != EventKind.AUTHORIZATION or self.stage != Stage.DECIDED:
            return False
        return "decision" in self.body and "arguments" in self.body

    @property
    def is_end(self) -> bool:
        """Whether it is the final event of a call."""
        return self.kind == EventKind.TOOL_CALL and self.stage in (Stage.FINISHED, Stage.FAILED)


_told, _recorded = maker(Told), maker(Recorded)
_ended, _judgement = maker(Ended), maker(Judgement)


def told(event: JsonObject, unsealed: Unsealed | None = None) -> Told:
    """Return what an event, read with its number, says of which call."""
    body = event.get("body")
    return _told(
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
    said, told = _texts_of(body).get, _texts_of(whole).get
    snapshot = _object(body.get("snapshot"))
    method = _METHODS[said("method", "")]
    kind = _KINDS[text] if (text := _text(snapshot.get("kind"))) else kind_of(method)
    arguments = _object(body.get("arguments"))
    gone = unknown.places(arguments) if arguments else {}
    for name in ("masked", "erased"):
        if name in whole:
            gone = unknown.noted(_texts(whole[name]), "/arguments") | gone
    received = timedelta(microseconds=_whole(snapshot.get("received_us")))
    tenant, decided = told("tenant", ""), _moment(told("ts", ""))
    call = _recorded(
        seq=event.seq,
        id=told("id", ""),
        call=event.call,
        at=decided - received,
        decided=decided,
        tenant=tenant,
        actor=_actor(_object(whole.get("actor")), tenant),
        method=method,
        kind=kind,
        tool=said("tool", ""),
        server=said("server", ""),
        name=said("name", ""),
        arguments=arguments,
        unknown=gone,
        run=told("run", ""),
        parent=told("parent", ""),
        cause=said("cause", ""),
        revision=said("revision", ""),
        contract=said("contract", ""),
        judged=_judged(body, said, told("phase", "")),
        inputs=_object(body.get("inputs")),
        snapshot=snapshot,
        digest=said("arguments_digest", ""),
        would=_text(_object(body.get("observed")).get("would")),
    )
    return call if event.unsealed is None else unsealed.known(call, event.unsealed)


def with_event(call: Recorded, event: Told) -> Recorded:
    """Return a call with what one more event says of it."""
    body = event.body
    if event.kind == EventKind.TOOL_CALL and event.stage == Stage.STARTED:
        final = body.get("arguments")
        return replaced(call, is_sent=True, final=final if isinstance(final, dict) else None)
    if event.is_end:
        original = body.get("original")
        ended = _ended(
            status=_STATUSES[_text(body.get("status"))],
            code=_text(body.get("code")),
            executed=_EXECUTIONS[_text(body.get("executed"))],
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


def _judged(body: JsonObject, said: Callable[[str, str], str], phase: str) -> Judgement:
    effect, risk = said("effect", ""), said("risk", "")
    return _judgement(
        effect=_DECISIONS[said("decision", "")],
        status=_STATUSES[said("status", "")],
        code=said("code", ""),
        reason=said("reason", ""),
        rule=said("rule", ""),
        place=said("place", ""),
        matched=tuple(_texts(body.get("matched"))),
        does=_EFFECTS[effect] if effect else None,
        risk=_RISKS[risk] if risk else None,
        phase=phase,
        # Most have none of these.
        constraints=_constraints(body["constraints"]) if "constraints" in body else (),
        limits=_limits(body["limits"]) if "limits" in body else (),
        keep=tuple(_texts(body.get("kept"))),
        shadow=_shadow(body["shadow"]) if "shadow" in body else (),
    )


def _constraints(said: Json) -> tuple[Written, ...]:
    return tuple(
        Written(
            pointer=_text(each.get("pointer")),
            kind=_text(each.get("kind")),
            rule=_text(each.get("rule")),
            is_known=False,
        )
        for each in _objects(said)
    )


def _limits(said: Json) -> tuple[Taken, ...]:
    return tuple(
        Taken(
            id=_text(each.get("id")),
            rule=_text(each.get("rule")),
            amount=_number(each.get("amount")),
        )
        for each in _objects(said)
    )


def _shadow(said: Json) -> tuple[tuple[str, str], ...]:
    return tuple((_text(each.get("rule")), _text(each.get("effect"))) for each in _objects(said))


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


def _actor(said: JsonObject, tenant: str) -> Actor:
    return _known(
        tenant,
        _text(said.get("user")),
        _text(said.get("client")),
        _text(said.get("auth_method")),
        _text(said.get("issuer")),
        tuple(_texts(said.get("roles"))),
        tuple(_texts(said.get("scopes"))),
    )


@lru_cache(maxsize=4096)
def _known(  # noqa: PLR0917 - a key of a cache
    tenant: str,
    user: str,
    client: str,
    method: str,
    issuer: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
) -> Actor:
    """Return the same actor for all that are equal: rules are matched once for each of them."""
    return Actor(
        user=user,
        tenant=tenant,
        roles=frozenset(roles),
        scopes=frozenset(scopes),
        client=client,
        method=method,
        issuer=issuer,
    )


def _moment(said: Json) -> datetime:
    return datetime.fromisoformat(_text(said))


def _texts_of(said: JsonObject) -> dict[str, str]:
    """Return the members that are texts: most are, and most are asked for."""
    return {name: each for name, each in said.items() if isinstance(each, str)}


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


def _texts(said: Json) -> Sequence[str]:
    return [each for each in said if isinstance(each, str)] if isinstance(said, list) else []

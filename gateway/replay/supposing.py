"""Calls that were never made, in the state in which a recorded call of the same run was.

Taken over is what does not follow from a call itself: who acts, the time, and the run as it was
read. What was looked up for another call alone is not known of this one: the origin of an argument
is where it is the very same, and taint and counts of the run are where that call looked them up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.replay import unknown
from gateway.replay.oracle import Answer, Decided
from gateway.replay.replaying import Replay
from gateway.replay.then import Then
from gateway.replay.transcripts import Proposed
from gateway.replay.types import Borrowed, Judgement, Recorded
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.outcomes import Status
from gateway.types.tools import Kind
from gateway.types.values import replaced, value

# Of what was never judged nothing is known; of the statuses that say so, one that no tool has by
# itself.
_NEVER: Final = Judgement(effect=DecisionEffect.DENY, status=Status.TOOL_CHANGED)
_NO_JSON: Final = Decided(
    judgement=Judgement(
        effect=DecisionEffect.DENY,
        status=Status.INVALID_ARGUMENTS,
        code="not_json",
        reason="the arguments are no JSON object",
    )
)
_UNKNOWN: Final = Decided(
    judgement=Judgement(
        effect=DecisionEffect.DENY,
        status=Status.UNKNOWN_TOOL,
        code="unknown_tool",
        reason="no tool has this name",
    )
)
_STATE: Final = ("run", "tainted")  # of a snapshot, what is of the run and not of the call


@value
class Named:
    """A tool as agents know it."""

    key: str  # `server.name`
    server: str
    exposed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposing:
    """Judges proposals."""

    replay: Replay

    async def judged(
        self, proposed: Proposed, tool: Named | None, state: Recorded, like: Recorded | None
    ) -> Answer:
        """Say what a proposal is told in the state of one call, with what is known of another.

        `like` is a recorded call of the same tool, if there is one.
        """
        if tool is None:
            return _UNKNOWN
        if proposed.arguments is None:
            return _NO_JSON
        call = _supposed(proposed.arguments, proposed.id, tool, state, like)
        borrowed = Borrowed(
            has_counted=(then := await self._then(state)) is not None and then.has_counted,
            knows_taint=then is not None and then.knows_taint,
            traced=_traced(proposed.arguments, like),
        )
        call = replaced(call, borrowed=borrowed)
        return self.replay.judged(call, await self._then(call) or self.replay.alone(call))

    async def _then(self, call: Recorded) -> Then | None:
        own = await self.replay.own(call.revision)
        return own.then(call) if own is not None else None


def _supposed(
    arguments: JsonObject, id: str, tool: Named, state: Recorded, like: Recorded | None
) -> Recorded:
    snapshot: JsonObject = {name: state.snapshot[name] for name in _STATE if name in state.snapshot}
    if like is not None and "pin" in like.snapshot:
        snapshot["pin"] = like.snapshot["pin"]
    traced = _traced(arguments, like)
    origins: Json = like.snapshot.get("origins") if like is not None else None
    if isinstance(origins, dict):
        snapshot["origins"] = {place: origins[place] for place in origins if place in traced}
    return replaced(
        state,
        id="",
        call=id or "proposed",
        method=Method.CALL_TOOL,
        kind=Kind.TOOL,
        tool=tool.key,
        server=tool.server,
        name=tool.exposed,
        arguments=arguments,
        shown=None,
        gone={},
        unknown=unknown.places(arguments),
        parent="",
        cause="",
        contract=like.contract if like is not None else "",
        judged=replaced(_NEVER, phase=state.judged.phase),
        inputs={},
        snapshot=snapshot,
        final=None,
        asked=None,
        ended=None,
        is_sent=False,
        effects=(),
    )


def _traced(arguments: JsonObject, like: Recorded | None) -> frozenset[JsonPointer]:
    """Return the places whose values are the very ones of a recorded call, and are known there."""
    if like is None:
        return frozenset()
    before = dict(leaves(like.arguments))
    return frozenset(
        place
        for place, each in leaves(arguments)
        if place in before
        and before[place] == each
        and type(before[place]) is type(each)
        and not unknown.touches(like.unknown, place)
    )


def leaves(said: Json, at: JsonPointer = "") -> list[tuple[JsonPointer, Json]]:
    """Return every value that holds no others, with its place; empty ones as well."""
    if isinstance(said, Mapping) and said:
        inner = [(f"{at}/{jsontext.escape(name)}", each) for name, each in said.items()]
    elif isinstance(said, list) and said:
        inner = [(f"{at}/{number}", each) for number, each in enumerate(said)]
    else:
        return [(at, said)]
    return [found for place, each in inner for found in leaves(each, place)]

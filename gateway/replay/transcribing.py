"""A model's new transcript of a task beside the run that was recorded: call by call, judged.

Nothing is called. What a server would have answered to another call is not known, so each one is
judged in the state that the run had at its place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeAlias

from gateway.replay import unknown
from gateway.replay.aligning import Pair, aligned
from gateway.replay.oracle import Answer, Decided
from gateway.replay.replaying import Replay
from gateway.replay.supposing import Named, Supposing, leaves
from gateway.replay.transcripts import Proposed
from gateway.replay.types import Judgement, Missing, Recorded
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject, JsonPointer
from gateway.types.own import Own
from gateway.types.values import replaced, value

Digest: TypeAlias = Callable[[str, JsonObject], str]
"""Tenant and arguments to the keyed digest that events have of them."""

_OWN: Final = frozenset(each.value for each in Own)
_PREFIX: Final = "mcp__"  # as some hosts put before names, with the name that they have for us
_MOST_PLACES: Final = 20


class Kind(StrEnum):
    """What has become of a call."""

    SAME = "same"
    CHANGED = "changed"  # the same tool with other arguments
    MOVED = "moved"  # the same, in another place
    ADDED = "added"
    DROPPED = "dropped"


@value
class Step:
    """One call of the transcript, of the run, or of both."""

    kind: Kind
    tool: str  # `server.name`; of a name that nothing has, that name
    number: int = 0  # in the transcript, from 1; 0 for one that is not there
    recorded: str = ""  # id of the recorded call
    seq: int = 0
    differs: tuple[JsonPointer, ...] = ()  # in the arguments; values are told nowhere
    unsure: tuple[JsonPointer, ...] = ()  # may differ: the log does not hold what was there
    before: Judgement | None = None  # what the recorded call was told
    after: Judgement | None = None  # what this one would be told; None also where nobody knows
    missing: tuple[Missing, ...] = ()
    certain: DecisionEffect | None = None

    @property
    def is_undecidable(self) -> bool:
        """Whether nobody can know what it would be told."""
        return self.number > 0 and self.after is None

    @property
    def is_refused(self) -> bool:
        """Whether it would be refused for certain."""
        if self.after is None:
            return self.certain is DecisionEffect.DENY
        return self.after.effect is DecisionEffect.DENY


@value
class Transcribed:
    """A transcript beside a run."""

    run: str
    tenant: str
    revision: str  # that calls are judged by
    recorded: int
    proposed: int
    steps: tuple[Step, ...]
    own: int = 0  # calls of the gateway's own tools, which the log of a run has in other words

    def of(self, kind: Kind) -> tuple[Step, ...]:
        """Return the steps of one kind."""
        return tuple(each for each in self.steps if each.kind is kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcribing:
    """Compares one transcript with one run."""

    replay: Replay
    names: Mapping[str, Named]  # exposed names to tools, beside those that the run itself has
    digest: Digest

    async def __call__(
        self, run: str, recorded: Sequence[Recorded], proposed: Sequence[Proposed]
    ) -> Transcribed:
        """Return the steps, in the order of the transcript; `recorded` is not empty."""
        old = [each for each in recorded if each.method is Method.CALL_TOOL and not each.cause]
        names = {each.name: _named(each) for each in recorded if each.method is Method.CALL_TOOL}
        known = {**self.names, **names}
        wanted = [_Wanted(proposed=each, tool=_tool(each.name, known)) for each in proposed]
        new = [each for each in wanted if each.proposed.name not in _OWN]
        state = _States(old or list(recorded))
        pairs = aligned(old, new, self._likeness)
        steps = [await self._step(pair, old, new, state) for pair in pairs]
        return Transcribed(
            run=run,
            tenant=recorded[0].tenant,
            revision=self.replay.candidate.id,
            recorded=len(old),
            proposed=len(new),
            steps=tuple(steps),
            own=len(wanted) - len(new),
        )

    def _likeness(self, old: Recorded, new: "_Wanted") -> float:
        """Return 1 for the same call, less for another one of the same tool, else 0."""
        if new.tool is None or new.tool.key != old.tool or new.proposed.arguments is None:
            return 0.0
        if self._is_same(old, new.proposed.arguments):
            return 1.0
        before, after = dict(leaves(old.seen)), dict(leaves(new.proposed.arguments))
        equal = sum(place in before and before[place] == after[place] for place in after)
        return 0.3 + 0.6 * equal / max(len(before), len(after), 1)

    def _is_same(self, old: Recorded, arguments: JsonObject) -> bool:
        if old.digest:
            return old.digest == self.digest(old.tenant, arguments)
        return not old.unknown and old.arguments == arguments

    async def _step(
        self, pair: Pair, old: Sequence[Recorded], new: Sequence["_Wanted"], state: "_States"
    ) -> Step:
        then = old[pair.old] if pair.old is not None else None
        if pair.new is None:
            assert then is not None  # noqa: S101 - a pair has one side at least
            return _of(then, Step(kind=Kind.DROPPED, tool=then.tool))
        now, place = new[pair.new], pair.new + 1
        if then is not None and not pair.is_moved:
            state.reached(then)
        if then is None or pair.is_moved:
            answer = await self._supposed(now, state.now, state.like(now.key, then))
            kind = Kind.ADDED if then is None else Kind.MOVED
            step = _told(Step(kind=kind, tool=now.key, number=place), answer)
            return step if then is None else _of(then, step)
        arguments = now.proposed.arguments or {}
        if self._is_same(then, arguments):
            compared = await self.replay.compared(then)
            step = Step(
                kind=Kind.SAME,
                tool=then.tool,
                number=place,
                after=compared.after,
                missing=compared.missing,
                certain=compared.certain,
            )
            return _of(then, step)
        answer = await self._supposed(now, then, then)
        differs, unsure = _differences(then, arguments)
        step = Step(kind=Kind.CHANGED, tool=then.tool, number=place, differs=differs, unsure=unsure)
        return _of(then, _told(step, answer))

    async def _supposed(self, now: "_Wanted", state: Recorded, like: Recorded | None) -> Answer:
        return await Supposing(replay=self.replay).judged(now.proposed, now.tool, state, like)


@value
class _Wanted:
    """A proposal with the tool that its name stands for, if it does for any."""

    proposed: Proposed
    tool: Named | None

    @property
    def key(self) -> str:
        """What it is about, in one word."""
        return self.tool.key if self.tool is not None else self.proposed.name


class _States:
    """The run as it was at a place: as the recorded call after it found it."""

    def __init__(self, calls: Sequence[Recorded]) -> None:
        self._after = {each.call: following for each, following in pairwise(calls)}
        self._calls = calls
        self.now = calls[0]

    def reached(self, call: Recorded) -> None:
        """Go on to behind a recorded call; the last one's state is the last that is known."""
        self.now = self._after.get(call.call, call)

    def like(self, tool: str, then: Recorded | None) -> Recorded | None:
        """Return a call of a tool that came before, of which more is known: best the very same."""
        if then is not None:
            return then if then.seq <= self.now.seq else None
        before = (each for each in self._calls if each.seq <= self.now.seq and each.tool == tool)
        return max(before, key=lambda each: each.seq, default=None)


def _named(call: Recorded) -> Named:
    return Named(key=call.tool, server=call.server, exposed=call.name)


def _tool(name: str, known: Mapping[str, Named]) -> Named | None:
    """Return the tool of a name: an exposed one, that of a host with a prefix, or the key."""
    bare = name.split("__", 2)[2] if name.startswith(_PREFIX) and name.count("__") > 1 else name
    found = known.get(name) or known.get(bare)
    return found or next((each for each in known.values() if each.key == name), None)


def _of(then: Recorded, step: Step) -> Step:
    return replaced(step, recorded=then.call, seq=then.seq, before=then.judged)


def _told(step: Step, answer: Answer) -> Step:
    if isinstance(answer, Decided):
        return replaced(step, after=answer.judgement)
    return replaced(step, missing=answer.missing, certain=answer.certain)


def _differences(
    then: Recorded, arguments: JsonObject
) -> tuple[tuple[JsonPointer, ...], tuple[JsonPointer, ...]]:
    """Return the places that are known to differ, and those of which nobody knows."""
    before, after = dict(leaves(then.seen)), dict(leaves(arguments))
    gone = then.gone or then.unknown
    places = [
        place
        for place in {**before, **after}
        if not unknown.touches(gone, place)
        and (place not in before or place not in after or before[place] != after[place])
    ]
    return tuple(places[:_MOST_PLACES]), tuple(gone)[:_MOST_PLACES]

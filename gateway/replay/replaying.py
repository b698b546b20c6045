"""A stretch of the log under another revision: each call judged as it was, and as it would be."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from gateway.replay import unsealed
from gateway.replay.cases import Definitions, Offered
from gateway.replay.compare import Comparing, agree
from gateway.replay.counters import Counting, exceeded
from gateway.replay.money import moved
from gateway.replay.oracle import Answer, Decided
from gateway.replay.rerun import Rerun
from gateway.replay.then import Then
from gateway.replay.types import Compared, Counters, Judgement, Recorded
from gateway.revision import Revision
from gateway.types.values import replaced


@dataclass(slots=True, kw_only=True)
class Replay:
    """Judges recorded calls again, one after the other."""

    candidate: Revision
    past: Callable[[str], Awaitable[Revision | None]]
    """Return a revision by its id, None for one that the store does not have."""
    definitions: Definitions
    counters: Counters = Counters.RECORDED
    offered: Mapping[str, Offered | None] = field(default_factory=dict[str, "Offered | None"])
    """What servers publish in place of what they did; None for what is gone."""
    watches: Callable[[Compared, Then | None], None] | None = None
    """Is shown each call with the case that it was, None where its revision is not kept."""
    _reruns: dict[str, Rerun | None] = field(default_factory=dict[str, Rerun | None])
    _comparing: Comparing = field(default_factory=Comparing)
    _counting: Counting = field(init=False)
    _candidate: Rerun = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._candidate = Rerun(
            revision=self.candidate, definitions=self.definitions, offered=self.offered
        )
        self._counting = Counting(mode=self.counters)

    async def over(self, calls: AsyncIterable[Recorded]) -> AsyncIterator[Compared]:
        """Yield how each call fares, in the order of the log."""
        async for call in calls:
            yield await self.compared(call)

    async def compared(self, call: Recorded) -> Compared:
        """Say how one call fares; calls of one run come in the order of the log."""
        own = await self.own(call.revision)
        then = own.then(call) if own is not None else None
        again = own(call, then) if own is not None else None
        before = _before(call, again)
        if again is not None and call.revision == self.candidate.id:
            after = again
        else:
            after = self._candidate(call, then)
        if isinstance(after, Decided):
            full = self._counting(call, before, after.judgement)
            after = Decided(judgement=replaced(after.judgement, exceeded=full))
        amount = moved(then) if then is not None else None
        compared = self._comparing(call, before, after, amount)
        faithful = None if again is None else _is_faithful(call, again)
        compared = unsealed.told(replaced(compared, is_faithful=faithful))
        if self.watches is not None:
            self.watches(compared, then)
        return compared

    def judged(self, call: Recorded, then: Then | None) -> Answer:
        """Say what a call is told under the candidate, of which nothing else is known."""
        return self._candidate(call, then)

    def alone(self, call: Recorded) -> Then | None:
        """Return a call with its case under the candidate, as there is none of then."""
        return self._candidate.then(call)

    async def own(self, id: str) -> Rerun | None:
        """Return what judges as a revision did that was in force."""
        if id not in self._reruns:
            is_candidate = id == self.candidate.id
            revision = self.candidate if is_candidate else await self.past(id)
            self._reruns[id] = (
                Rerun(revision=revision, definitions=self.definitions) if revision else None
            )
        return self._reruns[id]


def _is_faithful(call: Recorded, again: Answer) -> bool:
    return isinstance(again, Decided) and agree(call.judged, again.judgement)


def _before(call: Recorded, again: Answer | None) -> Judgement:
    """Return what was said to a call: with all that its revision knows, where that agrees."""
    known = call.judged
    if isinstance(again, Decided) and _is_faithful(call, again):
        known = again.judgement
    return replaced(known, exceeded=exceeded(call))

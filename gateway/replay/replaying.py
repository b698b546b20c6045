"""A stretch of the log under another revision: each call judged as it was, and as it would be."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from gateway.replay import unsealed
from gateway.replay.alike import Alike
from gateway.replay.cases import Definitions, Offered, Parting
from gateway.replay.compare import Comparing, agree
from gateway.replay.counters import Counting, exceeded
from gateway.replay.money import moved
from gateway.replay.oracle import Answer, Decided
from gateway.replay.repeats import Operations, moves_nothing
from gateway.replay.rerun import Rerun
from gateway.replay.then import Then
from gateway.replay.types import Compared, Counters, Grade, Judgement, Recorded
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
    _alike: Alike = field(default_factory=Alike)
    _parting: Parting = field(default_factory=Parting)
    _operations: Operations = field(default_factory=Operations)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._candidate = Rerun(
            revision=self.candidate,
            definitions=self.definitions,
            offered=self.offered,
            parting=self._parting,
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
        faithful = None if again is None else _is_faithful(call, again)
        before = _before(call, again if faithful else None)
        if again is not None and own is not None and self._says_the_same(own.revision, call):
            after = again
        else:
            after = self._candidate(call, then)
        window_s = then.case.contract.idempotency.window_s if then is not None else None
        operation = self._operations(call, window_s)
        if isinstance(after, Decided):
            full = self._counting(call, before, after.judgement, operation)
            if full:
                after = Decided(judgement=replaced(after.judgement, exceeded=full))
        compared = self._comparing(
            call,
            before,
            after,
            is_faithful=faithful,
            operation=operation,
            moves_nothing=bool(operation) and moves_nothing(call),
        )
        if compared.grade is Grade.CHANGED and then is not None:
            # What would have been the same is summed up nowhere.
            compared = replaced(compared, money=moved(then))
        if call.gone or call.shredded is not None:
            compared = unsealed.told(compared)
        if self.watches is not None:
            self.watches(compared, then)
        return compared

    def _says_the_same(self, own: Revision, call: Recorded) -> bool:
        """Whether nothing that is about a call is another one under the candidate."""
        if call.tool in self.offered:
            return False
        return own.id == self.candidate.id or self._alike(own, self.candidate, call)

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
                Rerun(revision=revision, definitions=self.definitions, parting=self._parting)
                if revision
                else None
            )
        return self._reruns[id]


def _is_faithful(call: Recorded, again: Answer) -> bool:
    return isinstance(again, Decided) and agree(call.judged, again.judgement)


def _before(call: Recorded, again: Answer | None) -> Judgement:
    """Return what was said to a call: with all that its revision knows, where that agrees."""
    known = again.judgement if isinstance(again, Decided) else call.judged
    full = exceeded(call)
    return replaced(known, exceeded=full) if full else known

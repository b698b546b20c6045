"""From a stretch of the log to its report."""

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from gateway.replay import history
from gateway.replay.history import Log, Span, Unsealing
from gateway.replay.permissions import Permissions
from gateway.replay.replaying import Replay
from gateway.replay.report import Report
from gateway.replay.tally import Tally
from gateway.replay.types import Counters, Subject
from gateway.revision import Revision

_SELDOM: Final = 50_000  # objects more than before


def _folder(candidate: Revision) -> str:
    """Return what stands before the names of its files in places of rules."""
    files = {rule.place.rpartition(":")[0] for rule in candidate.policy.rules}
    found = {
        file.removesuffix(name)
        for file in files
        for name in candidate.texts
        if "/" not in name and file.endswith(f"/{name}")
    }
    return found.pop() if len(found) == 1 else ""


def _quietly(calls: int) -> None:
    del calls


async def reported(
    log: Log,
    span: Span,
    replay: Replay,
    *,
    counters: Counters = Counters.RECORDED,
    told: Callable[[int], None] = _quietly,
    unsealing: Unsealing | None = None,
) -> Report:
    """Replay the calls of a span, and return what became of them.

    `told` is called with the number of calls so far, after each. `unsealing` opens what is sealed
    of them. Raises StoreUnavailable.
    """
    candidate = replay.candidate
    tally = Tally(
        subject=Subject(
            revision=candidate.id,
            counters=counters,
            since=span.since,
            until=span.until,
            tenant=span.tenant,
            run=span.run,
            folder=_folder(candidate),
        ),
        rules={rule.id: rule.place for rule in candidate.policy.rules},
        servers={rule.id: rule.matcher.named_servers() for rule in candidate.policy.rules},
        permissions=Permissions.of(candidate),
    )
    calls = 0
    with _rarely_collected():
        async for compared in replay.over(history.calls(log, span, unsealing)):
            tally.add(compared)
            calls += 1
            told(calls)
    return tally.report()


@contextmanager
def _rarely_collected() -> Generator[None]:
    """Have the collector leave alone what is there, and seldom look at the rest.

    What calls are made of is in no cycle and goes by itself, and most of what a process has when it
    begins stays till its end: a tenth of the time would be spent on finding nothing.
    """
    before, is_alone = gc.get_threshold(), not gc.get_freeze_count()
    gc.freeze()
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if is_alone:  # else what others had it leave alone would come back as well
            gc.unfreeze()

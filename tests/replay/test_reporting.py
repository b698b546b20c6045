import gc

from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.reporting import reported
from gateway.replay.types import Counters, Recorded
from gateway.revision import Revision
from tests.helpers.histories import History
from tests.helpers.planted import NARROWER

MANY = 12  # runs


async def test_a_log_under_its_own_revision_is_reported_as_the_same() -> None:
    made = History()
    await made.runs(0, MANY)
    counts: list[int] = []

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    replay = Replay(candidate=made.revision, past=past, definitions=made.definitions)
    report = await reported(
        made.log, Span(tenant=""), replay, counters=Counters.RECORDED, told=counts.append
    )
    assert report.calls == report.same == report.faithful == made.calls
    assert counts == [*range(1, made.calls + 1)]
    assert report.subject.before == (made.revision.id,)
    assert report.subject.revision == made.revision.id
    named = {rule for rule, _ in report.idle}
    assert named < {rule.id for rule in made.revision.policy.rules}


async def test_the_collector_is_left_as_it_was() -> None:
    made = History()
    await made.runs(0, 1)
    before, were_frozen = gc.get_threshold(), gc.get_freeze_count() > 0
    during = list[tuple[int, ...]]()

    def told(calls: int) -> None:
        del calls
        during.append(gc.get_threshold())

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    replay = Replay(candidate=made.revision, past=past, definitions=made.definitions)
    await reported(made.log, Span(), replay, told=told)
    assert gc.get_threshold() == before
    assert during
    assert all(each[0] > before[0] for each in during)
    assert (gc.get_freeze_count() > 0) is were_frozen


def recorded() -> list[Recorded]:
    """Return the calls that this process holds."""
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, Recorded)]


async def test_no_call_is_kept_once_it_is_counted() -> None:
    made = History()
    await made.runs(0, 200)  # some of them have guards that read what is redacted

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    other = NARROWER["a smaller bound"](made.world).revision()
    replay = Replay(candidate=other, past=past, definitions=made.definitions)
    before = recorded()
    report = await reported(made.log, Span(), replay)
    ids = {id(each) for each in before}
    left = [each for each in recorded() if id(each) not in ids]
    assert report.calls > 500
    assert len(left) <= 1  # the last one, which may come again under another revision

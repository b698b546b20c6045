from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.reporting import reported
from gateway.replay.types import Counters
from gateway.revision import Revision
from tests.helpers.histories import History

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

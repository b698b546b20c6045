"""Step 9: claim."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from gateway.case import Case
from gateway.errors import StoreUnavailable
from gateway.steps.claim import Claim, Ticket
from gateway.types.decisions import Decision, DecisionEffect, Exceeded, Limit
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Effect
from tests.helpers.cases import a_case, a_revision
from tests.helpers.pipelines import Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

LIMIT = Limit(id="refunds", key="acme", maximum=2, window_s=60, amount=1, rule="r")


@dataclass
class Counters:
    """Limits that answer one way and keep what was asked."""

    exceeded: Exceeded | None = None
    away: bool = False
    taken: list[str] = field(default_factory=list[str])
    released: list[str] = field(default_factory=list[str])

    async def reserve(self, call_id: str, limits: Sequence[Limit]) -> Exceeded | None:
        if self.away:
            raise StoreUnavailable("locked")
        self.taken += [call_id for _ in limits]
        return self.exceeded

    async def release(self, call_id: str) -> None:
        if self.away:
            raise StoreUnavailable("locked")
        self.released.append(call_id)


NO_TICKET = cast("Ticket", None)  # reads don't touch it


def a_claim(counters: Counters) -> Claim:
    pipeline = a_pipeline(Shelf(()), Law(a_revision()), None, Log())
    return replace(pipeline.claim, limits=counters)


def limited(**changes: Any) -> Case:
    decision = Decision(effect=DecisionEffect.ALLOW, limits=(LIMIT,))
    return a_case(decision=decision, effect=Effect.READ, **changes)


async def test_a_call_without_limits_takes_nothing() -> None:
    counters = Counters()
    case = a_case(effect=Effect.READ)
    assert await a_claim(counters)(case, NO_TICKET) is case
    assert counters.taken == []


async def test_a_used_up_limit_says_when_there_will_be_room() -> None:
    """case: AUT-07"""
    exceeded = Exceeded(limit="refunds", retry_after_s=12.5)
    answer = await a_claim(Counters(exceeded=exceeded))(limited(), NO_TICKET)
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code, answer.rule) == (Status.LIMIT_EXCEEDED, "refunds", "r")
    assert answer.retry_after_s == 12.5


async def test_limits_that_can_not_be_counted_refuse() -> None:
    answer = await a_claim(Counters(away=True))(limited(), NO_TICKET)
    assert isinstance(answer, Refusal)
    assert answer.status is Status.AUDIT_UNAVAILABLE


async def test_what_was_not_carried_out_is_given_back() -> None:
    counters = Counters()
    await a_claim(counters).give_back(limited())
    assert counters.released == ["call_1"]


async def test_giving_back_does_not_fail_with_the_store() -> None:
    await a_claim(Counters(away=True)).give_back(limited())

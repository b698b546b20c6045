"""Step 9: claim."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.case import Case
from gateway.errors import StoreUnavailable
from gateway.steps.claim import Claim
from gateway.types.decisions import Decision, DecisionEffect, Exceeded, Limit
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from tests.helpers.cases import a_call, a_case, a_contract

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


def limited(**changes: Any) -> Case:
    decision = Decision(effect=DecisionEffect.ALLOW, limits=(LIMIT,))
    return a_case(decision=decision, **changes)


async def test_a_call_without_limits_takes_nothing() -> None:
    counters = Counters()
    case = a_case()
    assert await Claim(limits=counters)(case) is case
    assert counters.taken == []


async def test_a_used_up_limit_says_when_there_will_be_room() -> None:
    """case: AUT-07"""
    exceeded = Exceeded(limit="refunds", retry_after_s=12.5)
    answer = await Claim(limits=Counters(exceeded=exceeded))(limited())
    assert isinstance(answer, Refusal)
    assert (answer.status, answer.code, answer.rule) == (Status.LIMIT_EXCEEDED, "refunds", "r")
    assert answer.retry_after_s == 12.5


async def test_limits_that_can_not_be_counted_refuse() -> None:
    answer = await Claim(limits=Counters(away=True))(limited())
    assert isinstance(answer, Refusal)
    assert answer.status is Status.AUDIT_UNAVAILABLE


async def test_what_was_not_carried_out_is_given_back() -> None:
    counters = Counters()
    await Claim(limits=counters).give_back(limited())
    assert counters.released == ["call_1"]


async def test_giving_back_does_not_fail_with_the_store() -> None:
    await Claim(limits=Counters(away=True)).give_back(limited())


async def test_a_guarantee_that_can_not_be_given_is_refused_not_ignored() -> None:
    meta: JsonObject = {"weighbridge/idempotencyKey": "k"}
    asked = await Claim(limits=Counters())(a_case(call=a_call(meta=meta)))
    contract = a_contract(idempotency=Idempotency(intent=("/id",), is_declared=True))
    declared = await Claim(limits=Counters())(a_case(contract=contract))
    assert isinstance(asked, Refusal)
    assert isinstance(declared, Refusal)
    assert asked.code == declared.code == "idempotency_unsupported"

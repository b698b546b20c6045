"""A gateway that is killed at each place on the way of a call that people decide about.

Then another one starts on its store, and the same call is made again. Whatever was sent on a dead
approval, sent twice or lost comes back as a sentence.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from random import Random
from typing import Any

import aiohttp

from gateway.crossing.failpoints import Failpoint
from gateway.types.approvals import Approval, ApprovalState, Cast, Choice
from gateway.types.operations import OpState
from tests.helpers.deciders import HURRIED, PATIENT, Town, call, ended, person
from tests.helpers.fake_server import text, until_async
from tests.helpers.forked import Death, Moment
from tests.helpers.gateway import Gateway

WITHIN_S = 30.0
LEASE = "1s"  # so that what a dead gateway has left behind is soon given up


class Place(StrEnum):
    """Between which two things a gateway dies."""

    ASKED = "request committed, caller not told"
    HELD = "while the call is held"
    DECIDED = "decision committed, nobody woken"
    WOKEN = "woken, nothing used up"
    USED = "used up, nothing sent"
    SENT = "sent, no answer"
    ANSWERED = "answered, outcome not committed"
    SETTLED = "outcome committed, caller not told"


class Fate(StrEnum):
    """What becomes of a request after its gateway died before the call was sent."""

    ALLOWED = "allowed"
    REFUSED = "refused"  # denied, or revoked
    OVER = "over"  # nobody decided, or used it, in time


BEFORE = (Place.ASKED, Place.HELD, Place.DECIDED, Place.WOKEN)  # nothing is used up yet
UNSURE = (Place.USED, Place.SENT, Place.ANSWERED)
TURNS = (  # places of one kind take turns
    (Place.ASKED,),
    (Place.HELD,),
    (Place.DECIDED, Place.WOKEN),
    (Place.USED,),
    (Place.SENT, Place.ANSWERED),
    (Place.SETTLED,),
)
_DEATHS: dict[Place, Death] = {
    Place.ASKED: Death(point=Moment.ASKED),
    Place.DECIDED: Death(point=Moment.DECIDED),
    Place.WOKEN: Death(point=Failpoint.BEFORE_INTENT, spared=1),
    Place.USED: Death(point=Failpoint.AFTER_INTENT),
    Place.ANSWERED: Death(point=Failpoint.BEFORE_SETTLE),
    Place.SETTLED: Death(point=Moment.SETTLED),
}


@dataclass
class Toll:
    """What happened in all kills."""

    wrong: list[str] = field(default_factory=list[str])
    ends: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    sent: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])


@dataclass(kw_only=True)
class Kill:
    """One call, the gateway that dies of it, and the one that comes after."""

    town: Town
    place: Place
    number: int
    fate: Fate
    random: Random
    toll: Toll

    @property
    def tool(self) -> str:
        return "brief" if self.fate is Fate.OVER else "one"

    async def run(self) -> None:
        """Kill, start again, and hold what is found against the rules."""
        approval = await self._killed()
        sent = self.town.sent(self.number)
        due = int(self.place in (Place.SENT, Place.ANSWERED, Place.SETTLED))
        self._expect(sent == due, f"sent {sent} times when its gateway died")
        async with self.town.gateway("next", lease=LEASE) as gateway:
            if self.place in BEFORE:
                await self._goes_on(gateway, approval)
            else:
                await self._is_over(gateway, approval)

    async def _killed(self) -> Approval:
        """Have a gateway die, and return the request as it is then."""
        arrived = self.town.folder / f"arrived-{self.number}"
        held_back = {"wait_for_file": str(self.town.folder / f"go-{self.number}")}
        death = _DEATHS.get(self.place)
        if self.place is Place.SENT:
            death = Death(point=Failpoint.AFTER_SEND, file=arrived)
            self.town.alpha.script.on_call[self.tool] = [held_back, {"reply": text("done")}]
        async with self.town.gateway("dying", death, LEASE) as gateway:
            if self.place is Place.DECIDED:
                await self.town.log_in(gateway, "ben")
            under_way = asyncio.ensure_future(call(gateway, self.tool, self.number, PATIENT))
            approval = await self._asked()
            if self.place is Place.HELD:
                await asyncio.sleep(self.random.uniform(0, 0.1))
                gateway.process.kill()
            elif self.place is Place.DECIDED:
                with suppress(aiohttp.ClientError):
                    await self.town.press(gateway, "ben", approval, "approve")
            elif self.place is not Place.ASKED:
                await self.town.decide(person("ann"), approval, Choice.APPROVE)
            if self.place is Place.SENT:
                await until_async(lambda: self.town.sent(self.number), WITHIN_S)
                arrived.touch()
            async with asyncio.timeout(WITHIN_S):
                self._expect(await gateway.process.wait() == -signal.SIGKILL, "it did not die")
            await asyncio.wait({under_way})
            self._expect(isinstance(under_way.exception(), aiohttp.ClientError), "it was answered")
        (self.town.folder / f"go-{self.number}").touch()
        self.town.alpha.script.on_call[self.tool] = [{"reply": text("done")}]
        return await self._as_now(approval)

    async def _asked(self) -> Approval:
        async def found() -> Approval | None:
            return await self.town.open_request(f"alpha.{self.tool}")

        await until_async(found, WITHIN_S)
        approval = await found()
        assert approval is not None
        return approval

    async def _as_now(self, approval: Approval) -> Approval:
        (found,) = await self.town.requests(approval.op_id)
        return found

    async def _goes_on(self, gateway: Gateway, approval: Approval) -> None:
        """See a request through that outlived its gateway: to its use, or to its end."""
        is_decided = self.place in (Place.DECIDED, Place.WOKEN)
        state = ApprovalState.APPROVED if is_decided else ApprovalState.PENDING
        if self.fate is not Fate.OVER:
            self._expect(approval.state is state, f"the request is {approval.state}")
        fates: dict[Fate, Callable[[Gateway, Approval, bool], Awaitable[None]]] = {
            Fate.ALLOWED: self._allowed,
            Fate.REFUSED: self._refused,
            Fate.OVER: self._too_late,
        }
        await fates[self.fate](gateway, approval, is_decided)

    async def _allowed(self, gateway: Gateway, approval: Approval, is_decided: bool) -> None:
        if not is_decided:
            said = await call(gateway, self.tool, self.number, HURRIED)
            found = (said["status"], said.get("approval_id"))
            self._expect(found == ("approval_pending", approval.approval_id), f"told {found}")
            await self.town.decide(person("ann"), approval, Choice.APPROVE)
        said = await self._told(gateway)
        self._expect(said["status"] == "ok", f"told {said['status']} of what is allowed")
        again = await self._told(gateway)
        self._expect(again.get("replayed") is True, "its answer is not told again")
        await self._stands(approval, ApprovalState.CONSUMED, OpState.SUCCEEDED, sent=1)

    async def _refused(self, gateway: Gateway, approval: Approval, is_decided: bool) -> None:
        ruling = await self.town.decide(person("dan"), approval, Choice.DENY)
        wanted = Cast.REVOKED if is_decided else Cast.DENIED
        self._expect(ruling.cast is wanted, f"a no is {ruling.cast}")
        said = await self._told(gateway)
        self._expect(said["status"] == "approval_denied", f"told {said['status']} of what is not")
        state = ApprovalState.CANCELLED if is_decided else ApprovalState.DENIED
        await self._stands(approval, state, OpState.DENIED, sent=0)

    async def _too_late(self, gateway: Gateway, approval: Approval, is_decided: bool) -> None:
        async def is_over() -> bool:
            return not (await self._as_now(approval)).state.is_open

        await until_async(is_over, WITHIN_S)
        choice = Choice.DENY if is_decided else Choice.APPROVE
        ruling = await self.town.decide(person("ben"), approval, choice)
        self._expect(not ruling.cast.is_accepted, f"a word that is too late is {ruling.cast}")
        said = await self._told(gateway)
        self._expect(said["status"] == "approval_expired", f"told {said['status']} of what is over")
        await self._stands(approval, ApprovalState.EXPIRED, OpState.ABANDONED, sent=0)

    async def _is_over(self, gateway: Gateway, approval: Approval) -> None:
        """See that what was used up is never used again, whatever became of its send."""
        sent = self.town.sent(self.number)
        self._expect(approval.state is ApprovalState.CONSUMED, f"the request is {approval.state}")
        ruling = await self.town.decide(person("dan"), approval, Choice.DENY)
        self._expect(ruling.cast is Cast.ALREADY_DECIDED, f"a late no is {ruling.cast}")
        is_unsure = self.place in UNSURE
        wanted = "indeterminate" if is_unsure else "ok"
        for _ in range(2):
            said = await self._told(gateway)
            self._expect(said["status"] == wanted, f"told {said['status']} of what was used up")
            if not is_unsure:
                self._expect(
                    said.get("replayed") is True, "its answer is not told as a repeated one"
                )
        state = OpState.INDETERMINATE if is_unsure else OpState.SUCCEEDED
        await self._stands(approval, ApprovalState.CONSUMED, state, sent=sent)

    async def _told(self, gateway: Gateway) -> dict[str, Any]:
        async with asyncio.timeout(WITHIN_S):
            return await ended(gateway, self.tool, self.number, HURRIED)

    async def _stands(
        self, approval: Approval, state: ApprovalState, op: OpState, *, sent: int
    ) -> None:
        """Hold the one request, its operation and what was sent against what has to be."""
        found, operation = await self._as_now(approval), await self.town.operation(approval.op_id)
        self._expect(found.approval_id == approval.approval_id, "it was asked about anew")
        self._expect(
            (found.state, operation.state) == (state, op), f"{found.state}, {operation.state}"
        )
        count = self.town.sent(self.number)
        self._expect(count == sent, f"sent {count} times, not {sent}")
        end = f"{found.state}, {operation.state}"
        self.toll.ends[self.place, end] += 1
        self.toll.sent[self.place, end] += count

    def _expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.toll.wrong.append(f"{self.number}, {self.place}, {self.fate}: {what}")


async def kills(town: Town, many: int, first: int = 1_000_000, seed: int = 7) -> Toll:
    """Kill so many gateways at each kind of place; calls are numbered from `first` on."""
    toll, random, fates = Toll(), Random(seed), list(Fate)
    for number, (turn, places) in enumerate(product(range(many), TURNS), first):
        place, turns = places[turn % len(places)], turn // len(places)
        kill = Kill(
            town=town,
            place=place,
            number=number,
            fate=fates[turns % len(fates)] if place in BEFORE else Fate.ALLOWED,
            random=random,
            toll=toll,
        )
        try:
            await kill.run()
        except (AssertionError, TimeoutError, ValueError) as error:
            toll.wrong.append(f"{number}, {place}, {kill.fate}: {error or 'it has no end'}")
    return toll

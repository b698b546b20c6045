"""Rounds in which all decide at once about a call that fifty callers come back for.

What was forbidden, sent twice, or told in two ways comes back as a list of sentences.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gateway.store.events import EventFilter
from gateway.types.approvals import Approval, ApprovalState, Cast, Choice
from gateway.types.operations import OpState
from tests.helpers.approvals import OTHER_BINDING
from tests.helpers.deciders import HURRIED, KEY, TENANTS, Town, call, ended, person
from tests.helpers.gateway import Gateway

CALLERS = 50
YES, NO = Choice.APPROVE, Choice.DENY
_ENDS = {
    ApprovalState.CONSUMED: OpState.SUCCEEDED,
    ApprovalState.DENIED: OpState.DENIED,
    ApprovalState.CANCELLED: OpState.DENIED,  # approved, then revoked before its use
}
_MAY_DECIDE = {"ann", "ben", "dan"}
_LONGEST_S = 0.05  # before somebody decides, or comes back
_LONGEST_ROUND_S = 120.0
_LATEST_S = 1.0  # before somebody denies: so that each end comes up


@dataclass
class Tally:
    """What happened in all rounds."""

    wrong: list[str] = field(default_factory=list[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    casts: Counter[str] = field(default_factory=Counter[str])
    senders: Counter[str] = field(default_factory=Counter[str])
    again: Counter[str] = field(default_factory=Counter[str])
    answers: int = 0
    refused: int = 0


@dataclass(kw_only=True)
class Round:
    """One call, those who come back for it, and those who decide about it."""

    town: Town
    gateways: Sequence[Gateway]
    number: int
    random: Random
    tally: Tally

    async def run(self) -> None:
        """Play it, and hold what came of it against the rules."""
        try:
            async with asyncio.timeout(_LONGEST_ROUND_S):
                await self._play()
        except TimeoutError:
            self._wrong("somebody is not told how it ended")

    async def _play(self) -> None:
        approval = await self._asked()
        callers = [self._caller(each) for each in range(CALLERS)]
        async with asyncio.TaskGroup() as tasks:
            coming = [tasks.create_task(each) for each in callers]
            for each in self._people(approval):
                tasks.create_task(self._soon(each))
            denial = self.random.choice((self._told, self._pressed))
            tasks.create_task(self._soon(denial(approval, "dan", NO), _LATEST_S))
        await self._check(approval, [each.result() for each in coming])

    async def _asked(self) -> Approval:
        """Make the call for the first time; a busy store may have to be asked again."""
        while True:
            held = await call(self.gateways[0], "two", self.number, HURRIED)
            if held["status"] == "approval_pending":
                break
        approval = await self.town.store.approvals.get(held["approval_id"])
        assert approval is not None
        return approval

    async def _caller(self, place: int) -> tuple[str, dict[str, Any]]:
        await asyncio.sleep(self.random.uniform(0, _LONGEST_S))
        gateway = self.gateways[place % len(self.gateways)]
        return gateway.folder.name, await ended(
            gateway, "two", self.number, "held", self.tally.again
        )

    async def _soon(self, work: Awaitable[None], at_most_s: float = _LONGEST_S) -> None:
        await asyncio.sleep(self.random.uniform(0, at_most_s))
        await work

    def _people(self, approval: Approval) -> Sequence[Coroutine[Any, Any, None]]:
        """Return what people try who do not deny: two may approve, the others may do nothing."""
        return (
            self._told(approval, "ann", YES),
            self._pressed(approval, "ben", YES),
            self._told(approval, "sam", YES, Cast.SELF_APPROVAL),
            self._told(approval, "sam", NO, Cast.SELF_APPROVAL),
            self._pressed(approval, "sam", YES, 403),
            self._told(approval, "kim", YES, Cast.WRONG_BINDING, OTHER_BINDING),
            self._pressed(approval, "kim", YES, 409, OTHER_BINDING),
            self._foreign(approval),
            self._pressed(approval, "eve", YES, 404),
            self._agent(approval),
        )

    async def _told(
        self,
        approval: Approval,
        user: str,
        choice: Choice,
        only: Cast | None = None,
        binding: str = "",
    ) -> None:
        """Say a word over the store; `only` is the one thing, but for being late, it may be."""
        ruling = await self.town.decide(person(user), approval, choice, binding)
        self.tally.casts[f"{user}: {ruling.cast}"] += 1
        if only is None:
            return
        self.tally.refused += 1
        if ruling.cast not in {only, Cast.ALREADY_DECIDED}:
            self._wrong(f"{user} got {ruling.cast}")

    async def _foreign(self, approval: Approval) -> None:
        ruling = await self.town.decide(person("eve", "globex"), approval, YES)
        self.tally.refused += 1
        if ruling.cast is not Cast.NOT_FOUND:
            self._wrong(f"an approver of another tenant got {ruling.cast}")

    async def _pressed(
        self, approval: Approval, user: str, choice: Choice, wanted: int = 303, binding: str = ""
    ) -> None:
        """Decide on the page of one of the gateways; 409 says that it was decided."""
        gateway = self.random.choice(self.gateways)
        status = await self.town.press(gateway, user, approval, str(choice), binding)
        self.tally.casts[f"{user}: {status}"] += 1
        self.tally.refused += wanted != 303
        if status not in {wanted, 404 if wanted == 404 else 409}:
            self._wrong(f"the page told {user} {status}")

    async def _agent(self, approval: Approval) -> None:
        """Try the agent's own credential where people decide, beside a lead's session too."""
        gateway = self.random.choice(self.gateways)
        headers = {"Authorization": f"Bearer {KEY}"}
        status = await self.town.press(gateway, "kim", approval, "approve", **headers)
        self.tally.refused += 1
        if status != 403:
            self._wrong(f"an agent's key got {status} where people decide")

    async def _check(self, approval: Approval, answers: list[tuple[str, dict[str, Any]]]) -> None:
        found = await self.town.requests(approval.op_id)
        if [each.approval_id for each in found] != [approval.approval_id]:
            self._wrong(f"there are {len(found)} requests about the operation")
        state = found[0].state
        operation = await self.town.operation(approval.op_id)
        self.tally.ends[str(state)] += 1
        if _ENDS.get(state) is not operation.state:
            self._wrong(f"the request is {state}, and its operation {operation.state}")
        sent, due = self.town.sent(self.number), int(state is ApprovalState.CONSUMED)
        if sent != due or operation.epoch != due:
            self._wrong(f"{state}, and sent {sent} times in {operation.epoch} attempts")
        await self._check_votes(found[0])
        await self._check_log(found[0])
        self._check_answers(answers, is_sent=bool(due))

    async def _check_votes(self, approval: Approval) -> None:
        votes = await self.town.store.approvals.votes(approval.approval_id)
        users = {each.user for each in votes}
        yes = {each.user for each in votes if each.choice is YES}
        if len(users) != len(votes) or not users <= _MAY_DECIDE or "dan" in yes:
            self._wrong(f"votes of {sorted(users)}, of which yes: {sorted(yes)}")
        if any(each.binding != approval.binding for each in votes):
            self._wrong("a vote on another binding")
        no = users - yes
        if (approval.state is ApprovalState.CONSUMED) != (yes == {"ann", "ben"} and not no):
            self._wrong(f"{approval.state} by yes of {sorted(yes)} and no of {sorted(no)}")

    async def _check_log(self, approval: Approval) -> None:
        """Hold the order that the log tells against the ways that there are."""
        wanted = EventFilter(kind="approval", call=approval.call_id)
        events = [each.json() for each in await self.town.store.events.query(wanted)]
        stages = [
            str(each["stage"]) for each in events if each["stage"] not in {"refused", "voted"}
        ]
        ways = {
            ApprovalState.CONSUMED: ["requested", "decided", "used"],
            ApprovalState.DENIED: ["requested", "decided"],
            ApprovalState.CANCELLED: ["requested", "decided", "voided"],
        }
        if stages != ways.get(approval.state):
            self._wrong(f"{approval.state}, and the log tells {stages}")

    def _check_answers(self, answers: list[tuple[str, dict[str, Any]]], *, is_sent: bool) -> None:
        self.tally.answers += len(answers)
        told = {
            (
                said["status"],
                said.get("code"),
                said.get("op_id"),
                said["text"].replace(" (replayed)", ""),
            )
            for _, said in answers
        }
        if len(told) != 1:
            self._wrong(f"{len(told)} different answers: {sorted(map(str, told))}")
        first = [
            name for name, said in answers if said["status"] == "ok" and not said.get("replayed")
        ]
        if len(first) != int(is_sent):
            self._wrong(f"{len(first)} callers were told that theirs was sent")
        self.tally.senders.update(first)

    def _wrong(self, what: str) -> None:
        self.tally.wrong.append(f"round {self.number}: {what}")


@asynccontextmanager
async def three(town: Town) -> AsyncGenerator[Sequence[Gateway]]:
    """Run three gateways, at which people have logged in."""
    async with AsyncExitStack() as stack:
        starts = (town.gateway(name) for name in ("one", "two", "three"))
        gateways = [await stack.enter_async_context(each) for each in starts]
        await town.log_in(gateways[0], *TENANTS)
        yield gateways


async def rounds(town: Town, many: int, seed: int = 7) -> Tally:
    """Play so many rounds at three gateways."""
    tally, random = Tally(), Random(seed)
    async with three(town) as gateways:
        for number in range(many):
            await Round(
                town=town, gateways=gateways, number=number, random=random, tally=tally
            ).run()
    return tally

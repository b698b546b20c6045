import logging
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from gateway.app.notifying import Notifier
from gateway.approvals.notices import Telling
from gateway.config.approvals import WebhookSettings
from gateway.errors import StoreUnavailable
from gateway.store.approval_rows import notice_row
from gateway.store.approvals import Approvals
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import Approval, ApprovalState, Choice, Notice, NoticeStage, Vote
from tests.helpers.approvals import a_notice, asked, vote
from tests.helpers.databases import OpenStore, connect
from tests.helpers.fake_server import until_async
from tests.helpers.issuer import HandClock
from tests.helpers.webhooks import Receiver, receiving

__all__ = ["connect"]

SECRET = "whsec_" + "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


@dataclass
class Post:
    """A store, a receiver, and what tells the one about the other."""

    store: Store
    receiver: Receiver
    clock: HandClock = field(default_factory=HandClock)
    webhooks: dict[str, WebhookSettings] = field(default_factory=dict[str, WebhookSettings])

    def __post_init__(self) -> None:
        self.add("chat", self.receiver.url)

    def add(self, name: str, url: str, **more: Any) -> None:
        values = {"name": name, "url": url, "secret": SECRET} | more
        self.webhooks[name] = WebhookSettings.model_validate(values)

    def notifier(self, store: Store | None = None) -> Notifier:
        return Notifier(
            outbox=(store or self.store).approvals,
            webhook=self.webhooks.get,
            telling=telling,
            clock=self.clock,
            jitter=lambda: 1.0,
        )

    async def asked(self) -> Approval:
        now = microseconds(self.clock.now())
        return await asked(self.store, created_at=now, decide_by=now + 1_800_000_000)

    async def owe(self, approval: Approval, **changes: Any) -> Notice:
        now = microseconds(self.clock.now())
        notice = a_notice(approval, **({"created_at": now, "next_at": now} | changes))

        def work(transaction: Transaction) -> Made[None]:
            transaction.execute("add_notice", notice_row(notice))
            return Made(None)

        await self.store.events.carry(Change(work))
        return notice

    async def due(self, after_s: float = 0) -> Sequence[Notice]:
        at = microseconds(self.clock.now()) + round(after_s * 1_000_000)
        return await self.store.approvals.due_notices(at)


def telling(notice: Notice, approval: Approval, votes: Sequence[Vote]) -> Telling:
    return Telling(
        notice=notice,
        approval=approval,
        summary="Refund 400.00 EUR",
        link="https://a/",
        votes=votes,
    )


@pytest.fixture
def desk(open_store: OpenStore) -> Iterator[Post]:
    with receiving() as receiver:
        clock = HandClock()
        yield Post(open_store(clock=clock), receiver, clock)


async def test_what_is_owed_is_told_once_signed_and_then_no_more(desk: Post) -> None:
    notice = await desk.owe(await desk.asked())
    await desk.notifier().once()
    await desk.notifier().once()
    (got,) = desk.receiver.got
    assert got.is_signed(SECRET)
    assert got.headers["webhook-id"] == got.json["id"] == notice.notice_id
    assert got.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert got.json["data"]["summary"] == "Refund 400.00 EUR"
    assert await desk.due(10**6) == []


async def test_a_chat_gets_a_message_in_its_own_form(desk: Post) -> None:
    desk.add("chat", desk.receiver.url, format="slack", secret=None)
    await desk.owe(await desk.asked())
    await desk.notifier().once()
    (got,) = desk.receiver.got
    assert "Refund 400.00 EUR" in got.json["text"]
    assert got.headers["content-type"] == "application/json; charset=utf-8"
    assert "webhook-signature" not in got.headers


async def test_what_fails_is_tried_again_under_the_same_id_and_later_each_time(
    desk: Post, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.owe(await desk.asked())
    desk.receiver.statuses = [500, 302, 503]
    pauses: list[float] = []
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            await desk.notifier().once()
            (late,) = await desk.due(10**6)
            pauses.append((late.next_at - microseconds(desk.clock.now())) / 1_000_000)
            desk.clock.move(pauses[-1])
        await desk.notifier().once()
    assert pauses == [5, 10, 20]
    assert await desk.due(10**6) == []
    assert len({got.headers["webhook-id"] for got in desk.receiver.got}) == 1
    assert len({got.headers["webhook-signature"] for got in desk.receiver.got}) == 4
    (warning,) = caplog.messages  # once, not at every attempt
    assert "HTTP 500" in warning
    assert desk.receiver.url not in warning


async def test_a_receiver_is_left_alone_for_as_long_as_it_asks(desk: Post) -> None:
    await desk.owe(await desk.asked())
    desk.receiver.statuses, desk.receiver.headers = [429], {"Retry-After": "120"}
    await desk.notifier().once()
    assert await desk.due(119) == []
    assert len(await desk.due(120)) == 1


@pytest.mark.parametrize(("status", "age_s"), [(410, 0), (500, 86_500)])
async def test_what_nobody_takes_is_given_up(desk: Post, status: int, age_s: int) -> None:
    await desk.owe(await desk.asked())
    desk.clock.move(age_s)
    desk.receiver.statuses = [status]
    await desk.notifier().once()
    assert await desk.due(10**6) == []
    assert len(desk.receiver.got) == 1


async def test_an_address_that_is_away_is_tried_once_a_turn_and_holds_nobody_up(
    desk: Post,
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        desk.add("away", f"http://127.0.0.1:{nobody.getsockname()[1]}/")
        approval = await desk.asked()
        for _ in range(5):
            await desk.owe(approval, target="away")
        await desk.owe(approval)
        await desk.notifier().once()
        assert len(desk.receiver.got) == 1
        assert await desk.due() == []
        waiting = await desk.due(5)
    assert [each.attempts for each in waiting] == [1] * 5
    assert [bool(each.problem) for each in waiting].count(True) == 1


async def test_two_gateways_never_tell_the_same_notice(desk: Post, open_store: OpenStore) -> None:
    for _ in range(20):
        await desk.owe(await desk.asked())
    other = open_store(clock=desk.clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.notifier().once)
        tasks.start_soon(desk.notifier(other).once)
    names = [got.json["id"] for got in desk.receiver.got]
    assert len(names) == len(set(names)) == 20


async def test_a_gateway_that_dies_while_it_tells_leaves_the_notice_to_others(desk: Post) -> None:
    notice = await desk.owe(await desk.asked())
    later = microseconds(desk.clock.now()) + 15_000_000
    assert await desk.store.approvals.take_notice(notice, later) is not None
    await desk.notifier().once()
    assert desk.receiver.got == []
    desk.clock.move(15)
    await desk.notifier().once()
    assert len(desk.receiver.got) == 1


async def test_nobody_is_asked_to_decide_what_is_decided(desk: Post) -> None:
    approval = await desk.asked()
    await desk.owe(approval, stage=NoticeStage.REQUESTED)
    await vote(desk.store, approval, choice=Choice.DENY, reason="no")
    await desk.owe(approval, stage=NoticeStage.DECIDED)
    await desk.notifier().once()
    (got,) = desk.receiver.got
    assert got.json["type"] == "weighbridge.approval.decided"
    assert got.json["data"]["state"] == ApprovalState.DENIED
    assert await desk.due(10**6) == []


async def test_a_decision_is_told_with_who_gave_it(desk: Post) -> None:
    approval = await desk.asked()
    await vote(desk.store, approval, reason="the order is right")
    await desk.owe(approval, stage=NoticeStage.DECIDED)
    await desk.notifier().once()
    (got,) = desk.receiver.got
    data = got.json["data"]
    assert (data["state"], data["reason"]) == ("approved", "")
    (decider,) = data["decided_by"]
    assert (decider["choice"], decider["reason"]) == ("approve", "the order is right")
    assert {"user", "channel", "assurance", "at", "self"} < decider.keys()


@pytest.mark.parametrize(
    "change", [{"tenants": ["globex"]}, {"stages": ["expired"]}, None], ids=str
)
async def test_who_is_no_longer_to_be_told_is_not_told(desk: Post, change: Any) -> None:
    await desk.owe(await desk.asked())
    if change is None:
        desk.webhooks.clear()
    else:
        desk.add("chat", desk.receiver.url, **change)
    await desk.notifier().once()
    assert desk.receiver.got == []
    assert await desk.due(10**6) == []


class Trouble(Approvals):
    """Approvals of a store that is away, and then can't be read, and then is as it was."""

    def __init__(self, real: Approvals) -> None:
        self.real = real
        self.troubles: list[Exception] = [KeyError("row"), StoreUnavailable("away")]

    async def due_notices(self, now: int | None = None) -> list[Notice]:
        if self.troubles:
            raise self.troubles.pop()
        return await self.real.due_notices(now)

    async def take_notice(self, notice: Notice, later: int) -> Notice | None:
        return await self.real.take_notice(notice, later)

    async def told_notice(self, notice: Notice) -> None:
        await self.real.told_notice(notice)

    async def get(self, approval_id: str) -> Approval | None:
        return await self.real.get(approval_id)

    async def votes(self, approval_id: str) -> list[Vote]:
        return await self.real.votes(approval_id)


async def test_the_loop_goes_on_whatever_happens_and_looks_at_once_when_told(desk: Post) -> None:
    approval, notifier, trouble = await desk.asked(), desk.notifier(), Trouble(desk.store.approvals)
    notifier.outbox = trouble
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notifier.run)
        while trouble.troubles:
            notifier.tell()
            await anyio.lowlevel.checkpoint()
        await desk.owe(approval)
        notifier.tell()
        await until_async(lambda: len(desk.receiver.got) == 1)
        tasks.cancel_scope.cancel()


async def test_what_can_not_be_put_into_words_is_given_up_aloud(
    desk: Post, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.owe(await asked(desk.store, decide_by=10**18), stage=NoticeStage.REQUESTED)
    await desk.owe(await desk.asked())
    await desk.notifier().once()
    assert len(desk.receiver.got) == 1
    assert await desk.due(10**6) == []
    assert "can't be put into words" in caplog.text


async def test_a_slow_receiver_keeps_nobody_else_waiting(desk: Post) -> None:
    with receiving() as slow:
        slow.go = threading.Event()
        desk.add("slow", slow.url)
        approval = await desk.asked()
        await desk.owe(approval, target="slow")
        await desk.owe(approval)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.notifier().once)
            await until_async(lambda: len(slow.got) == 1 and len(desk.receiver.got) == 1)
            slow.go.set()
    assert await desk.due(10**6) == []


async def test_what_comes_up_while_a_slow_receiver_is_told_is_told_at_once(desk: Post) -> None:
    with receiving() as slow:
        slow.go = threading.Event()
        desk.add("slow", slow.url)
        approval, notifier = await desk.asked(), desk.notifier()
        for _ in range(3):
            await desk.owe(approval, target="slow")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(notifier.run)
            await until_async(lambda: len(slow.got) == 1)
            await desk.owe(approval)
            notifier.tell()
            await until_async(lambda: len(desk.receiver.got) == 1)
            assert len(slow.got) == 1  # one at a time, however often the others are looked after
            slow.go.set()
            await until_async(lambda: len(slow.got) == 3)
            tasks.cancel_scope.cancel()


async def test_a_backlog_of_one_address_hides_nothing_that_is_due_to_others(desk: Post) -> None:
    approval = await desk.asked()
    now = microseconds(desk.clock.now())
    rows = [a_notice(approval, target="slow", next_at=now - 1, created_at=now) for _ in range(300)]
    rows.append(a_notice(approval, next_at=now, created_at=now))

    def work(transaction: Transaction) -> Made[None]:
        for number, row in enumerate(rows):
            named = notice_row(replace(row, notice_id=f"ntc_{number}"))
            transaction.execute("add_notice", named)
        return Made(None)

    await desk.store.events.carry(Change(work))
    due = Counter(each.target for each in await desk.due())
    assert due == {"slow": 200, "chat": 1}

"""Subscriptions: weighed, joined, and left whatever happens."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from gateway.app.subscribing import subscribe
from gateway.types.calls import Method
from gateway.types.operations import Execution, Failure, Peer, Rejected, Undelivered
from gateway.types.outcomes import Finished
from gateway.types.relay import Outbound
from tests.helpers.cases import a_call, a_resource, a_revision
from tests.helpers.pipelines import Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

URI = "crm://notes/1"
ALLOWED = "rules:\n  - {id: r, decision: allow, match: {resources: ['crm://*']}}\n"


@dataclass
class Publisher:
    """A server that keeps who is told."""

    refuses: Rejected | Undelivered | None = None
    told: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    uris: list[str] = field(default_factory=list[str])
    peer: Peer = field(default_factory=lambda: Peer(transport="http"))
    asked: anyio.Event = field(default_factory=anyio.Event)
    held: anyio.Event | None = None

    async def subscribe(
        self, uri: str, outbound: Outbound, told: Callable[[], None]
    ) -> Callable[[], None] | Rejected | Undelivered:
        del outbound
        self.asked.set()
        if self.held is not None:
            await self.held.wait()
        if self.refuses is not None:
            return self.refuses
        self.uris.append(uri)
        self.told.append(told)
        return lambda: self.told.remove(told)


def ignore() -> None:
    """Hear of an update."""


async def subscribed(
    publisher: Publisher,
    log: Log,
    law: Law | None = None,
    told: Callable[[], None] = ignore,
) -> Callable[[], None] | Finished:
    law = law or Law(a_revision([], ALLOWED))
    pipeline = a_pipeline(Shelf((a_resource(),)), law, None, log)
    call = a_call(URI, method=Method.SUBSCRIBE, params={"uri": URI})
    return await subscribe(pipeline, lambda name: publisher, call, told)


async def test_an_allowed_subscription_is_held_until_its_way_out_is_taken() -> None:
    publisher, log = Publisher(), Log()
    way_out = await subscribed(publisher, log)
    assert not isinstance(way_out, Finished)
    assert (len(publisher.told), publisher.uris) == (1, [URI])
    assert [event.body["method"] for event in log.events] == ["resources/subscribe"] * 2
    way_out()
    way_out()
    assert publisher.told == []


async def test_rights_that_shrink_end_the_news() -> None:
    """case: AUT-02"""
    publisher, law, heard = Publisher(), Law(a_revision([], ALLOWED)), list[str]()
    await subscribed(publisher, Log(), law, lambda: heard.append("updated"))
    publisher.told[0]()
    assert heard == ["updated"]
    law.revision = a_revision([], "rules: []\n")
    publisher.told[0]()
    assert heard == ["updated"]


async def test_a_denied_subscription_reaches_no_server_and_is_recorded() -> None:
    publisher, log = Publisher(), Log()
    end = await subscribed(publisher, log, Law(a_revision([], "rules: []\n")))
    assert isinstance(end, Finished)
    assert end.error is not None
    assert end.error.code == -32602
    assert publisher.uris == []
    assert log.events[-1].body["status"] == "denied"


async def test_a_servers_own_error_is_the_end_of_a_subscription() -> None:
    refuses = Rejected(code=-32602, message="no such note")
    end = await subscribed(Publisher(refuses), Log())
    assert isinstance(end, Finished)
    assert end.error is not None
    assert end.error.message == "no such note"


async def test_a_server_that_is_away_is_the_end_of_a_subscription() -> None:
    gone = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="down")
    end = await subscribed(Publisher(gone), Log())
    assert isinstance(end, Finished)
    assert end.error is not None


async def test_a_caller_that_leaves_meanwhile_is_not_told() -> None:
    publisher, log = Publisher(held=anyio.Event()), Log()
    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribed, publisher, log)
            await publisher.asked.wait()
            tasks.cancel_scope.cancel()
    assert publisher.told == []
    assert log.events[-1].body["status"] == "cancelled"

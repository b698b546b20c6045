"""The way of a call as a whole: what comes before what."""

from gateway.types.events import Stage
from gateway.types.operations import Delivery
from gateway.types.outcomes import Status
from gateway.types.relay import Ear, Outbound
from tests.helpers.cases import a_call, a_contract, a_revision, a_tool
from tests.helpers.pipelines import Answering, Log, a_pipeline
from tests.helpers.shelves import Law, Shelf


async def test_a_refused_call_is_never_sent_and_is_in_the_log() -> None:
    tool, log, server = a_tool(), Log(), Answering()
    law = Law(a_revision([a_contract(tool)], "rules: []\n"))
    finished = await a_pipeline(Shelf((tool,)), law, server, log).handle(a_call())
    assert finished.status in {Status.DENIED, Status.UNKNOWN_TOOL}
    assert server.asked == []
    assert log.events


async def test_a_read_is_decided_about_before_it_is_sent() -> None:
    tool, log, seen = a_tool(), Log(), list[Stage]()

    class Looking(Answering):
        async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
            seen.extend(event.stage for event in log.events)
            return await super().request(outbound, ear)

    law = Law(a_revision([a_contract(tool)]))
    await a_pipeline(Shelf((tool,)), law, Looking(), log).handle(a_call())
    assert [str(each) for each in seen] == ["decided"]

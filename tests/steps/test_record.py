"""Step 14: record, seen through the whole pipeline."""

from collections.abc import Sequence
from dataclasses import replace

from gateway.crossing.books import SeenValue
from gateway.errors import StoreUnavailable
from gateway.types.actors import Actor
from gateway.types.operations import Delivered
from gateway.types.outcomes import Status
from gateway.types.tools import Yield
from tests.helpers.cases import a_call, a_contract, a_revision, a_tool
from tests.helpers.pipelines import Answering, Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

TOOL = a_tool()
FOUND = Delivered(result={"content": [], "structuredContent": {"id": "c-1"}}, size=1)


class Away:
    """A store that is not there."""

    async def remember(self, actor: Actor, tool: str, found: Sequence[SeenValue]) -> None:
        raise StoreUnavailable(f"{tool} {actor.user} {found}")


async def test_what_can_not_be_remembered_costs_its_caller_nothing() -> None:
    contract = a_contract(TOOL, yields=(Yield(type="crm.id", path="/id"),))
    log, law = Log(), Law(a_revision([contract]))
    pipeline = a_pipeline(Shelf((TOOL,)), law, Answering(FOUND), log)
    away = replace(pipeline, record=replace(pipeline.record, seen_values=Away()))
    finished = await away.handle(a_call())
    assert finished.status is Status.OK


def test_a_fault_is_told_without_its_words() -> None:
    law = Law(a_revision([a_contract(TOOL)]))
    record = a_pipeline(Shelf((TOOL,)), law, Answering(), Log()).record
    refusal = record.fault(a_call(), ValueError("MARK1"))
    assert (refusal.status, refusal.code) == (Status.INTERNAL, "ValueError")
    assert "MARK1" not in refusal.reason

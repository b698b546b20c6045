"""Step 14: record, seen through the whole pipeline."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.crossing.books import SeenValue
from gateway.errors import StoreUnavailable
from gateway.store.store import Store
from gateway.types.actors import Actor
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.outcomes import Answer, Refusal, Status, WireError
from gateway.types.runs import Evidence, Run
from gateway.types.tools import DocumentPaths, Effect, Retrieval, SourceTrust, WhenTainted, Yield
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case, a_contract, a_revision, a_tool
from tests.helpers.databases import ORIGIN
from tests.helpers.pipelines import Answering, Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

TOOL = a_tool()
FOUND = Delivered(result={"content": [], "structuredContent": {"id": "c-1"}}, size=1)


class Away:
    """A store that is not there."""

    async def remember(
        self, actor: Actor, run_id: str, tool: str, found: Sequence[SeenValue]
    ) -> None:
        raise StoreUnavailable(f"{tool} {actor.user} {run_id} {found}")

    async def taint(self, actor: Actor, run: Run | None, call_id: str) -> None:
        raise StoreUnavailable(f"{actor.user} {run} {call_id}")

    async def collect(self, run_id: str, evidence: Sequence[Evidence]) -> None:
        raise StoreUnavailable(f"{run_id} {evidence}")


class Keeps:
    """A store that keeps what it gets."""

    def __init__(self) -> None:
        self.values: list[SeenValue] = []
        self.evidence: list[Evidence] = []
        self.taints: list[str] = []

    async def remember(
        self, actor: Actor, run_id: str, tool: str, found: Sequence[SeenValue]
    ) -> None:
        del actor, run_id, tool
        self.values.extend(found)

    async def taint(self, actor: Actor, run: Run | None, call_id: str) -> None:
        del actor, run
        self.taints.append(call_id)

    async def collect(self, run_id: str, evidence: Sequence[Evidence]) -> None:
        assert run_id
        self.evidence.extend(evidence)


async def test_what_can_not_be_remembered_costs_its_caller_nothing() -> None:
    contract = a_contract(TOOL, yields=(Yield(type="crm.id", path="/id"),))
    log, law = Log(), Law(a_revision([contract]))
    pipeline = a_pipeline(Shelf((TOOL,)), law, Answering(FOUND), log)
    away = replace(pipeline, record=replace(pipeline.record, seen_values=Away()))
    finished = await away.handle(a_call())
    assert finished.status is Status.OK


@pytest.mark.parametrize(("effect", "leaves"), [(Effect.READ, False), (Effect.WRITE, True)])
async def test_what_others_can_write_does_not_leave_a_read_when_that_can_not_be_noted(
    effect: Effect, leaves: bool
) -> None:
    contract = a_contract(
        TOOL, effect=effect, result_trust=SourceTrust.EXTERNAL, when_tainted=WhenTainted.DENY
    )
    record = a_pipeline(Shelf((TOOL,)), Law(a_revision([contract])), Answering(), Log()).record
    case, answer = a_case(contract=contract, effect=effect), Answer(result={"content": []})
    seen = await replace(record, seen_values=Away()).seen(case, answer)
    assert (seen is answer) is leaves
    assert leaves or (isinstance(seen, Refusal) and seen.code == "taint_not_kept")


@pytest.mark.parametrize(
    ("said", "tainted"),
    [
        (Answer(result={}, status=Status.TOOL_FAILED), True),
        (Refusal(status=Status.RESULT_INVALID, reason="r", original={"content": []}), True),
        (
            Refusal(status=Status.TOOL_FAILED, reason="r", error=WireError(code=1, message="m")),
            True,
        ),
        (Refusal(status=Status.TIMEOUT, reason="r"), False),
    ],
)
async def test_errors_of_those_whom_others_can_write_taint_as_well(
    said: Answer | Refusal, tainted: bool
) -> None:
    contract = a_contract(TOOL, result_trust=SourceTrust.EXTERNAL, when_tainted=WhenTainted.DENY)
    record = a_pipeline(Shelf((TOOL,)), Law(a_revision([contract])), Answering(), Log()).record
    kept = Keeps()
    answer = await replace(record, seen_values=kept).seen(a_case(contract=contract), said)
    assert (answer, kept.taints) == (said, ["call_1"] if tainted else [])


async def test_what_a_repeated_call_is_told_counts_as_given_as_well(tmp_path: Path) -> None:
    contract = a_contract(TOOL, effect=Effect.WRITE, yields=(Yield(type="crm.id", path="/id"),))
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)
    law, kept = Law(a_revision([contract])), Keeps()
    pipeline = a_pipeline(Shelf((TOOL,)), law, Answering(FOUND), Log(), store=store)
    pipeline = replace(pipeline, record=replace(pipeline.record, seen_values=kept))
    first = await pipeline.handle(a_call(call_id="call_1"))
    again = await pipeline.handle(a_call(call_id="call_2"))
    store.close()
    assert (first.status, again.status) == (Status.OK, Status.OK)
    assert [each.record for each in kept.values] == ["call_1", "call_2"]


async def test_an_error_brings_nothing_into_play() -> None:
    contract = a_contract(TOOL, yields=(Yield(type="crm.id", path="/id"),))
    record = a_pipeline(Shelf((TOOL,)), Law(a_revision([contract])), Answering(), Log()).record
    kept = Keeps()
    failed = Answer(result={"structuredContent": {"id": "c-1"}}, status=Status.TOOL_FAILED)
    await replace(record, seen_values=kept).seen(a_case(contract=contract), failed)
    assert kept.values == []
    await replace(record, seen_values=kept).seen(
        a_case(contract=contract), replaced(failed, status=Status.OK)
    )
    assert [each.value for each in kept.values] == ["c-1"]


async def test_evidence_is_collected_into_the_run_and_redacted() -> None:
    paths = DocumentPaths(path="/hits/*", source="/doc", version="/v", chunk="/n")
    contract = a_contract(TOOL, retrieval=Retrieval(documents=paths))
    record = a_pipeline(Shelf((TOOL,)), Law(a_revision([contract])), Answering(), Log()).record
    kept, token = Keeps(), "sk-ant-api03-" + "a1B2" * 12
    hits: JsonObject = {"hits": [{"doc": f"notes/{token}", "v": 3, "n": "c1"}, {"doc": "b"}]}
    answer = Answer(result={"structuredContent": hits})
    case = a_case(contract=contract, effect=Effect.READ, run_id="run_1")
    await replace(record, seen_values=kept).seen(case, answer)
    one, two = kept.evidence
    assert (one.version, one.chunk, one.call_id) == ("3", "c1", "call_1")
    assert token not in one.source
    assert (two.source, two.tool) == ("b", case.tool.key)
    kept.evidence.clear()
    await replace(record, seen_values=kept).seen(replaced(case, run_id=""), answer)
    assert kept.evidence == []


def test_a_fault_is_told_without_its_words() -> None:
    law = Law(a_revision([a_contract(TOOL)]))
    record = a_pipeline(Shelf((TOOL,)), law, Answering(), Log()).record
    refusal = record.fault(a_call(), ValueError("MARK1"))
    assert (refusal.status, refusal.code) == (Status.INTERNAL, "ValueError")
    assert "MARK1" not in refusal.reason

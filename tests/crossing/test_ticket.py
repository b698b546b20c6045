"""Step 14: record, seen through the whole pipeline."""

from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import anyio
import pytest

from gateway.errors import StoreUnavailable
from gateway.results import envelope
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.calls import Method
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery
from gateway.types.outcomes import Answer, Finished, Status
from gateway.types.relay import AskOutcome, Ear, Inquiry, Outbound
from gateway.types.tools import Effect
from tests.helpers.cases import (
    a_call,
    a_contract,
    a_definition,
    a_prompt,
    a_resource,
    a_revision,
    a_tool,
)
from tests.helpers.databases import ORIGIN
from tests.helpers.pipelines import Answering, Log, a_pipeline, digest
from tests.helpers.shelves import Law, Shelf

URI = "crm://notes/1?token=MARK1"
POLICY = """\
rules:
  - {id: notes, decision: allow, match: {resources: ["crm://notes/*"]}}
  - {id: greet, decision: allow, match: {prompts: ["crm.greet"]}}
  - {id: find, decision: allow, match: {tools: ["crm.find"]}}
"""
HELD = (
    a_tool(),
    a_prompt(),
    a_prompt("hidden"),
    a_resource(URI),
    a_resource("crm://keys/1"),
)


async def handled(
    method: Method, name: str, result: JsonObject | None = None, arguments: JsonObject | None = None
) -> tuple[Finished, list[Event], Answering]:
    log, server = Log(), Answering(Delivered(result=result or {}, size=10))
    law = Law(a_revision([a_contract(HELD[0])], POLICY))
    call = a_call(
        name,
        arguments,
        method=method,
        params={"uri": name} if method is Method.READ_RESOURCE else {"name": name},
    )
    finished = await a_pipeline(Shelf(HELD), law, server, log).handle(call)
    return finished, log.events, server


def kinds(events: list[Event]) -> list[tuple[EventKind, Stage]]:
    return [(event.kind, event.stage) for event in events]


CONTENTS: list[Json] = [
    {"uri": URI, "text": "MARK2", "_meta": {"version": "7"}},
    {"uri": "crm://notes/2", "blob": "QQ=="},
]


async def test_what_is_refused_unclassified_has_the_effect_that_people_reviewed() -> None:
    tool = a_tool(a_definition(properties={"id": {"type": "string"}}))
    contract, log = a_contract(tool), Log()
    law = Law(a_revision([contract], POLICY))
    await a_pipeline(Shelf((tool,)), law, Answering(), log).handle(a_call("crm__find", {"id": 1}))
    assert log.events[-1].body["status"] == Status.INVALID_ARGUMENTS
    told = {(event.body.get("effect"), event.body.get("risk")) for event in log.events}
    assert told == {(contract.effect, contract.risk)}


class Slow(Answering):
    """A server that answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_answer = anyio.Event()

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        await self.may_answer.wait()
        return await super().request(outbound, ear)


async def test_only_a_call_that_is_alone_leaves_its_time_of_waiting_to_the_log() -> None:
    tool, log, server = a_tool(), Log(), Slow()
    pipeline = a_pipeline(Shelf((tool,)), Law(a_revision([a_contract(tool)])), server, log)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipeline.handle, a_call())
        await anyio.wait_all_tasks_blocked()
        assert (log.caught_up, pipeline.record.under_way.calls) == (1, 1)
        tasks.start_soon(pipeline.handle, a_call())
        await anyio.wait_all_tasks_blocked()
        assert (log.caught_up, pipeline.record.under_way.calls) == (1, 2)
        tasks.start_soon(pipeline.handle, a_call("crm__nothing"))
        await anyio.wait_all_tasks_blocked()
        assert pipeline.record.under_way.calls == 2, "what is refused is over"
        server.may_answer.set()
    assert pipeline.record.under_way.calls == 0
    await pipeline.handle(a_call())
    assert log.caught_up == 2


async def test_a_call_whose_caller_left_is_none_that_is_under_way() -> None:
    tool, log, server = a_tool(), Log(), Slow()
    pipeline = a_pipeline(Shelf((tool,)), Law(a_revision([a_contract(tool)])), server, log)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipeline.handle, a_call())
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert pipeline.record.under_way.calls == 0


async def test_a_read_resource_is_authorised_ended_and_retrieved() -> None:
    """case: OBS-01"""
    finished, events, server = await handled(Method.READ_RESOURCE, URI, {"contents": CONTENTS})
    assert finished.error is None
    assert finished.status is Status.OK
    assert server.asked[0].params == {"uri": URI}
    assert kinds(events) == [
        (EventKind.AUTHORIZATION, Stage.DECIDED),
        (EventKind.TOOL_CALL, Stage.FINISHED),
        (EventKind.RETRIEVAL, Stage.RECORDED),
    ]
    assert [event.body["method"] for event in events] == ["resources/read"] * 3
    assert events[0].body["rule"] == "notes"
    assert events[2].body["documents"] == [
        {
            "id": "crm://notes/1?token=[redacted:url_secret]",
            "version": "7",
            "digest": digest("acme", "MARK2"),
        },
        {"id": "crm://notes/2", "version": "", "digest": digest("acme", "QQ==")},
    ]
    assert "MARK" not in str([event.body for event in events])


async def test_a_prompt_is_authorised_and_ended_and_retrieves_nothing() -> None:
    arguments: JsonObject = {"who": "Ann"}
    finished, events, server = await handled(
        Method.GET_PROMPT, "crm__greet", {"messages": []}, arguments
    )
    assert finished.error is None
    assert kinds(events) == [
        (EventKind.AUTHORIZATION, Stage.DECIDED),
        (EventKind.TOOL_CALL, Stage.FINISHED),
    ]
    assert events[0].body["tool"] == "crm.greet"
    assert events[0].body["arguments"] == {"who": "Ann"}
    assert server.asked[0].params["name"] == "greet"


async def test_a_resource_that_no_rule_could_allow_does_not_exist() -> None:
    """case: AUT-01"""
    hidden, events, server = await handled(Method.READ_RESOURCE, "crm://keys/1")
    unknown, _, _ = await handled(Method.READ_RESOURCE, "crm://keys/9")
    assert server.asked == []
    assert hidden.error is not None
    assert unknown.error is not None
    assert (hidden.error.code, unknown.error.code) == (-32602, -32602)
    assert hidden.error.message.replace("keys/1", "keys/9") == unknown.error.message
    assert events[-1].body["status"] == "denied"


async def test_reads_of_different_resources_have_different_digests() -> None:
    _, first, _ = await handled(Method.READ_RESOURCE, URI, {"contents": []})
    _, again, _ = await handled(Method.READ_RESOURCE, URI, {"contents": []})
    _, other, _ = await handled(Method.READ_RESOURCE, "crm://keys/1")
    digests = [str(events[-1].body["arguments_digest"]) for events in (first, again, other)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_every_event_of_a_call_says_over_which_arguments_it_was(
    effect: Effect, tmp_path: Path
) -> None:
    tool = a_tool(a_definition(properties={"id": {"type": "string"}}))
    law = Law(a_revision([a_contract(tool, effect=effect)]))
    with closing(Store.open(f"sqlite:///{tmp_path}/s.db", origin=ORIGIN)) as store:
        pipeline = a_pipeline(Shelf((tool,)), law, Answering(), Log(), store=store)
        await pipeline.handle(a_call("crm__find", {"id": "c-1"}))
        await store.events.kept()
        told = [each.json()["body"] for each in await store.events.query(EventFilter())]
    digests = {str(body["arguments_digest"]) for body in told if isinstance(body, dict)}
    assert len(told) >= 3
    assert digests == {digest("acme", {"id": "c-1"})}


async def test_an_answer_of_another_form_does_not_pass() -> None:
    finished, events, _ = await handled(Method.READ_RESOURCE, URI, {"content": []})
    assert finished.error is not None
    assert finished.error.code == envelope.REFUSED
    assert events[-1].body["status"] == "result_invalid"


async def test_a_prompts_arguments_are_checked_before_anything_is_sent() -> None:
    finished, events, server = await handled(Method.GET_PROMPT, "crm__greet", {}, {"who": 7})
    assert server.asked == []
    assert finished.error is not None
    assert finished.error.code == -32602
    assert kinds(events)[-1] == (EventKind.TOOL_CALL, Stage.FAILED)


async def test_a_tool_keeps_its_refusals_as_results() -> None:
    finished, _, _ = await handled(Method.CALL_TOOL, "crm__nothing")
    assert finished.error is None
    assert finished.result["isError"] is True


async def test_what_a_model_was_asked_through_a_call_is_kept_once_and_without_its_words() -> None:
    log = Log()
    law = Law(a_revision([a_contract(HELD[0])], POLICY))
    ticket = a_pipeline(Shelf(HELD), law, Answering(), log).record.open(a_call())
    asked: JsonObject = {"messages": [{"role": "user", "content": "MARK3"}], "maxTokens": 5}
    ticket.sampled(asked, {"model": "m", "role": "assistant", "content": "MARK4"}, "")
    ticket.sampled(asked, None, "the user declined")
    finished = ticket.closed(Answer(result={"content": []}))
    ticket.abandoned()
    assert finished.status is Status.OK
    turns = [event for event in log.events if event.kind is EventKind.MODEL_TURN]
    assert [turn.stage for turn in turns] == [Stage.FINISHED, Stage.FAILED]
    assert [turn.body.get("error") for turn in turns] == [None, "the user declined"]
    assert {turn.call for turn in turns} == {"call_1"}
    assert "MARK" not in str([turn.body for turn in turns])


async def test_a_question_is_kept_at_once_and_after_the_end_of_its_call_too() -> None:
    log = Log()
    law = Law(a_revision([a_contract(HELD[0])], POLICY))
    ticket = a_pipeline(Shelf(HELD), law, Answering(), log).record.open(a_call())
    assert ticket.inquired(Inquiry(outcome=AskOutcome.ASKED, method=Method.ELICIT, params={}))
    (asked,) = log.events
    assert (asked.kind, asked.stage) == (EventKind.AUTHORIZATION, Stage.STARTED)
    assert str(asked.body["arguments_digest"])
    ticket.closed(Answer(result={"content": []}))
    ticket.inquired(Inquiry(outcome=AskOutcome.WITHDRAWN, method=Method.ELICIT, params={}))
    assert log.events[-1].stage is Stage.FAILED
    assert {event.call for event in log.events} == {"call_1"}


async def test_a_question_that_the_log_does_not_take_is_told_to_be_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StoreUnavailable("full")

    law, log = Law(a_revision([a_contract(HELD[0])], POLICY)), Log()
    ticket = a_pipeline(Shelf(HELD), law, Answering(), log).record.open(a_call())
    monkeypatch.setattr(log, "append", refuse)
    assert not ticket.inquired(Inquiry(outcome=AskOutcome.ASKED, method=Method.ELICIT))


async def test_an_end_that_the_log_has_refused_is_told_and_counted_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = a_tool()
    log, law = Log(), Law(a_revision([a_contract(tool)]))
    record = a_pipeline(Shelf((tool,)), law, Answering(), log).record
    ticket = record.open(a_call())
    with patch.object(type(record.telemetry), "record") as told:
        finished = ticket.unkept(Answer(result={"content": []}), StoreUnavailable("full"))
        ticket.abandoned()
    assert told.call_count == 1
    assert record.under_way.calls == 0
    assert log.events == []
    assert (ticket.record.status, finished.status) == (Status.OK, Status.OK)
    meta = finished.result["_meta"]
    assert isinstance(meta, dict)
    outcome = meta[envelope.OUTCOME]
    assert isinstance(outcome, dict)
    assert outcome["notes"] == ["the event log is behind: the end of this call is not kept yet"]
    assert "could not be kept: full" in caplog.text

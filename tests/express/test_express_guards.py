"""What is not as it was goes all the way, and is answered as if there were no other."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

import pytest

from gateway.app.observing import observing
from gateway.app.stance import Stance
from gateway.relay.questions import Questions
from gateway.relay.tools import OwnTool
from gateway.steps import policy
from gateway.telemetry.stencils import Timed
from gateway.types.audit import Audit, Level
from gateway.types.calls import Era, Method, ProposedCall
from gateway.types.decisions import Mode
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Operation
from gateway.types.outcomes import Answer, Finished, Refusal, Status
from gateway.types.runs import BindingKind, Collected, Phase, Place, Run, Trust
from gateway.types.runs import Mode as RunMode
from gateway.types.tools import (
    Ensure,
    OnFail,
    ProvenanceRule,
    Retrieval,
    Sensitivity,
    SourceTrust,
    Yield,
)
from gateway.types.values import replaced
from tests.helpers.cases import ALLOW_ALL, a_contract, a_definition, a_revision, a_tool
from tests.helpers.expressed import (
    OPEN,
    RESULT,
    RUN,
    TOOL,
    Both,
    Seen,
    Side,
    Speaker,
    Way,
    read,
    same,
)
from tests.helpers.people import no_tools
from tests.helpers.relays import some_questions

IN_RUN: Final = replaced(RUN, phase=Phase.RETRIEVING)
LEGACY: Final = Era.LEGACY
CALLS: Final[dict[str, dict[str, Any]]] = {
    "another method": {"method": Method.COMPLETE, "params": {"ref": {"type": "ref/prompt"}}},
    "capabilities": {"caller": Speaker(capabilities={"sampling": {}})},
    "a log level": {"caller": Speaker(log_level="info")},
    "a progress token": {"caller": Speaker(wants_progress=True), "meta": {"progressToken": 1}},
    "a progress token alone": {"meta": {"progressToken": 1}},
    "arguments with two readings": {"input_error": "a key is there twice"},
    "a cause": {"cause": "lookup"},
    "an answer to questions": {"continues": True},
    "a key of the caller's": {"meta": {"com.example/k": 1}},
    "a run that is named": {"meta": {"weighbridge/run": {"id": "run_1"}}},
    "a member of the caller's": {"params": {"name": "crm__find", "x": 1}},
    "answers": {"params": {"inputResponses": {}}},
    "a run of an operation": {"run": Place(kind=BindingKind.META, value="run_1")},
    "another transport": {"caller": Speaker(transport="stdio")},
    "another era": {"caller": Speaker(era=Era.LEGACY)},
    "another revision of the protocol": {"caller": Speaker(protocol_version="2027-01-01")},
    "no such tool": {"name": "crm__nothing"},
    "arguments that are none": {"arguments": {"text": 1}},
    "misspelt arguments": {"arguments": {"Text": "x"}},
    "misspelt arguments below": {"arguments": {"deep": {"a": 1}}},
}


@pytest.mark.parametrize("changes", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("in_runs", [False, True])
async def test_calls_that_are_like_no_earlier_one(changes: dict[str, Any], in_runs: bool) -> None:
    changes = dict(changes)
    both = await Both(in_runs=in_runs).taught()
    call = read(changes.pop("arguments", None), **changes)
    asked_for = "arguments" not in changes and call.arguments == {"text": "x"}
    if asked_for or not in_runs:
        assert not both.short.is_taken(call)
    await both.long_way(call)
    await both.short_way(read())


async def test_a_call_for_an_operation_goes_all_the_way() -> None:
    both = await Both().taught()
    operation: Any = object.__new__(Operation)
    assert both.short.is_taken(read())
    assert not both.short.is_taken(read(operation=operation))


def a_strict_tool() -> Any:
    schema: JsonObject = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "deep": {"type": "object", "properties": {}}},
        "additionalProperties": False,
    }
    return a_tool({**a_definition(), "inputSchema": schema})


@pytest.mark.parametrize("sent", [{"txt": "x"}, {"text": 1}, {"text": None}, {"TEXT": "x"}])
async def test_arguments_that_do_not_pass_are_refused(sent: JsonObject) -> None:
    both = await Both(tool=a_strict_tool()).taught()
    seen = await both.long_way(read(sent))
    assert seen.finished is not None
    assert seen.finished.status is Status.INVALID_ARGUMENTS
    assert seen.asked == []


async def test_a_revision_that_forbids_is_asked_at_once() -> None:
    for in_runs in (False, True):
        both = await Both(in_runs=in_runs).taught()
        denying = a_revision([a_contract(TOOL)], ALLOW_ALL.replace("allow", "deny"))
        both.both(lambda side, denying=denying: setattr(side.law, "revision", denying))
        seen = await both.long_way(read())
        assert seen.finished is not None
        assert (seen.finished.status, seen.asked) == (Status.UNKNOWN_TOOL, [])


async def test_another_revision_has_tracks_of_its_own() -> None:
    both = await Both().taught()
    both.both(lambda side: setattr(side.law, "revision", replace(side.law.revision, id="sha256:2")))
    assert not both.short.is_taken(read())
    await both.taught()
    await both.short_way(read())


async def test_a_revision_that_comes_while_the_run_is_looked_for_counts() -> None:
    both = await Both(in_runs=True).taught()
    denying = a_revision([a_contract(TOOL)], ALLOW_ALL.replace("allow", "deny"))

    def changing(side: Side) -> None:
        side.runs.meanwhile = lambda: setattr(side.law, "revision", denying)

    both.both(changing)
    await both.short_way(read())  # by that under which it came
    seen = await both.long_way(read())
    assert seen.asked == []


def the_way(going: Coroutine[Any, Any, Finished]) -> Way:
    def way(call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        del call
        return going

    return way


async def test_a_revision_that_comes_before_the_run_is_looked_for_counts() -> None:
    both = await Both(in_runs=True).taught()
    call = read(received_at=both.short.clock.at)
    seen: list[Seen] = []
    for side in both.sides:
        going = side.way(call)
        side.law.revision = a_revision()
        seen.append(await side.take(call, the_way(going)))
    same(*seen)
    assert seen[0].finished is not None
    assert seen[0].finished.status is Status.UNKNOWN_TOOL


async def test_no_track_of_another_revision_is_taken_by_a_call_that_waited() -> None:
    side = (await Both(in_runs=True, is_at_once=True).taught()).short
    waits = side.runs.may_answer = asyncio.Event()
    going = asyncio.ensure_future(side.take(read(received_at=side.clock.at)))
    await asyncio.sleep(0)
    side.runs.may_answer = None
    # The same rules, so that its decision is the same one.
    side.law.revision = replace(side.law.revision, id="sha256:2")
    for _ in range(4):
        await side.pipeline.handle(read(received_at=side.clock.at))
    others = sum(isinstance(each, Timed) for each in side.telemetry.measured.items)
    assert others
    before = side.alike
    waits.set()
    assert (await going).finished is not None
    assert side.alike == before + others, "it went the long way"


async def test_a_tool_that_is_published_anew_leaves_no_track_in_any_phase() -> None:
    both = await Both(in_runs=True).taught()
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await both.taught()
    anew = replace(TOOL)
    both.both(lambda side: setattr(side.shelf, "held", (anew,)))
    both.both(lambda side: setattr(side.runs, "run", None))
    await (await both.taught()).short_way(read())
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await both.long_way(read())
    await (await both.taught()).short_way(read())


@pytest.mark.parametrize("in_runs", [False, True])
async def test_a_tool_that_has_changed_is_looked_at_anew(in_runs: bool) -> None:
    both = await Both(in_runs=in_runs).taught()
    other = a_tool({**TOOL.definition, "description": "other"})
    both.both(lambda side: setattr(side.shelf, "held", (other,)))
    assert not both.short.is_taken(read())
    seen = await both.long_way(read())
    assert seen.finished is not None
    assert seen.finished.status is Status.TOOL_CHANGED
    both.both(lambda side: setattr(side.shelf, "held", ()))
    await both.long_way(read())
    both.both(lambda side: setattr(side.shelf, "held", (TOOL,)))
    await both.short_way(read())


async def test_a_server_that_is_gone_is_unavailable() -> None:
    for in_runs in (False, True):
        both = await Both(in_runs=in_runs).taught()
        both.both(lambda side: side.servers.clear())
        seen = await both.long_way(read())
        assert seen.finished is not None
        assert seen.finished.status is Status.UNAVAILABLE


@pytest.mark.parametrize("in_runs", [False, True])
async def test_reads_that_wait_for_the_log_do_so(in_runs: bool) -> None:
    for waits in (True, False):
        both = await Both(in_runs=in_runs, reads_wait_for_log=waits).taught()
        both.both(lambda side: setattr(side.journal, "failing", "disk full"))
        assert both.short.is_taken(read()) is (in_runs or not waits), "begun, if nobody waits"
        seen = await both.long_way(read())
        assert len(seen.asked) == (not waits)
        both.both(lambda side: setattr(side.journal, "failing", ""))
        await both.short_way(read())


WHEN: Final = ALLOW_ALL.replace("match:", "when: args.text != 'no', match:")


@pytest.mark.parametrize("in_runs", [False, True])
async def test_a_rule_about_arguments_is_asked_each_time(in_runs: bool) -> None:
    both = await Both(policy=WHEN, in_runs=in_runs).taught()
    await both.short_way(read({"text": "yes"}))
    refused: tuple[JsonObject, ...] = ({"text": "no"}, {})
    for sent in refused:
        seen = await both.long_way(read(sent))
        assert seen.finished is not None
        assert (seen.finished.status, seen.asked) == (Status.DENIED, [])
    await both.short_way(read({"text": "yes"}))


OF_TWO: Final = """\
rules:
  - {id: one, decision: allow, when: "args.text == 'x'", match: {tools: ['*']}}
  - {id: two, decision: allow, when: "args.text == 'y'", match: {tools: ['*']}}
"""


@pytest.mark.parametrize("in_runs", [False, True])
async def test_another_rule_that_allows_is_named(in_runs: bool) -> None:
    both = await Both(policy=OF_TWO, in_runs=in_runs).taught()
    seen = await both.long_way(read({"text": "y"}))
    assert b'"rule": "two"' in seen.left
    await both.taught(read({"text": "y"}))
    await both.short_way(read({"text": "y"}))
    seen, _ = await both.take(read())
    assert b'"rule": "one"' in seen.left


TIMED: Final = ALLOW_ALL.replace("match:", "when: now > timestamp('2020-01-01T00:00:00Z'), match:")
LIMITED: Final = ALLOW_ALL.replace(
    "match: {tools: ['*']}}", "match: {tools: ['*']}, limits: [{id: l, calls: 9, per: 1h}]}"
)


async def test_what_depends_on_the_time_goes_all_the_way() -> None:
    both = await Both(policy=TIMED).taught()
    await both.long_way(read())


CONTRACTS: Final[dict[str, dict[str, Any]]] = {
    "its promises": {"ensure": (Ensure(when="true", message="no"),)},
    "secrets in results": {"sensitive_results": {"/n": Sensitivity.SECRET}},
    "secrets in arguments": {"sensitive": {"/text": Sensitivity.SECRET}},
    "cancels": {"idempotency": Idempotency(is_cancel_safe=True)},
    "retrieves": {"retrieval": Retrieval(query="/text")},
    "yields": {"yields": (Yield(type="t", path="/n"),)},
    "proves": {
        "provenance": (ProvenanceRule(pointer="/id", sources=(), on_fail=OnFail.DENY),),
    },
    "its names alone": {"audit": Audit(level=Level.METADATA)},
    "all of it": {"audit": Audit(level=Level.FULL)},
    "another pin": {"pin": "sha256:0"},
    "nobody reviewed it": {"reviewed": False},
}


@pytest.mark.parametrize("changes", CONTRACTS.values(), ids=CONTRACTS)
@pytest.mark.parametrize("in_runs", [False, True])
async def test_contracts_that_ask_for_more(changes: dict[str, Any], in_runs: bool) -> None:
    both = Both(contract=a_contract(TOOL, **changes), in_runs=in_runs)
    for run in (None, IN_RUN) if in_runs else (None,):
        both.both(lambda side, run=run: setattr(side.runs, "run", run))
        await both.taught()
        await both.long_way(read())


async def test_a_secret_that_the_first_results_did_not_have_does_not_leave() -> None:
    both = Both(contract=a_contract(TOOL, sensitive_results={"/name": Sensitivity.SECRET}))
    await both.taught()
    secret: JsonObject = {**RESULT, "structuredContent": {"n": 1, "name": "hunter2"}}
    both.answers(Delivered(result=secret, size=99))
    seen = await both.long_way(read())
    assert b"hunter2" not in seen.left


async def test_results_that_others_can_write_are_noted_of_their_run() -> None:
    both = Both(contract=a_contract(TOOL, result_trust=SourceTrust.EXTERNAL), in_runs=True)
    for run in (None, IN_RUN):
        both.both(lambda side, run=run: setattr(side.runs, "run", run))
        await both.taught()
        assert (await both.take(read()))[1] is (run is None), "without one nobody asks for it"


async def test_arguments_that_are_to_be_sealed_go_all_the_way() -> None:
    """As nobody here has a key, such calls are refused; which way they go is what counts."""
    both = await Both(contract=a_contract(TOOL, audit=Audit(seal=True))).taught()
    assert not both.short.is_taken(read())
    await both.long_way(read())


async def test_whoever_hears_a_servers_log_in_the_handshake_era_goes_all_the_way() -> None:
    for era, hears in ((Era.LEGACY, True), (Era.LEGACY, False), (Era.MODERN, True)):
        both = Both(questions=some_questions() if hears else None)
        caller = Speaker(era=era)
        await both.taught(read(caller=caller))
        seen, is_short = await both.take(read(caller=caller))
        assert is_short is not (era is Era.LEGACY and hears)
        assert seen.asked[0][1] is (era is Era.LEGACY and hears), "its ear"


LOGS: Final = """\
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - {id: logs, decision: allow, match: {methods: [notifications/message], templates: [told]}}
"""


async def test_a_run_in_which_its_log_may_be_heard_sends_calls_all_the_way() -> None:
    asked = Questions(allowed=policy.asks, decide=policy.decide_ask)
    both, call = Both(policy=LOGS, questions=asked, in_runs=True), read(caller=Speaker(era=LEGACY))
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await (await both.taught(call)).short_way(call)
    both.both(lambda side: setattr(side.runs, "run", replaced(IN_RUN, template="told")))
    seen = await both.long_way(call)
    assert seen.asked[0][1], "its ear"


RUNS: Final[dict[str, Run | None]] = {
    "none": None,
    "completed": replaced(IN_RUN, phase=Phase.COMPLETED),
    "that is to be moved": RUN,
    "paused": replaced(IN_RUN, is_paused=True),
    "in another phase": replaced(IN_RUN, phase=Phase.FINALIZING),
    "for another one": replaced(IN_RUN, parent="run_0"),
    "with fields": replaced(
        IN_RUN, fields={"a": Collected(value="x", trust=Trust.MODEL, source="model", at=1)}
    ),
    "tainted": replaced(IN_RUN, is_tainted=True),
    "of a host": replaced(IN_RUN, mode=RunMode.HOST, version=9),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
async def test_runs_of_any_kind(run: Run | None) -> None:
    both = Both(in_runs=True)
    for known in (IN_RUN, run, IN_RUN, run):
        both.both(lambda side, known=known: setattr(side.runs, "run", known))
        await both.taught()
    if run is not None and run.parent:
        await both.long_way(read())


@pytest.mark.parametrize("run", [RUNS["for another one"], RUNS["that is to be moved"]])
async def test_a_run_that_changes_its_calls_sends_them_all_the_way(run: Run | None) -> None:
    both = Both(in_runs=True)
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await both.taught()
    both.both(lambda side: setattr(side.runs, "run", run))
    await both.long_way(read())


async def test_a_run_that_can_not_be_looked_up_refuses_its_call() -> None:
    both = await Both(in_runs=True).taught()
    both.both(lambda side: setattr(side.runs, "fails", RuntimeError("gone")))
    seen = await both.long_way(read())
    assert seen.finished is not None
    assert seen.finished.status is Status.INTERNAL


async def nothing(call: ProposedCall) -> Answer | Refusal:
    del call
    return Answer(result={"content": []})


async def test_a_tool_of_the_gateways_own_is_the_gateways_own() -> None:
    is_offered = False
    tool = OwnTool(
        definition={**TOOL.definition, "name": TOOL.exposed_name},
        is_offered=lambda: is_offered,
        answer=nothing,
    )
    both = await Both(own_tools=replace(no_tools(), tools=(tool,))).taught()
    seen = await both.long_way(read())
    assert len(seen.asked) == 1
    is_offered = True
    seen = await both.long_way(read())
    assert seen.asked == []


async def test_nothing_is_taken_the_short_way_while_decisions_are_only_recorded() -> None:
    both = await Both().taught()
    stance = Stance(mode=Mode.OBSERVE)
    watching = observing(both.short.pipeline, stance)
    for _ in range(6):
        before = both.short.alike
        seen = await both.short.take(read(), watching.handle)
        assert both.short.alike == before
        assert b'"observed"' in b"".join(row.body.encode() for row in seen.rows)


async def test_spans_that_nobody_can_write_yet_send_calls_all_the_way() -> None:
    both = Both()
    sees: Any = both.short.telemetry
    early, sees._early_for = sees._early_for, None
    for _ in range(4):  # however many there are
        await both.taught()
    assert not both.short.is_taken(read())
    sees._early_for = early
    await both.taught()
    await both.short_way(read())


async def test_without_rows_there_is_no_short_way() -> None:
    side = Both().short
    record = replace(side.pipeline.record, usual=None)
    side.pipeline = replace(side.pipeline, record=record)
    for _ in range(5):
        seen = await side.take(read())
        assert seen.finished is not None
        assert seen.finished.status is Status.OK
    assert not side.is_taken(read())


async def test_tools_have_tracks_of_their_own() -> None:
    other = a_tool(a_definition("count", properties={"text": {"type": "string"}}))
    both = await Both(tool=OPEN, tools=(other,)).taught()
    assert not both.short.is_taken(read(name="crm__count"))
    await both.taught(read(name="crm__count"))
    seen = await both.short_way(read(name="crm__count"))
    assert {row.tool for row in seen.rows} == {"crm.count"}

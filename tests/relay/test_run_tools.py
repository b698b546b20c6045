"""How agents work in runs with the gateway's own tools."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway import ids
from gateway.clock import SystemClock
from gateway.crossing.run_wishes import By, Sees
from gateway.crossing.running import Running, to_pause, to_phase, to_resume
from gateway.errors import StoreUnavailable
from gateway.events import runs as events
from gateway.events.redact import Redactor
from gateway.relay.run_tools import RunTools, Sighted
from gateway.relay.run_words import Bringers
from gateway.relay.tools import OwnTools
from gateway.runs.handover import Reach
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.store.events import EventFilter
from gateway.store.runs import RunFilter
from gateway.store.store import Store
from gateway.types.actors import Actor
from gateway.types.calls import Principal
from gateway.types.events import Event
from gateway.types.json import Json
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.runs import Bound, Mode, Mover, Phase, Place, Run
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_principal
from tests.helpers.people import a_holding
from tests.helpers.relays import some_states
from tests.helpers.runs import a_run, started

pytestmark = pytest.mark.postgres

TALK = {"vscode.conversationId": "c-1"}
REFUND = Template(
    name="refund",
    fields={
        "customer_id": FieldRule(required=True, sources=("user", "crm.id")),
        "reason": FieldRule(sources=("model",)),
        "wish": FieldRule(sources=("user",)),
    },
    enter_when={
        Phase.ACTING: (
            Guard(text="fields.customer_id", holds=lambda run: "customer_id" in run.fields),
        )
    },
    completed_when=(Guard(text="succeeded('desk.refund')", holds=lambda run: False),),
)
CLEAN = Template(
    name="clean",
    mode=Mode.AGENT,
    enter_when={Phase.ACTING: (Guard(text="!tainted", holds=lambda run: not run.is_tainted),)},
    completed_when=(Guard(text="!tainted", holds=lambda run: not run.is_tainted),),
)
BY_HOST = By(mover=Mover.HOST)


@dataclass
class Desk:
    """The tools over a real store, and what tools are said to have returned."""

    store: Store
    is_on: bool = True
    seen: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    is_away: bool = False  # the store can't be reached
    is_wary: bool = False  # sam was given what others can write
    needs: frozenset[str] = frozenset()  # scopes of the tool that yields ids of customers

    @property
    def running(self) -> Running:
        return Running(
            runs=self.store.runs,
            templates=lambda: {"refund": REFUND, "clean": CLEAN},
            is_on=lambda: self.is_on,
            idle_s=1800.0,
            redactor=Redactor(self.store.keys.redaction),
            clock=SystemClock(),
        )

    @property
    def tools(self) -> OwnTools:
        async def bound(principal: Principal, places: Sequence[Place]) -> Sequence[Bound]:
            if self.is_away:
                raise StoreUnavailable("no disk")
            return await self.store.runs.bound(principal, places, with_counts=True)

        async def seen(actor: Actor, run_id: str, value: Json, types: Sequence[str]) -> Sighted:
            assert (actor.user, run_id.startswith("run_")) == ("sam", True)
            found = (each for each in types if value in self.seen.get(each, []))
            return Sighted(type=next(found, ""))

        async def tainted(actor: Actor) -> bool:
            return self.is_wary and actor.user == "sam"

        made = RunTools(
            running=self.running,
            bound=bound,
            owner=self.store.runs.owner,
            seen=seen,
            tainted=tainted,
            reach=lambda: Reach(tools={}, types={"crm.id": [self.needs]}),
            bringers=lambda actor: Bringers(
                of_types=lambda types: ["crm.find"] if "crm.id" in types else [],
                of_evidence=lambda: ["crm.read"],
            ),
        )
        return OwnTools(
            tools=made.tools(lambda name: lambda: self.is_on),
            errands=a_holding(some_states()).errands,
        )

    async def call(self, name: str, arguments: Any = None, **changes: Any) -> Answer | Refusal:
        given = {"meta": TALK, **changes}
        return await self.tools.handle(a_call(name, arguments or {}, **given))

    async def said(self, name: str, arguments: Any = None, **changes: Any) -> dict[str, Any]:
        answer = await self.call(name, arguments, **changes)
        assert isinstance(answer, Answer), answer
        said: Any = answer.result["structuredContent"]
        return said

    async def refused(self, name: str, arguments: Any = None, **changes: Any) -> Refusal:
        answer = await self.call(name, arguments, **changes)
        assert isinstance(answer, Refusal), answer
        return answer

    async def begun(self, **arguments: Any) -> str:
        said = await self.said("run_start", {"objective": "a refund", **arguments})
        return said["run_id"]

    async def run(self, run_id: str) -> Run:
        return await self.running.get(run_id, Sees())


async def test_an_agent_begins_a_run_and_its_conversation_leads_to_it(store: Store) -> None:
    desk = Desk(store)
    said = await desk.said("run_start", {"objective": "a refund", "template": "refund"})
    assert (said["phase"], said["objective"], said["template"]) == ("created", "a refund", "refund")
    assert said["missing"] == {
        "acting": ["fields.customer_id"],
        "completed": ["succeeded('desk.refund')"],
    }
    run = await desk.run(said["run_id"])
    assert (run.user, run.is_of_user, run.mode) == ("sam", False, Mode.AUTO)
    assert (await desk.said("run_status"))["run_id"] == run.run_id
    await store.runs.flush()
    active = await desk.run(run.run_id)
    assert (active.active_at > run.active_at, active.calls) == (True, 0)
    [kept] = await store.events.query(EventFilter(run=run.run_id, kind="run"))
    event: Any = kept.json()
    assert (event["call"], event["body"]["by"]) == ("call_1", "agent")


async def test_a_run_that_goes_on_is_not_left_for_another_one(store: Store) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    again = await desk.refused("run_start", {"objective": "something else"})
    assert (again.status, again.code) == (Status.PHASE_BLOCKED, "run_open")
    await desk.said("run_finish", {"outcome": "completed"})
    assert await desk.begun() != run_id
    other = await desk.said("run_start", {"objective": "x"}, meta={"threadId": "t-2"})
    assert other["run_id"] != run_id  # another conversation has a run of its own


async def test_where_the_host_names_the_run_the_model_begins_none(store: Store) -> None:
    desk = Desk(store)
    named = {"weighbridge/run": {"id": await desk.begun()}}
    refused = await desk.refused("run_start", {"objective": "x"}, meta=named)
    assert refused.code == "run_named"
    assert refused.next.startswith("work in that run")
    assert (await desk.said("run_status", meta=named))["run_id"] == named["weighbridge/run"]["id"]


async def test_a_call_outside_of_its_conversation_names_its_run(store: Store) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    lost = await desk.refused("run_status", meta={})
    assert (lost.status, "run_start" in lost.next) == (Status.INVALID_ARGUMENTS, True)
    assert (await desk.said("run_status", {"run_id": run_id}, meta={}))["run_id"] == run_id
    odd = await desk.refused("run_status", {"run_id": "run_1"})
    assert odd.status is Status.INVALID_ARGUMENTS
    two = {"weighbridge/run": {"id": "run_01KB2Y8H6Z3M4N5P6Q7R8S9T0V"}}
    conflict = await desk.refused("run_status", {"run_id": run_id}, meta=two)
    assert conflict.status is Status.RUN_CONFLICT


@pytest.mark.parametrize(
    "other", [{"tenant": "globex"}, {"user": "eve"}, {"client": "other"}, {"subject": "other"}]
)
async def test_the_run_of_somebody_else_is_not_there(store: Store, other: dict[str, str]) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    theirs = a_principal(**other)
    none = "run_01KB2Y8H6Z3M4N5P6Q7R8S9T0V"
    for name, more in (
        ("run_status", {}),
        ("run_set_phase", {"phase": "acting"}),
        ("run_finish", {"outcome": "failed"}),
        ("run_handoff", {"reason": "x"}),
        ("run_set_field", {"name": "reason", "value": "x"}),
    ):
        refused = await desk.refused(name, {"run_id": run_id, **more}, principal=theirs)
        unknown = await desk.refused(name, {"run_id": none, **more}, principal=theirs)
        assert refused.reason.replace(run_id, "") == unknown.reason.replace(none, "")
        by_talk = await desk.refused(name, more, principal=theirs)
        assert by_talk.status is Status.INVALID_ARGUMENTS
    assert (await desk.run(run_id)).version == 0


async def test_a_value_is_shown_to_whoever_could_have_had_it_from_a_tool(store: Store) -> None:
    desk = Desk(store, seen={"crm.id": ["c-1"]}, needs=frozenset({"crm:all"}))
    run_id = await desk.begun(template="refund")
    said = await desk.said("run_set_field", {"name": "customer_id", "value": "c-1"})
    assert (said["fields"], said["withheld"]) == ({}, ["customer_id"])
    assert (await desk.said("run_status"))["withheld"] == ["customer_id"]
    assert (await desk.run(run_id)).fields["customer_id"].value == "c-1"
    wider = a_principal(scopes=frozenset({"crm:all"}))
    seen = await desk.said("run_status", principal=wider)
    assert (seen["fields"], seen["withheld"]) == ({"customer_id": "c-1"}, [])


async def test_a_field_counts_as_from_a_tool_only_if_a_tool_returned_it(store: Store) -> None:
    desk = Desk(store, seen={"crm.id": ["c-1"]})
    run_id = await desk.begun(template="refund")
    invented = await desk.refused("run_set_field", {"name": "customer_id", "value": "c-2"})
    assert (invented.status, invented.code) == (Status.PROVENANCE_FAILED, "not_seen")
    assert "`crm.id`" in invented.reason
    assert invented.next == (
        "look it up with `crm.find` first, then set the field with what that returned"
    )
    claimed = {"name": "customer_id", "value": "c-2", "source": "crm.id"}
    lied = await desk.refused("run_set_field", claimed)
    assert (lied.status, lied.code) == (Status.PROVENANCE_FAILED, "not_seen")
    for speaker in ("host", "user", "model"):
        posed = await desk.refused("run_set_field", claimed | {"source": speaker})
        assert posed.status is Status.INVALID_ARGUMENTS
    said = await desk.said("run_set_field", {"name": "customer_id", "value": "c-1"})
    assert (said["fields"], "acting" in said["missing"]) == ({"customer_id": "c-1"}, False)
    assert (await desk.run(run_id)).fields["customer_id"].source == "crm.id"
    await desk.said("run_set_field", {"name": "reason", "value": ["it", "broke"]})
    assert (await desk.run(run_id)).fields["reason"].source == "model"
    unheard = await desk.refused("run_set_field", {"name": "colour", "value": "red"})
    assert "no field" in unheard.reason


async def test_a_field_of_the_user_is_left_to_the_host(store: Store) -> None:
    desk = Desk(store)
    await desk.begun(template="refund")
    refused = await desk.refused("run_set_field", {"name": "wish", "value": "soon"})
    assert "has to come from `user`, not from `model`" in refused.reason
    assert refused.next == "ask the user: only the host can set it"


async def test_what_is_missing_comes_with_the_way_to_it(store: Store) -> None:
    desk = Desk(store, seen={"crm.id": ["c-1"]})
    answer = await desk.call("run_start", {"objective": "a refund", "template": "refund"})
    assert isinstance(answer, Answer)
    text = str(answer.result["content"])
    assert "acting needs fields.customer_id" in text
    assert "For `fields.customer_id` look it up with `crm.find` first" in text
    said = await desk.said("run_set_field", {"name": "customer_id", "value": "c-1"})
    assert "fields.customer_id" not in said["how"]


async def test_a_model_learns_which_templates_there_are(store: Store) -> None:
    desk = Desk(store)
    listed: Any = next(each for each in desk.tools.definitions() if each["name"] == "run_start")
    assert "`refund`" in listed["inputSchema"]["properties"]["template"]["description"]
    answer = await desk.call("run_start", {"objective": "a refund"})
    assert isinstance(answer, Answer)
    assert "It has no template, of " in str(answer.result["content"])


async def test_guards_say_what_is_missing_before_an_agent_goes_on(store: Store) -> None:
    desk = Desk(store, seen={"crm.id": ["c-1"]})
    await desk.begun(template="refund")
    early = await desk.refused("run_set_phase", {"phase": "acting"})
    assert (early.status, early.code) == (Status.PHASE_BLOCKED, "run_blocked")
    assert early.details == ({"missing": "fields.customer_id"},)
    await desk.said("run_set_field", {"name": "customer_id", "value": "c-1"})
    assert (await desk.said("run_set_phase", {"phase": "acting"}))["phase"] == "acting"
    done = await desk.refused("run_finish", {"outcome": "completed"})
    assert done.details == ({"missing": "succeeded('desk.refund')"},)
    over = await desk.said("run_finish", {"outcome": "failed", "note": "it can't be done"})
    assert (over["phase"], over["note"], over["stop_reason"]) == (
        "failed",
        "it can't be done",
        "failed",
    )


async def test_guards_beware_of_what_the_model_has_read_elsewhere(store: Store) -> None:
    desk = Desk(store, is_wary=True)
    run_id = await desk.begun(template="clean")
    await desk.running.change(run_id, Sees(), BY_HOST, to_phase(Phase.RETRIEVING, Mover.HOST))
    for name, arguments in (
        ("run_set_phase", {"phase": "acting"}),
        ("run_finish", {"outcome": "completed"}),
    ):
        assert (await desk.refused(name, arguments)).details == ({"missing": "!tainted"},)
    said = await desk.said("run_status")
    assert said["missing"] == {"acting": ["!tainted"], "completed": ["!tainted"]}
    desk.is_wary = False
    await desk.said("run_set_phase", {"phase": "acting"})
    assert not (await desk.run(run_id)).is_tainted


async def test_an_agent_is_told_which_run_around_its_own_holds_it(store: Store) -> None:
    desk = Desk(store)
    parent, child = await desk.begun(), a_run(tenant="acme", phase=Phase.RETRIEVING)
    inner = replaced(child, parent=parent, owner=(await desk.run(parent)).owner)
    await store.runs.start(inner, [], started)
    assert "held_by" not in await desk.said("run_status", {"run_id": inner.run_id})
    await desk.running.change(parent, Sees(), BY_HOST, to_pause("look at this first"))
    answer = await desk.call("run_status", {"run_id": inner.run_id})
    assert isinstance(answer, Answer)
    assert f"`{parent}` around it is paused" in str(answer.result["content"])
    said = await desk.said("run_status", {"run_id": inner.run_id})
    assert said["held_by"] == {"run_id": parent, "is": "paused"}
    for name, arguments in (
        ("run_set_phase", {"phase": "acting"}),
        ("run_finish", {"outcome": "failed"}),
    ):
        refused = await desk.refused(name, {**arguments, "run_id": inner.run_id})
        assert "around this one is paused" in refused.reason


async def test_where_the_host_moves_a_run_its_model_does_not(store: Store) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    row = await desk.run(run_id)
    host = to_phase(Phase.RETRIEVING, Mover.HOST)
    run = await desk.running.change(run_id, Sees(), BY_HOST, host)
    assert row.mode is Mode.AUTO
    after = await store.runs.change(run, _in_mode(run, Mode.HOST), _untold)
    assert after is not None
    refused = await desk.refused("run_set_phase", {"phase": "acting"})
    assert "its host moves" in refused.reason


async def test_nobody_gets_out_of_a_pause_by_giving_up(store: Store) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    await desk.running.change(run_id, Sees(), BY_HOST, to_pause("look at this first"))
    for name, arguments in (
        ("run_set_phase", {"phase": "retrieving"}),
        ("run_finish", {"outcome": "failed"}),
        ("run_finish", {"outcome": "completed"}),
        ("run_start", {"objective": "another"}),
    ):
        assert (await desk.refused(name, arguments)).status is Status.PHASE_BLOCKED, name
    answer = await desk.call("run_status")
    assert isinstance(answer, Answer)
    assert "It is paused" in str(answer.result["content"])
    assert (await desk.said("run_status"))["note"] == "look at this first"
    await desk.said("run_handoff", {"reason": "I give up"})
    handed = await desk.run(run_id)
    assert (handed.phase, handed.is_paused) == (Phase.HANDOFF, True)
    refused = await desk.refused("run_start", {"objective": "another"})
    assert (refused.code, f"`{run_id}`" in refused.reason) == ("run_open", True)
    resumed = await desk.running.change(run_id, Sees(), BY_HOST, to_resume())
    assert (resumed.phase, resumed.is_paused, resumed.finished_at) == (Phase.RETRIEVING, False, 0)
    await desk.said("run_finish", {"outcome": "completed"})
    assert await desk.begun() != run_id


@pytest.mark.parametrize("by", [By(mover=Mover.AGENT), BY_HOST])
@pytest.mark.parametrize("end", [Phase.FAILED, Phase.HANDOFF])
async def test_what_was_given_up_is_followed_by_no_other_run_until_a_person_or_host_resumes_it(
    store: Store, end: Phase, by: By
) -> None:
    desk = Desk(store)
    run_id = await desk.begun(template="refund")
    await desk.running.change(run_id, Sees(), by, to_phase(end, by.mover))
    refused = await desk.refused("run_start", {"objective": "without a template"})
    assert (refused.status, refused.code) == (Status.PHASE_BLOCKED, "run_open")
    assert refused.reason == f"the run `{run_id}` is `{end}`"
    await desk.running.change(run_id, Sees(), BY_HOST, to_resume())
    assert (await desk.said("run_status"))["phase"] == "retrieving"


async def test_of_runs_that_are_begun_at_once_by_one_conversation_there_is_one(
    store: Store,
) -> None:
    desk = Desk(store)
    answers = await asyncio.gather(
        *(desk.call("run_start", {"objective": f"nr. {nr}"}) for nr in range(8))
    )
    assert sum(isinstance(each, Answer) for each in answers) == 1
    [run] = await store.runs.find(RunFilter())
    refused = [each for each in answers if isinstance(each, Refusal)]
    assert {(each.code, f"`{run.run_id}`" in each.reason) for each in refused} == {
        ("run_open", True)
    }


async def test_a_run_of_a_session_holds_the_conversations_in_it_as_well(store: Store) -> None:
    desk, session = Desk(store), {"sessionId": "s-1"}
    run_id = (await desk.said("run_start", {"objective": "a refund"}, meta=session))["run_id"]
    refused = await desk.refused("run_start", {"objective": "another"}, meta={**session, **TALK})
    assert (refused.code, f"`{run_id}`" in refused.reason) == ("run_open", True)


async def test_a_run_of_the_caller_is_only_for_calls_that_nothing_else_tells_apart(
    store: Store,
) -> None:
    desk = Desk(store)
    run_id = (await desk.said("run_start", {"objective": "a refund"}, meta={}))["run_id"]
    assert (await desk.said("run_status", meta={}))["run_id"] == run_id
    assert (await desk.refused("run_status")).code == "run_not_found"  # in a conversation
    assert (await desk.begun()) != run_id


async def test_no_agent_begins_runs_without_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.runs.MOST_OPEN", 2)
    desk, start = Desk(store), {"objective": "a refund"}
    for nr in range(2):
        await desk.said("run_start", start, meta={"threadId": f"t{nr}"})
    refused = await desk.refused("run_start", start, meta={"threadId": "t2"})
    assert (refused.status, refused.code) == (Status.LIMIT_EXCEEDED, "run_too_many")
    assert refused.retry_after_s == 60.0
    assert len(await store.runs.find(RunFilter())) == 2
    other = a_principal(subject="other-key", user="max")
    assert await desk.said("run_start", start, meta={"threadId": "t2"}, principal=other)


async def test_what_is_handed_over_is_over_for_the_agent(store: Store) -> None:
    desk = Desk(store)
    run_id = await desk.begun()
    said = await desk.said("run_handoff", {"reason": "he is angry", "to": "tier 2"})
    assert (said["phase"], said["note"]) == ("handoff", "for tier 2: he is angry")
    assert (await desk.refused("run_set_phase", {"phase": "acting"})).code == "run_blocked"
    assert (await desk.run(run_id)).finished_at


async def test_a_template_that_there_is_not_is_answered_with_those_that_there_are(
    store: Store,
) -> None:
    refused = await Desk(store).refused("run_start", {"objective": "x", "template": "refunds"})
    assert (refused.status, "`refund`" in refused.next) == (Status.INVALID_ARGUMENTS, True)


async def test_without_runs_there_are_no_such_tools(store: Store) -> None:
    desk = Desk(store, is_on=False)
    assert desk.tools.definitions() == ()
    refused = await desk.refused("run_start", {"objective": "x"})
    assert refused.status is Status.UNKNOWN_TOOL


def _in_mode(run: Run, mode: Mode) -> Run:
    return replaced(run, mode=mode)


def _untold(before: Run, after: Run) -> list[Event]:
    return [events.event(before, after, by=Mover.HOST, id=ids.ulid(), at=SystemClock().now())]


async def test_without_a_store_nobody_knows_and_the_agent_is_told_so(store: Store) -> None:
    refused = await Desk(store, is_away=True).refused("run_finish", {"outcome": "completed"})
    assert (refused.status, refused.code) == (Status.AUDIT_UNAVAILABLE, "run_unavailable")
    assert (refused.executed, "no disk" in refused.reason) == (Execution.UNKNOWN, True)


async def test_what_no_person_could_read_is_not_repeated(store: Store) -> None:
    refused = await Desk(store).refused("run_start", {"objective": "x", "template": "a\nb"})
    assert refused.reason == "there is no template `…`"

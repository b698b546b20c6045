"""Changes of runs, whoever wants them."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.clock import SystemClock
from gateway.crossing.run_wishes import By, Kind, NewRun, RunRefused, Sees
from gateway.crossing.running import Running, to_pause, to_phase, to_resume
from gateway.events.redact import Redactor
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.store.events import EventFilter
from gateway.store.run_rows import MOST_AROUND
from gateway.store.runs import RunFilter, Started, Told
from gateway.store.store import Store
from gateway.types.operations import OpState
from gateway.types.runs import (
    Collected,
    Evidence,
    Mode,
    Mover,
    Phase,
    Place,
    Run,
    StopReason,
    Trust,
)
from tests.helpers.cases import a_principal, an_actor
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import TALK, found

pytestmark = pytest.mark.postgres

HOST, AGENT = By(mover=Mover.HOST, actor=an_actor()), By(mover=Mover.AGENT, actor=an_actor())
ALL = Sees()
REFUND = Template(
    name="refund",
    mode=Mode.AGENT,
    objective="give money back",
    fields={
        "customer_id": FieldRule(required=True, sources=("user", "crm.id")),
        "note": FieldRule(),
    },
    enter_when={
        Phase.ACTING: (
            Guard(text="fields.customer_id", holds=lambda run: "customer_id" in run.fields),
        )
    },
    wall_s=60,
    idle_s=5,
)


def a_running(store: Store, *templates: Template, is_on: bool = True, **changes: Any) -> Running:
    values: dict[str, Any] = {
        "runs": store.runs,
        "templates": lambda: {each.name: each for each in templates},
        "is_on": lambda: is_on,
        "idle_s": 1800.0,
        "redactor": Redactor(store.keys.redaction),
        "clock": SystemClock(),
    }
    return Running(**(values | changes))


def new(store: Store, **changes: Any) -> NewRun:
    who = a_principal()
    values: dict[str, Any] = {
        "tenant": who.tenant,
        "owner": store.runs.owner(who),
        "user": who.user,
    }
    return NewRun(**(values | changes))


async def refusal(call: Any) -> RunRefused:
    with pytest.raises(RunRefused) as refused:
        await call
    return refused.value


async def told(store: Store, run: Run) -> list[dict[str, Any]]:
    kept = await store.events.query(EventFilter(run=run.run_id, kind="run"))
    return [each.json() for each in kept]


async def test_a_run_begins_as_its_template_says_and_is_found_by_its_places(store: Store) -> None:
    running = a_running(store, REFUND)
    run = await running.start(new(store, template="refund"), HOST, [TALK])
    assert (run.phase, run.mode, run.objective) == (Phase.CREATED, Mode.AGENT, "give money back")
    assert (run.idle_s, run.ends_at - run.created_at) == (5.0, 60_000_000)
    assert [each.run.run_id for each in await found(store)] == [run.run_id]
    [event] = await told(store, run)
    assert (event["stage"], event["body"]["by"]) == ("started", "host")
    assert event["actor"]["user"] == "sam"


async def test_without_a_template_the_configuration_says_how_long(store: Store) -> None:
    run = await a_running(store).start(new(store, mode=Mode.HOST), HOST)
    assert (run.mode, run.idle_s, run.ends_at) == (Mode.HOST, 1800.0, 0)


@pytest.mark.parametrize(
    ("wanted_run", "kind"),
    [
        ({"template": "nowhere"}, Kind.INVALID),
        ({"parent": "run_none"}, Kind.INVALID),
        ({"template": "refund", "fields": {"colour": "red"}}, Kind.BLOCKED),
        ({"template": "refund", "fields": {"customer_id": "c-1"}, "source": "host"}, Kind.BLOCKED),
    ],
)
async def test_what_names_something_that_there_is_not_begins_nothing(
    store: Store, wanted_run: dict[str, Any], kind: Kind
) -> None:
    running = a_running(store, REFUND)
    assert (await refusal(running.start(new(store, **wanted_run), HOST))).kind is kind
    assert await store.runs.find(RunFilter()) == []


async def test_where_calls_belong_to_no_runs_none_begins(store: Store) -> None:
    refused = await refusal(a_running(store, is_on=False).start(new(store), HOST))
    assert "runs.enabled" in str(refused)


async def test_a_run_works_for_another_one_of_its_user_while_that_goes_on(store: Store) -> None:
    running = a_running(store)
    parent = await running.start(new(store), HOST)
    child = await running.start(new(store, parent=parent.run_id), HOST)
    assert child.parent == parent.run_id
    narrow = new(store, parent=parent.run_id, scopes=frozenset({"crm:read", "crm:write"}))
    middle = await running.start(narrow, HOST)
    wide = new(store, parent=middle.run_id, scopes=frozenset({"crm:read", "admin"}))
    assert (await running.start(wide, HOST)).scopes == {"crm:read"}
    assert child.scopes == frozenset()  # nothing was named
    foreign = new(store, parent=parent.run_id, user="eve")
    assert (await refusal(running.start(foreign, HOST))).kind is Kind.INVALID
    await running.change(parent.run_id, ALL, HOST, to_phase(Phase.FAILED, Mover.HOST))
    over = await refusal(running.start(new(store, parent=parent.run_id), HOST))
    assert over.kind is Kind.BLOCKED


async def test_runs_are_inside_of_each_other_no_deeper_than_calls_look(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    for _ in range(MOST_AROUND):
        run = await running.start(new(store, parent=run.run_id), HOST)
    refused = await refusal(running.start(new(store, parent=run.run_id), HOST))
    assert (refused.kind, f"at most {MOST_AROUND}" in refused.reason) == (Kind.INVALID, True)


@pytest.mark.parametrize(
    "sees",
    [Sees(tenant="globex"), Sees(user="eve"), Sees(owners=frozenset({"0"}))],
    ids=["tenant", "user", "owner"],
)
async def test_what_is_not_ones_own_is_not_there(store: Store, sees: Sees) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    told_of = await refusal(running.get(run.run_id, sees))
    none = await refusal(running.get("run_none", sees))
    assert told_of.kind is none.kind is Kind.NOT_FOUND
    assert str(told_of).replace(run.run_id, "ID") == str(none).replace("run_none", "ID")
    changed = await refusal(running.change(run.run_id, sees, HOST, to_pause("x")))
    assert changed.kind is Kind.NOT_FOUND
    assert (await running.get(run.run_id, ALL)).version == run.version


async def test_agents_are_held_up_by_guards_and_hosts_are_not(store: Store) -> None:
    running = a_running(store, REFUND)
    run = await running.start(new(store, template="refund"), HOST)
    refused = await refusal(
        running.change(run.run_id, ALL, AGENT, to_phase(Phase.ACTING, Mover.AGENT))
    )
    assert (refused.kind, refused.missing) == (Kind.BLOCKED, ("fields.customer_id",))
    moved = await running.change(run.run_id, ALL, HOST, to_phase(Phase.ACTING, Mover.HOST))
    assert moved.phase is Phase.ACTING


async def test_a_change_of_another_version_than_was_meant_is_none(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    paused = await running.change(run.run_id, ALL, HOST, to_pause("lunch"), version=run.version)
    late = running.change(run.run_id, ALL, HOST, to_resume(), version=run.version)
    assert (await refusal(late)).kind is Kind.CHANGED
    resumed = await running.change(run.run_id, ALL, HOST, to_resume("back"), version=paused.version)
    assert (resumed.is_paused, resumed.note) == (False, "back")
    assert [each["stage"] for each in await told(store, run)] == ["started", "paused", "resumed"]


class Racing:
    """Rows in which somebody else always comes first."""

    def __init__(self, store: Store, times: int) -> None:
        self.inner, self.times = store.runs, times

    async def get(self, run_id: str) -> Run | None:
        return await self.inner.get(run_id)

    async def find(self, wanted: RunFilter) -> list[Run]:
        return await self.inner.find(wanted)

    async def start(
        self,
        run: Run,
        places: Sequence[Place],
        told: Started,
        *,
        joins: bool = False,
        beside: Sequence[Place] = (),
    ) -> Run:
        return await self.inner.start(run, places, told, joins=joins, beside=beside)

    async def move(self, before: Run, after: Run, told: Told) -> Run | None:
        self.times -= 1
        return None if self.times >= 0 else await self.inner.move(before, after, told)


async def test_a_race_is_run_again_and_not_for_ever(store: Store) -> None:
    run = await a_running(store).start(new(store), HOST)
    patient: Any = Racing(store, 3)
    won = await a_running(store, runs=patient).change(run.run_id, ALL, HOST, to_pause("x"))
    assert won.is_paused
    hopeless: Any = Racing(store, 1_000)
    lost = a_running(store, runs=hopeless).change(run.run_id, ALL, HOST, to_resume())
    assert (await refusal(lost)).kind is Kind.CHANGED


async def test_nothing_is_completed_while_something_is_open(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    op = await claim(store, wanted(run_id=run.run_id))
    complete = to_phase(Phase.COMPLETED, Mover.HOST, "done")
    refused = await refusal(running.change(run.run_id, ALL, HOST, complete))
    assert "under way" in refused.missing[0]
    assert await settle(store, op.operation, OpState.SUCCEEDED)
    done = await running.change(run.run_id, ALL, HOST, complete)
    assert (done.phase, done.stop_reason) == (Phase.COMPLETED, StopReason.COMPLETED)
    assert (
        await refusal(running.change(run.run_id, ALL, HOST, to_pause("x")))
    ).kind is Kind.BLOCKED


async def test_fields_are_set_and_taken_away_in_one_change_or_not_at_all(store: Store) -> None:
    running = a_running(store, REFUND)
    run = await running.start(new(store, template="refund"), HOST)
    fields: dict[str, Collected | None] = {
        "customer_id": _said(running, "c-1", "user"),
        "note": _said(running, "n", "host"),
    }
    both = await running.set_fields(run.run_id, ALL, HOST, fields)
    assert {name: each.value for name, each in both.fields.items()} == {
        "customer_id": "c-1",
        "note": "n",
    }
    wrong = {"note": None, "customer_id": _said(running, "c-2", "host")}
    assert (await refusal(running.set_fields(run.run_id, ALL, HOST, wrong))).kind is Kind.BLOCKED
    without = await running.set_fields(run.run_id, ALL, HOST, {"note": None, "unheard": None})
    assert list(without.fields) == ["customer_id"]
    last = (await told(store, run))[1]["body"]
    assert [each["name"] for each in last["fields"]] == ["customer_id", "note"]
    assert "c-1" not in str(last)


async def test_an_agent_does_not_set_what_a_host_or_a_user_has_set(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store, fields={"customer_id": "c-1"}), HOST)
    other: dict[str, Collected | None] = {
        "customer_id": running.collected("c-2", "model", Trust.MODEL, AGENT)
    }
    for fields in (other, {"customer_id": None}):
        refused = await refusal(running.set_fields(run.run_id, ALL, AGENT, fields))
        assert (refused.kind, "by the host" in refused.reason) == (Kind.BLOCKED, True)
    free = {"note": running.collected("n", "model", Trust.MODEL, AGENT)}
    assert (await running.set_fields(run.run_id, ALL, AGENT, free)).fields["note"].value == "n"
    again = {"note": running.collected("m", "model", Trust.MODEL, AGENT)}
    assert (await running.set_fields(run.run_id, ALL, AGENT, again)).fields["note"].value == "m"


async def test_a_run_holds_no_more_than_so_many_fields(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    many = {f"f{number}": _said(running, number, "host") for number in range(101)}
    assert "at most" in str(await refusal(running.set_fields(run.run_id, ALL, HOST, many)))


async def test_a_field_is_no_place_for_a_whole_document(store: Store) -> None:
    running = a_running(store)
    large = "x" * 8192
    refused = await refusal(running.start(new(store, fields={"f": large}), HOST))
    assert "8192 bytes" in str(refused)
    run = await running.start(new(store, fields={"f": large[2:]}), HOST)
    fields: dict[str, Collected | None] = {"g": _said(running, [large], "host")}
    assert "an id" in str(await refusal(running.set_fields(run.run_id, ALL, HOST, fields)))


async def test_evidence_and_tokens_are_added_while_a_run_goes_on(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    items = [Evidence(source="kb://1"), Evidence(source="kb://1"), Evidence(source="kb://2")]
    assert (await running.add_evidence(run.run_id, ALL, HOST, items)).evidence == 2
    assert (await running.spend(run.run_id, ALL, HOST, 10)).tokens == 10
    spent = await running.spend(run.run_id, ALL, HOST, 5)
    assert (spent.tokens, spent.calls, spent.version) == (15, 0, run.version)
    await running.change(run.run_id, ALL, HOST, to_phase(Phase.FAILED, Mover.HOST))
    for more in (
        running.spend(run.run_id, ALL, HOST, 1),
        running.add_evidence(run.run_id, ALL, HOST, items),
    ):
        assert (await refusal(more)).kind is Kind.BLOCKED


async def test_what_a_host_tells_of_a_run_is_in_the_log_with_who_did(store: Store) -> None:
    running = a_running(store)
    run = await running.start(new(store), HOST)
    await running.add_evidence(run.run_id, ALL, HOST, [Evidence(source="kb://1")])
    await running.spend(run.run_id, ALL, HOST, 5)
    events = [each.json() for each in await store.events.query(EventFilter(stage="changed"))]
    assert {str(each["run"]) for each in events} == {run.run_id}
    assert all(each["actor"] for each in events)
    bodies = [body for each in events if isinstance(body := each["body"], dict)]
    counts = sorted((str(body["evidence"]), str(body["tokens"])) for body in bodies)
    assert counts == [("1", "0"), ("1", "5")]


async def test_a_run_keeps_no_more_references_than_there_is_room_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("gateway.store.run_changes", "gateway.crossing.running"):
        monkeypatch.setattr(f"{module}.MOST_KEPT", 3)
    running = a_running(store)
    run = await running.start(new(store), HOST)
    items = [Evidence(source=f"kb://{nr}") for nr in range(5)]
    assert (await running.add_evidence(run.run_id, ALL, HOST, items)).evidence == 3
    await store.runs.add_evidence(run.run_id, items)  # what calls read is not kept, nor refused
    assert len(await store.runs.evidence(run.run_id)) == 3
    full = await refusal(running.add_evidence(run.run_id, ALL, HOST, items))
    assert (full.kind, "3 references" in full.reason) == (Kind.BLOCKED, True)


async def test_a_run_whose_template_is_gone_can_be_stopped_and_does_not_go_on(store: Store) -> None:
    run = await a_running(store, REFUND).start(new(store, template="refund"), HOST)
    running = a_running(store)
    for phase, by in ((Phase.ACTING, AGENT), (Phase.COMPLETED, HOST)):
        refused = await refusal(running.change(run.run_id, ALL, by, to_phase(phase, by.mover)))
        assert "not in force" in refused.missing[0]
    paused = await running.change(run.run_id, ALL, HOST, to_pause("x"))
    assert paused.is_paused
    over = await running.change(run.run_id, ALL, HOST, to_phase(Phase.HANDOFF, Mover.HOST, "you"))
    assert (over.phase, over.note) == (Phase.HANDOFF, "you")


def _said(running: Running, value: Any, source: str) -> Collected:
    return running.collected(value, source, Trust.HOST, HOST)

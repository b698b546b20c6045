"""`weighbridge runs`: runs in a terminal."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.operations import OpState
from gateway.types.runs import Evidence, Phase, Run, StopReason
from tests.helpers.approvals import asked
from tests.helpers.runs import a_field, begun
from tests.helpers.undoings import a_refund, contracts
from tests.helpers.workspaces import Workspace, a_workspace

T = TypeVar("T")
TEMPLATE = """runs:
  refund:
    fields: {customer_id: {required: true}}
    limits: {wall: 2h}
"""


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    made = a_workspace(tmp_path)
    (tmp_path / "policies/runs").mkdir()
    (tmp_path / "policies/runs/refund.yaml").write_text(TEMPLATE)
    return made


def with_store(place: Workspace, work: Callable[[Store], Awaitable[T]]) -> T:
    with place.store() as store:
        return anyio.run(work, store)


def a_run(place: Workspace, **changes: Any) -> Run:
    """Keep a run in the store of a workspace."""

    async def make(store: Store) -> Run:
        return await begun(store, **changes)

    return with_store(place, make)


def now(place: Workspace, run: Run) -> Run:
    async def get(store: Store) -> Run:
        found = await store.runs.get(run.run_id)
        assert found is not None
        return found

    return with_store(place, get)


def test_a_person_sees_what_is_worked_on(place: Workspace) -> None:
    run = a_run(place, template="refund", objective="give it back", phase=Phase.ACTING)
    headers, row, tally = place.run("runs", "list").stdout.splitlines()
    assert headers.split() == ["run", "phase", "template", "for", "age", "calls", "objective"]
    assert row.split()[:4] == [run.run_id, "acting", "refund", "ana@acme"]
    assert row.endswith("give it back")
    assert tally == "1 run"


@pytest.mark.parametrize(
    "words",
    [
        ("--phase", "failed"),
        ("--stopped", "blocked"),
        ("--tenant", "globex"),
        ("--user", "ann"),
        ("--template", "other"),
        ("--since", "2999-01-01"),
    ],
)
def test_what_is_not_asked_for_is_left_out(words: tuple[str, ...], place: Workspace) -> None:
    a_run(place)
    assert place.json("runs", "list", *words) == (0, [])
    assert place.json("runs", "list", "--open")[1][0]["phase"] == "created"
    assert place.run("runs", "list", *words).stdout.splitlines()[-1] == "0 runs"


def test_a_limit_is_told_when_it_may_have_cut(place: Workspace) -> None:
    a_run(place)
    a_run(place)
    assert place.run("runs", "list", "--limit", "1").stderr == "(the first 1; --limit gives more)\n"


def full(place: Workspace) -> Run:
    """Keep a run that has something of everything."""

    async def make(store: Store) -> Run:
        run = await begun(store, template="refund", fields={"order": a_field(7)})
        await a_refund(store, OpState.INDETERMINATE, run_id=run.run_id)
        await asked(store, run_id=run.run_id, decide_by=run.created_at + 10**9)
        await store.runs.add_evidence(run.run_id, [Evidence(source="kb://1", version="3")])
        return run

    return with_store(place, make)


def test_a_run_is_shown_with_what_nobody_knows_first_and_what_to_do(place: Workspace) -> None:
    run = full(place)
    told = place.run("runs", "show", run.run_id).stdout
    lines = [line.split(maxsplit=1) for line in told.splitlines()]
    names = [name for name, *_ in lines]
    assert names.index("operation") < names.index("waits") < names.index("field")
    assert "! indeterminate" in told
    assert "missing       for acting: fields.customer_id" in told
    assert "evidence      kb://1  3" in told
    assert "the run began" in told
    assert next(text for name, text in lines if name == "next").startswith("find out whether")


def test_the_newest_of_what_happened_is_shown(place: Workspace) -> None:
    run = full(place)
    place.run("runs", "pause", run.run_id, "--reason", "wait")
    told = place.run("runs", "show", run.run_id, "--events", "1")
    assert told.stderr == "(the newest 1 events of it; --events gives more)\n"
    assert told.stdout.splitlines()[-1].endswith("wait")
    assert "the run began" not in told.stdout
    none = place.run("runs", "show", run.run_id, "--events", "0")
    assert (none.stderr, "the run was paused" in none.stdout) == ("", False)
    _, found = place.json("runs", "show", run.run_id, "--events", "1")
    assert ([each["title"] for each in found["timeline"]], found["is_cut"]) == (
        ["the run was paused"],
        True,
    )


def test_what_is_stopped_for_lack_of_something_is_told_from_a_pause(place: Workspace) -> None:
    run = a_run(place, phase=Phase.ACTING, is_paused=True, stop_reason=StopReason.BLOCKED)
    assert "acting (blocked)" in place.run("runs", "list").stdout
    assert "acting, blocked (auto mode)" in place.run("runs", "show", run.run_id).stdout


def test_a_run_says_which_one_around_it_holds_it(place: Workspace) -> None:
    outer = a_run(place, is_paused=True)
    inner = a_run(place, parent=outer.run_id)
    told = place.run("runs", "show", inner.run_id).stdout
    assert f"held by       {outer.run_id}, the run around it" in told
    assert "held by" not in place.run("runs", "show", outer.run_id).stdout


def test_a_program_gets_all_of_it(place: Workspace) -> None:
    run = full(place)
    code, found = place.json("runs", "show", run.run_id)
    assert (code, found["run_id"], found["phase"]) == (0, run.run_id, "created")
    assert found["package"]["unknown"][0]["state"] == "indeterminate"
    assert found["package"]["missing"] == ["customer_id"]
    assert found["timeline"][0]["title"] == "the run began"


def test_a_run_is_paused_and_goes_on_and_the_log_knows_who_did_it(place: Workspace) -> None:
    run = a_run(place, phase=Phase.ACTING)
    words = ("runs", "pause", run.run_id, "--by", "ann", "--reason", "wrong customer")
    assert place.run(*words).stdout == f"run           {run.run_id} is paused: wrong customer\n"
    assert (now(place, run).is_paused, now(place, run).phase) == (True, Phase.ACTING)
    again = place.run(*words)
    assert (again.exit_code, again.stderr) == (1, "weighbridge: the run is paused already\n")
    code, resumed = place.json("runs", "resume", run.run_id)
    assert (code, resumed["is_paused"], resumed["phase"]) == (0, False, "acting")

    async def tell(store: Store) -> list[Any]:
        kept = await store.events.query(EventFilter(run=run.run_id, kind="run"))
        return [each.json() for each in kept]

    _, paused, _ = with_store(place, tell)
    assert (paused["stage"], paused["body"]["by"]) == ("paused", "person")
    assert (paused["actor"]["user"], paused["actor"]["issuer"][:3]) == ("ann", "os:")


def test_what_is_handed_over_is_shown_to_whoever_takes_it(place: Workspace) -> None:
    run = full(place)
    words = ("runs", "handoff", run.run_id, "--to", "tier 2", "--reason", "he is angry")
    told = place.run(*words).stdout
    assert told.startswith(f"run           {run.run_id} is handed over; for tier 2: he is angry\n")
    assert "! indeterminate" in told
    assert now(place, run).phase is Phase.HANDOFF
    refused = place.run(*words)
    assert (refused.exit_code, "is over" in refused.stderr) == (1, True)


def test_a_program_gets_the_package_of_a_hand_over(place: Workspace) -> None:
    run = a_run(place)
    code, package = place.json("runs", "handoff", run.run_id, "--reason", "x")
    assert (code, package["run_id"], package["phase"]) == (0, run.run_id, "handoff")


def test_what_a_run_did_is_planned_to_be_undone_and_nothing_else(place: Workspace) -> None:
    async def make(store: Store) -> Run:
        run = await begun(store)
        await a_refund(store, OpState.SUCCEEDED)
        return run

    run = with_store(place, make)
    assert place.json("runs", "compensate", run.run_id) == (0, [])
    refused = place.run("runs", "compensate", run.run_id, "--wait", "1s")
    assert refused.stderr == "weighbridge: `--wait` waits for what `--execute` asks for\n"


def test_what_a_run_did_is_asked_to_be_undone_the_last_first(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, contracts=tuple(contracts().values()))

    async def make(store: Store) -> tuple[Run, list[str]]:
        run = await begun(store, phase=Phase.ACTING)
        ops = [await a_refund(store, OpState.SUCCEEDED, run_id=run.run_id) for _ in range(2)]
        return run, [op.op_id for op in reversed(ops)]

    run, ops = with_store(place, make)
    code, steps = place.json("runs", "compensate", run.run_id)
    assert (code, [(each["op_id"], each["readiness"]) for each in steps]) == (
        0,
        [(op_id, "ready") for op_id in ops],
    )
    words = ("--execute", "--by", "ann", "--reason", "it was the wrong customer")
    code, asked_for = place.json("runs", "compensate", run.run_id, *words)
    assert (code, [each["op_id"] for each in asked_for]) == (0, ops)
    assert all(each["undo"] for each in asked_for)


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("pause", "--reason", "x"),
        ("resume",),
        ("handoff", "--reason", "x"),
        ("compensate",),
    ],
)
def test_a_run_that_is_not_there_is_told_so(words: tuple[str, ...], place: Workspace) -> None:
    a_run(place)  # so that there is a store
    done = place.run("runs", words[0], "run_none", *words[1:])
    assert (done.exit_code, done.stderr) == (1, "weighbridge: there is no run `run_none`\n")

"""`weighbridge ops`: operations in a terminal."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.store.store import Store
from gateway.types.operations import Operation, OpState
from tests.helpers.operations import claim, settle
from tests.helpers.undoings import a_refund, asked, now
from tests.helpers.workspaces import Workspace, a_workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path)


def made(place: Workspace, *states: OpState, **changes: Any) -> list[Operation]:
    """Make refunds in the store of a workspace."""

    async def make(store: Store) -> list[Operation]:
        return [await a_refund(store, state, **changes) for state in states]

    with place.store() as store:
        return anyio.run(make, store)


def state(place: Workspace, op: Operation) -> OpState:
    with place.store() as store:
        return anyio.run(now, store, op).state


def test_a_person_sees_first_what_nobody_knows_and_last_what_to_do(place: Workspace) -> None:
    unknown, done = made(place, OpState.INDETERMINATE, OpState.SUCCEEDED)
    headers, first, second, tally = place.run("ops", "list").stdout.splitlines()
    assert headers.split() == [
        *("operation", "state", "verification", "tool", "for", "age", "evidence")
    ]
    assert first.split()[:3] == [unknown.op_id, "!", "indeterminate"]
    assert second.split()[:5] == [
        *(done.op_id, "succeeded", "not_declared", "desk.refund", "sam@acme")
    ]
    assert tally == (
        "2 operations: 1 succeeded, 1 indeterminate; settle what is `indeterminate` with "
        "`weighbridge ops resolve OP --happened|--not-happened --evidence TEXT`"
    )


def test_without_anything_unknown_there_is_nothing_to_mend(place: Workspace) -> None:
    made(place, OpState.SUCCEEDED)
    assert place.run("ops", "list").stdout.splitlines()[-1] == "1 operation: 1 succeeded"


@pytest.mark.parametrize(
    "words",
    [
        ("--state", "failed_final"),
        ("--tenant", "globex"),
        ("--user", "ann"),
        ("--tool", "desk.put"),
        ("--since", "2999-01-01"),
        ("--unverified",),
    ],
)
def test_what_is_not_asked_for_is_left_out(words: tuple[str, ...], place: Workspace) -> None:
    made(place, OpState.SUCCEEDED)
    assert place.json("ops", "list", *words) == (0, [])
    assert place.run("ops", "list", *words).stdout.splitlines()[-1] == "0 operations"


def test_a_program_gets_a_list_of_operations(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED)
    code, [found] = place.json("ops", "list", "--since", "1h")
    assert (code, found["op_id"], found["state"]) == (0, op.op_id, "succeeded")


def test_a_limit_is_told_when_it_may_have_cut(place: Workspace) -> None:
    made(place, OpState.SUCCEEDED, OpState.SUCCEEDED)
    done = place.run("ops", "list", "--limit", "1")
    assert done.stderr == "(the first 1; --limit gives more)\n"


def test_one_operation_is_shown_with_its_events_and_the_way_out(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED)
    with place.store() as store:
        row = anyio.run(asked, store, op)
    code, found = place.json("ops", "show", op.op_id)
    assert code == 0
    assert found["compensated_by"] == [{"op_id": row.op_id, "state": "ready"}]
    assert [event["kind"] for event in found["events"]] == ["tool_call", "admin"]
    shown = place.run("ops", "show", op.op_id).stdout
    lines = dict(line.split("  ", 1) for line in shown.splitlines() if "  " in line)
    assert lines["compensated by"].strip() == f"{row.op_id} (ready)"
    assert lines["key.source"].strip() == "derived"
    assert (
        lines["next"].strip().startswith("it is being undone; a running gateway carries that out")
    )
    assert op.arguments not in shown
    undo = place.run("ops", "show", row.op_id).stdout
    assert f"compensates     {op.op_id}" in undo


def test_an_id_that_is_unknown_says_where_ids_are(place: Workspace) -> None:
    made(place)
    for words in (("show",), ("resolve", "--happened", "--evidence", "x"), ("compensate",)):
        done = place.run("ops", words[0], "op_none", *words[1:])
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == (
            "weighbridge: there is no operation `op_none`; see `weighbridge ops list`\n"
        )


@pytest.mark.parametrize(
    ("flag", "end"),
    [("--happened", OpState.SUCCEEDED), ("--not-happened", OpState.FAILED_RETRYABLE)],
)
def test_a_person_settles_what_nobody_knew(flag: str, end: OpState, place: Workspace) -> None:
    [op] = made(place, OpState.INDETERMINATE)
    words = ("ops", "resolve", op.op_id, flag, "--evidence", "in the ledger", "--by", "ann")
    done = place.run(*words)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0] == (
        f"{op.op_id} is {end.value}, settled by ann: in the ledger"
    )
    assert state(place, op) is end
    again = place.run(*words)
    assert again.exit_code == 1
    assert again.stderr == (
        f"weighbridge: `{op.op_id}` is `{end.value}` already, settled by ann: in the ledger\n"
    )


def test_a_person_says_that_one_was_undone_whose_check_can_not_tell(place: Workspace) -> None:
    async def left(store: Store) -> Operation:
        op = await a_refund(store)
        row = await asked(store, op)
        taken = (await claim(store, replace(row, call_id="call_1"))).operation
        await settle(store, taken, OpState.SUCCEEDED)
        return op

    with place.store() as store:
        op = anyio.run(left, store)
    shown = place.run("ops", "show", op.op_id).stdout
    assert f"weighbridge ops resolve {op.op_id} --happened|--not-happened" in shown
    done = place.run("ops", "resolve", op.op_id, "--happened", "--evidence", "x", "--by", "ann")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{op.op_id} is compensated, settled by ann: x",
        "next: it took effect and was undone",
    ]
    assert state(place, op) is OpState.COMPENSATED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--evidence", "x"), "say `--happened` or `--not-happened`"),
        (
            ("--happened", "--not-happened", "--evidence", "x"),
            "say `--happened` or `--not-happened`, not both",
        ),
        (
            ("--happened", "--evidence", " "),
            "`--evidence` is empty; say what shows what became of it",
        ),
    ],
)
def test_a_decision_needs_a_side_and_evidence(
    words: tuple[str, ...], said: str, place: Workspace
) -> None:
    [op] = made(place, OpState.INDETERMINATE)
    done = place.run("ops", "resolve", op.op_id, *words)
    assert (done.exit_code, done.stderr) == (2, f"weighbridge: {said}\n")
    assert state(place, op) is OpState.INDETERMINATE


def test_without_a_store_it_says_so(place: Workspace) -> None:
    done = place.run("ops", "list")
    assert done.exit_code == 2
    assert "there is no store at" in done.stderr

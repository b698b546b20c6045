"""`weighbridge ops compensate`: a plan, and asking for it."""

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.store.store import Store
from gateway.types.operations import Operation, OpState
from tests.helpers.databases import ORIGIN
from tests.helpers.fake_server import WAIT_S
from tests.helpers.operations import claim, settle
from tests.helpers.undoings import a_refund, contracts, now
from tests.helpers.workspaces import Workspace, a_workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path, contracts=tuple(contracts().values()))


def made(place: Workspace, *states: OpState, **changes: Any) -> list[Operation]:
    async def make(store: Store) -> list[Operation]:
        return [await a_refund(store, state, **changes) for state in states]

    with place.store() as store:
        return anyio.run(make, store)


def of_state(place: Workspace, op: Operation) -> OpState:
    with place.store() as store:
        return anyio.run(now, store, op).state


def ready(place: Workspace) -> list[Operation]:
    with place.store() as store:
        return anyio.run(store.operations.ready)


def test_a_plan_shows_the_last_first_and_changes_nothing(place: Workspace) -> None:
    early, late = made(place, OpState.SUCCEEDED, OpState.SUCCEEDED)
    done = place.run("ops", "compensate", early.op_id, late.op_id)
    assert done.exit_code == 0, done.stderr
    _, first, second, mend = done.stdout.splitlines()
    assert first.split(maxsplit=3) == [
        *(late.op_id, "desk.refund", "ready", "`desk.cancel` undoes it")
    ]
    assert second.split()[0] == early.op_id
    assert mend == "next: the same with `--execute`"
    assert ready(place) == []


def test_what_can_t_be_undone_is_exit_code_1(place: Workspace) -> None:
    unknown, done = made(place, OpState.INDETERMINATE, OpState.SUCCEEDED)
    code, steps = place.json("ops", "compensate", unknown.op_id, done.op_id)
    assert code == 1
    assert {step["op_id"]: step["readiness"] for step in steps} == {
        unknown.op_id: "indeterminate",
        done.op_id: "ready",
    }


def test_a_plan_sees_that_what_undoes_it_can_not_be_called(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED, result={})
    for words in ((), ("--execute",)):
        done = place.run("ops", "compensate", op.op_id, *words)
        assert done.exit_code == 1
        assert "incomplete" in done.stdout
        assert "`desk.cancel` can't be called: there is no `$result.refund_id`" in done.stdout
        assert "next:" not in done.stdout
    assert ready(place) == []


def test_operations_are_chosen_by_call_or_by_time_and_user(place: Workspace) -> None:
    one, two = made(place, OpState.SUCCEEDED, OpState.SUCCEEDED)
    _, found = place.json("ops", "compensate", "--call", one.call_id)
    assert [step["op_id"] for step in found] == [one.op_id]
    _, found = place.json("ops", "compensate", "--since", "1h", "--user", "sam")
    assert {step["op_id"] for step in found} == {one.op_id, two.op_id}
    assert place.json("ops", "compensate", "--since", "1h", "--user", "ann") == (0, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to undo: ids of operations, `--call`, or `--since`"),
        (("op_1", "--user", "sam"),
         "`--tenant`, `--user` and `--tool` choose among those of `--since`"),
        (("op_1", "--wait", "5s"), "`--wait` waits for what `--execute` asks for"),
        (("op_1", "--execute", "--wait", "soon"),
         "`soon` is not a span of time; write it like `60s` or `5m`"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_the_right_one(
    words: tuple[str, ...], said: str, place: Workspace
) -> None:
    done = place.run("ops", "compensate", *words)
    assert (done.exit_code, done.stderr) == (2, f"weighbridge: {said}\n")


def test_a_call_that_sent_nothing_is_told_so(place: Workspace) -> None:
    made(place)
    done = place.run("ops", "compensate", "--call", "call_none")
    assert (done.exit_code, done.stderr) == (
        1,
        "weighbridge: the call `call_none` sent no operation\n",
    )


def test_without_a_gateway_it_is_asked_for_and_waits(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED)
    done = place.run("ops", "compensate", op.op_id, "--execute", "--reason", "wrong customer")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == "no gateway is running; it is carried out when one starts\n"
    [row] = ready(place)
    assert row.compensates == op.op_id
    assert done.stdout.splitlines()[1].split()[:4] == [
        *(op.op_id, "desk.refund", row.op_id, "compensating")
    ]
    assert of_state(place, op) is OpState.COMPENSATING
    again = place.run("ops", "compensate", op.op_id, "--execute")
    assert "is undoing it" in again.stdout
    assert len(ready(place)) == 1


def test_a_wait_that_ends_without_an_end_is_exit_code_1(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED)
    done = place.run("ops", "compensate", op.op_id, "--execute", "--wait", "10ms")
    assert done.exit_code == 1
    assert "compensating" in done.stdout


def test_what_can_t_be_asked_for_is_told_with_exit_code_1(place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED, result={})
    code, [row] = place.json("ops", "compensate", op.op_id, "--execute")
    assert (code, row["undo"]) == (1, None)
    assert row["reason"] == "`desk.cancel` can't be called: there is no `$result.refund_id`"


async def undo_all(store: Store, end: OpState) -> None:
    """Do what a gateway does: say that it runs, and see the first row through."""
    await store.instances.save("gw-1", {})
    with anyio.fail_after(WAIT_S):
        while not (rows := await store.operations.ready()):
            await anyio.sleep(0.02)
    [row] = rows
    taken = (await claim(store, row)).operation
    await settle(store, taken, OpState.SUCCEEDED)
    original = await store.operations.get(row.compensates)
    assert original is not None
    assert original.state is OpState.COMPENSATING
    await store.operations.mark(original, end, "as the gateway says", [])


@pytest.mark.parametrize(("end", "code"), [(OpState.COMPENSATED, 0), (OpState.SUCCEEDED, 1)])
def test_who_waits_hears_how_it_ended(end: OpState, code: int, place: Workspace) -> None:
    [op] = made(place, OpState.SUCCEEDED)
    store = Store.open(place.store_url, origin=ORIGIN)
    gateway = threading.Thread(target=lambda: anyio.run(undo_all, store, end))
    gateway.start()
    done = place.run("ops", "compensate", op.op_id, "--execute", "--wait", "60s")
    gateway.join()
    store.close()
    assert done.exit_code == code, done.output
    assert done.stderr == ""
    assert done.stdout.splitlines()[1].split(maxsplit=3)[3].split(maxsplit=1) == [
        end.value,
        "as the gateway says",
    ]

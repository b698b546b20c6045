"""`weighbridge status`: what running gateways say of themselves, through the store."""

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.actions.state import counted_here
from gateway.clock import Clock, SystemClock
from gateway.store.store import Store
from gateway.types.operations import OpState
from gateway.types.runs import StopReason
from tests.helpers.databases import ORIGIN
from tests.helpers.issuer import HandClock
from tests.helpers.runs import begun
from tests.helpers.undoings import a_refund
from tests.helpers.workspaces import Workspace, a_workspace

NONE = (
    "no gateway of this store is running; `weighbridge serve` starts one, and so does a client "
    "that has it as its server"
)
READY: dict[str, Any] = {
    "name": "crm",
    "status": "ready",
    "since": "2026-11-29T12:00:00+00:00",
    "reason": "",
    "version": "2026-07-28",
    "tools": {"exposed": 3, "unreviewed": 1},
    "stale": False,
}
FINE: dict[str, Any] = {
    "version": "1.2.3",
    "pid": 41,
    "front": "http://127.0.0.1:8700/mcp",
    "revision": "sha256:abc",
    "problem": "",
    "servers": [READY],
    "store": {"ok": True, "backlog": 0, "committed": 9, "commits": 3, "reason": ""},
    "telemetry": [
        {"signal": "traces", "exporter": "otlp", "endpoint": "otel:4318", "exported": 7,
         "dropped": 1},
        {"signal": "metrics", "exporter": "none", "endpoint": "", "exported": 0, "dropped": 0},
    ],
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path)


def says(
    place: Workspace, instance: str = "gw-1", clock: Clock | None = None, **status: Any
) -> None:
    """Let a gateway say something of itself."""
    store = Store.open(place.store_url, origin=ORIGIN, clock=clock)
    anyio.run(store.instances.save, instance, FINE | status)
    store.close()


def test_a_gateway_that_is_well_is_shown_with_exit_code_0(place: Workspace) -> None:
    says(place)
    done = place.run("status")
    assert done.exit_code == 0, done.stdout
    assert done.stdout.splitlines() == [
        "weighbridge 1.2.3 at http://127.0.0.1:8700/mcp (pid 41)",
        "revision sha256:abc",
        "server  state  tools                    speaks      since                      reason",
        "crm     ready  3 exposed, 1 unreviewed  2026-07-28  2026-11-29T12:00:00+00:00",
        "store     ok, 0 events waiting",
        "traces    otlp to otel:4318, 7 exported, 1 dropped",
        "metrics   none, 0 exported, 0 dropped",
    ]


def test_a_program_gets_what_each_instance_said_and_when(place: Workspace) -> None:
    says(place, "gw-1")
    says(place, "gw-2")
    code, found = place.json("status")
    assert code == 0
    assert {each.pop("instance") for each in found} == {"gw-1", "gw-2"}
    assert all(each.pop("at").startswith("20") for each in found)
    assert found == [FINE | {"operations": {}, "runs": {"blocked": 0}}] * 2


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_no_gateway_is_told_with_exit_code_1(words: tuple[str, ...], place: Workspace) -> None:
    place.store().__enter__().close()
    done = place.run("status", *words)
    assert done.exit_code == 1
    assert done.stdout == ("[]\n" if words else f"{NONE}\n")


class Behind(HandClock):
    """The clock of a process that said its last word 20 seconds ago."""

    def now(self) -> datetime:
        return SystemClock().now() - timedelta(seconds=20)


def test_a_gateway_that_fell_silent_does_not_run(place: Workspace) -> None:
    says(place, "gw-1", Behind())
    assert place.json("status") == (1, [])
    says(place, "gw-2")
    code, (running,) = place.json("status")
    assert (code, running["instance"]) == (0, "gw-2")


def test_without_a_store_it_says_so_with_exit_code_1(place: Workspace) -> None:
    done = place.run("status")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no store at" in done.stderr


@pytest.mark.parametrize(
    ("status", "mend"),
    [
        ({"problem": "policy.yaml:1:1: bad"},
         "the policy folder is not taken: policy.yaml:1:1: bad"),
        ({"servers": [READY | {"status": "failed", "reason": "exit code 3"}]},
         "server `crm` is failed: exit code 3"),
        ({"servers": [READY | {"status": "starting"}]},
         "server `crm` is starting: it has not answered yet; look again in a moment"),
        ({"servers": [READY | {"status": "stopped"}]}, "server `crm` is stopped"),
        ({"identity": ["https://idp: 503"]},
         "the keys of an issuer can't be had, so its tokens will not do: https://idp: 503"),
        ({"quarantined": [{"tool": "crm.bad", "pointer": "/inputSchema", "reason": "is a number"}]},
         "`crm.bad` is quarantined: is a number at `/inputSchema`"),
        ({"changed": ["crm.find"]},
         "`crm.find` is not what was reviewed; run `weighbridge tools diff crm.find`"),
        ({"unpinned": ["crm.a"]}, "no contract for `crm.a`; run `weighbridge tools pin`"),
        ({"unreviewed": [f"crm.{name}" for name in "abcde"]},
         "drafts wait for a review: `crm.a`, `crm.b`, `crm.c` and 2 more; run `weighbridge tools "
         "review`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_the_last_line_with_its_mend_and_exit_code_1(
    status: dict[str, Any], mend: str, place: Workspace
) -> None:
    says(place, **status)
    done = place.run("status")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == f"MEND  {mend}"
    assert place.json("status")[0] == 1


def test_the_count_of_an_earlier_version_is_told_for_what_it_is(place: Workspace) -> None:
    says(place, servers=[READY | {"tools": 4}, READY | {"tools": None}])
    lines = place.run("status").stdout.splitlines()
    assert "ready  4 published  2026-07-28" in lines[3]
    assert "ready  –            2026-07-28" in lines[4]


def test_a_list_that_is_no_longer_fresh_and_a_store_that_fails_show(place: Workspace) -> None:
    says(
        place,
        servers=[READY | {"stale": True}],
        store={"ok": False, "backlog": 12, "reason": "the disk is full"},
    )
    shown = place.run("status").stdout
    assert "ready (stale list)" in shown
    assert "store     the disk is full, 12 events waiting" in shown


@pytest.mark.parametrize(
    ("pending", "said"),
    [
        (0, None),
        (1, "approvals 1 waits for a person to decide; see `weighbridge approvals list`"),
        (7, "approvals 7 wait for people to decide; see `weighbridge approvals list`"),
    ],
)
def test_what_waits_for_people_is_told_and_is_nothing_wrong(
    pending: int, said: str | None, place: Workspace
) -> None:
    says(place, approvals={"pending": pending})
    done = place.run("status")
    assert done.exit_code == 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("approvals")]
    assert lines == ([said] if said is not None else [])


def test_what_nobody_knows_is_something_to_mend(place: Workspace) -> None:
    says(place, "gw-1")
    says(place, "gw-2")
    with place.store() as store:
        anyio.run(a_refund, store, OpState.SUCCEEDED)
        assert place.run("status").exit_code == 0
        anyio.run(a_refund, store, OpState.INDETERMINATE)
    done = place.run("status")
    assert done.exit_code == 1
    told = "operations 1 of which nobody knows; see `weighbridge ops list --state indeterminate`"
    assert done.stdout.splitlines()[-1] == told
    assert done.stdout.count(told) == 1
    code, found = place.json("status")
    assert code == 1
    assert [one["operations"] for one in found] == [{"succeeded": 1, "indeterminate": 1}] * 2


def test_a_gateway_that_was_killed_is_told_dead_at_once(place: Workspace) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        says(place, "gw-1", pid=child.pid, pids=counted_here())
        assert place.run("status").exit_code == 0
        child.kill()
    done = place.run("status")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"the gateway at http://127.0.0.1:8700/mcp (pid {child.pid}) has died: its process is "
        "gone, and it did not stop in order",
        NONE,
    ]
    assert place.json("status") == (1, [])
    says(place, "gw-2")
    assert place.run("status").exit_code == 0


def test_gateways_that_go_by_different_revisions_are_something_to_mend(place: Workspace) -> None:
    """Policy changes between request and use: a replica with older files."""
    says(place, "gw-1")
    says(place, "gw-2", revision="sha256:def")
    done = place.run("status")
    assert done.exit_code == 1
    assert "MEND  these gateways go by different revisions" in done.stdout
    says(place, "gw-2")
    assert place.run("status").exit_code == 0


def test_runs_that_wait_for_somebody_to_go_on_with_them_are_told(place: Workspace) -> None:
    async def blocked(store: Store) -> None:
        await begun(store, is_paused=True, stop_reason=StopReason.BLOCKED)
        await begun(store, is_paused=True)

    says(place)
    with place.store() as store:
        anyio.run(blocked, store)
    told = place.run("status")
    assert told.exit_code == 0  # a run that was left alone is nothing to mend
    line = "runs      1 stopped as blocked; see `weighbridge runs list --stopped blocked`"
    assert line in told.stdout.splitlines()
    [found] = place.json("status")[1]
    assert found["runs"] == {"blocked": 1}


def test_what_can_not_be_sealed_wants_mending(place: Workspace) -> None:
    says(place, store={"ok": True, "backlog": 0, "sealing": "the key is gone"})
    done = place.run("status")
    assert done.exit_code == 1
    told = "MEND  calls whose arguments have to be sealed are refused: the key is gone"
    assert told in done.stdout.splitlines()


def test_a_worker_is_named_and_one_that_is_away_is_something_to_mend(place: Workspace) -> None:
    says(place, "gw-1", worker={"number": 1, "of": 2})
    done = place.run("status")
    assert "weighbridge 1.2.3 at http://127.0.0.1:8700/mcp (pid 41, worker 1 of 2)" in done.stdout
    away = "MEND  worker 2 of 2 at http://127.0.0.1:8700/mcp does not serve right now"
    assert away in done.stdout
    assert done.exit_code == 1
    says(place, "gw-2", worker={"number": 2, "of": 2})
    whole = place.run("status")
    assert "MEND" not in whole.stdout
    assert whole.exit_code == 0


def test_while_decisions_are_only_recorded_it_says_so_and_what_would_have_been(
    place: Workspace,
) -> None:
    causes = [
        {"would": "deny", "rule": f"rule-{number}", "tool": "crm.ban", "calls": 20 - number}
        for number in range(12)
    ]
    observed = {"since": "2026-11-29T00:00:00+00:00", "calls": 300, "would": causes}
    says(place, mode="observe", observed=observed)
    done = place.run("status")
    assert "OBSERVING every call passes" in done.stdout
    assert "300 calls passed; 174 would have been denied" in done.stdout
    assert "20  crm.ban denied by rule-0" in done.stdout
    assert "and 2 more; see `weighbridge observed`" in done.stdout
    _, (told,) = place.json("status")
    assert told["mode"] == "observe"
    says(place, mode="enforce", observed=None, mode_problem="config.yaml:1:1: no")
    done = place.run("status")
    assert "OBSERVING" not in done.stdout
    assert "MEND  the mode stays `enforce`: config.yaml:1:1: no" in done.stdout
    assert done.exit_code == 1

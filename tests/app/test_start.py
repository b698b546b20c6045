"""A gateway starts from its configuration, and ends in order."""

import time
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from gateway.app.start import open_gateway
from gateway.app.stopping import CALLS_S, Stopping
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.store.store import Store
from gateway.types.decisions import Mode
from gateway.types.outcomes import Status
from gateway.types.tools import Effect
from gateway.types.workers import Worker
from tests.helpers.cases import a_call
from tests.helpers.fake_server import Script, alive, record_of, text, tool, until_async
from tests.helpers.issuer import HandClock
from tests.helpers.otlp_receiver import otlp_receiver
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

NOTE = tool("note")


def a_place(folder: Path, script: Script | None = None, **sections: Any) -> Workspace:
    entry = house.stdio(script or Script(tools=[NOTE]), folder)
    writes = house.contract(NOTE, effect=Effect.WRITE)
    return a_workspace(folder, {"alpha": entry}, contracts=[writes], **sections)


async def test_its_life_is_in_the_log_and_its_state_only_while_it_runs(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    async with place.opened() as gateway:
        await until_async(gateway.store.instances.all)
        (instance,) = await gateway.store.instances.all()
        assert instance.status["revision"] == gateway.activation.current().id
    actions = [event["body"]["action"] for event in house.events(tmp_path, kind="admin")]
    assert [action for action in actions if action.startswith("gateway_")] == [
        "gateway_started",
        "gateway_stopped",
    ]
    (started,) = house.events(tmp_path, action="gateway_started")
    assert started["body"]["servers"] == ["alpha"]
    with place.store() as store:
        assert await store.instances.all() == []


async def test_what_a_front_needs_is_done_in_a_thread_while_servers_start(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    met: list[bool] = []

    def meet() -> None:
        """Come back only when the server was started, which a blocked event loop can't do."""
        deadline, record = time.monotonic() + 5, record_of(tmp_path, "alpha")
        while not record.pids() and time.monotonic() < deadline:
            time.sleep(0.01)
        met.append(bool(record.pids()))

    async with open_gateway(
        place.loaded(),
        tmp_path,
        place.environ,
        front="test",
        stopping=Stopping(SystemClock()),
        meanwhile=meet,
    ):
        assert met == [True]


@pytest.mark.parametrize(
    ("text", "worker", "mode"),
    [
        ("mode: enforce\n", None, Mode.ENFORCE),
        ("mode: enforce\n", Worker(number=2, of=2), Mode.ENFORCE),
        ("mode: nothing\n", None, Mode.OBSERVE),
        ("mode: nothing\n", Worker(number=2, of=2), Mode.ENFORCE),
    ],
)
async def test_a_mode_that_was_read_long_ago_is_not_gone_by(
    tmp_path: Path, text: str, worker: Worker | None, mode: Mode
) -> None:
    """A worker that starts anew has the configuration that its parent read."""
    place = a_workspace(tmp_path, mode="observe")
    loaded = place.loaded()
    place.config.write_text(text)
    stopping = Stopping(SystemClock())
    async with open_gateway(
        loaded, tmp_path, place.environ, front="test", stopping=stopping, worker=worker
    ) as gateway:
        assert gateway.stance.mode is mode
        assert bool(gateway.stance.problem) == ("nothing" in text)
    (started,) = house.events(tmp_path, action="gateway_started")
    assert started["body"]["mode"] == mode


async def test_no_server_outlives_it(tmp_path: Path) -> None:
    async with a_place(tmp_path).opened():
        (server,) = record_of(tmp_path, "alpha").pids()
        assert alive(server)
    assert not alive(server)


async def test_it_does_not_start_on_a_policy_folder_that_can_not_be_used(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    (tmp_path / "policies/policy.yaml").write_text("rules: [{id: x, decision: perhaps}]\n")
    with pytest.raises(BaseExceptionGroup) as refused:
        async with place.opened():
            pytest.fail("it runs")
    assert refused.group_contains(ConfigurationError, match=r"policy\.yaml:1:")
    assert record_of(tmp_path, "alpha").pids() == []
    with place.store() as store:  # nobody holds it any more
        assert await store.revisions.latest() == []


async def test_it_does_not_start_without_its_store(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    (tmp_path / "store.db").write_text("this is no database, but somebody's letter\n" * 100)
    with pytest.raises(StoreUnavailable, match=r"store\.db"):
        async with place.opened():
            pytest.fail("it runs")
    assert (tmp_path / "store.db").read_text().startswith("this is no database")


async def test_a_write_under_way_gets_a_moment_to_end_when_it_stops(tmp_path: Path) -> None:
    go = tmp_path / "go"
    slow = Script(
        tools=[NOTE], on_call={"note": [{"wait_for_file": str(go)}, {"reply": text("done")}]}
    )
    place, statuses = a_place(tmp_path, slow), list[Status]()

    async def calls(gateway: Any) -> None:
        statuses.append((await gateway.handle(a_call("alpha__note"))).status)

    async with anyio.create_task_group() as callers, place.opened() as gateway:
        callers.start_soon(calls, gateway)
        await until_async(lambda: record_of(tmp_path, "alpha").calls())
        go.touch()
    assert statuses == [Status.OK]
    (end,) = house.ends(tmp_path, "call_1")
    assert end["body"]["status"] == "ok"


async def test_a_write_that_outlasts_the_stop_is_recorded_as_unknown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    never = Script(tools=[NOTE], on_call={"note": [{"delay_ms": 60_000}]})
    place, clock = a_place(tmp_path, never), HandClock()
    stopping = Stopping(clock)

    async def calls(gateway: Any) -> None:
        await gateway.handle(a_call("alpha__note"))

    async with anyio.create_task_group() as callers, place.opened(stopping) as gateway:
        callers.start_soon(calls, gateway)
        await until_async(lambda: record_of(tmp_path, "alpha").calls())
        callers.cancel_scope.cancel()
        stopping.begin()
        clock.move(CALLS_S)
    assert "calls were still under way; their ends are unknown" in caplog.messages
    (end,) = house.ends(tmp_path, "call_1")
    assert (end["body"]["status"], end["body"]["executed"]) == ("indeterminate", "unknown")


async def test_two_gateways_share_one_store(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    async with place.opened() as first, place.opened(Stopping(SystemClock())) as second:
        await until_async(lambda: _instances(second.store, 2))
        assert first.activation.current().id == second.activation.current().id


async def _instances(store: Store, wanted: int) -> bool:
    return len(await store.instances.all()) == wanted


async def test_captured_arguments_leave_without_the_secrets_of_the_configuration(
    tmp_path: Path,
) -> None:
    entry = house.stdio(Script(tools=[NOTE]), tmp_path, env={"KEY": "s3cr3t-value-1"})
    place = a_workspace(
        tmp_path,
        {"alpha": entry},
        contracts=[house.contract(NOTE, effect=Effect.WRITE)],
        telemetry={"capture_content": True},
    )
    with otlp_receiver() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, **place.environ}
        async with Workspace(tmp_path, environ).opened() as gateway:
            await gateway.handle(a_call("alpha__note", {"text": "kept s3cr3t-value-1"}))
            assert await anyio.to_thread.run_sync(gateway.telemetry.flush, 10.0)
    (captured,) = {
        span.attributes["gen_ai.tool.call.arguments"]
        for span in receiver.spans
        if "gen_ai.tool.call.arguments" in span.attributes
    }
    assert "kept" in captured
    assert "s3cr3t" not in captured

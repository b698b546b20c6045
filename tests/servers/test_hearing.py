"""Questions and log messages reach the caller of their own call, or nobody."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from gateway.errors import AskRefused
from gateway.servers.hearing import MOST_QUESTIONS
from gateway.servers.supervisor import Server
from gateway.types.json import JsonObject
from gateway.types.operations import Failure
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of, text, tool, until_async
from tests.helpers.fleets import (
    Listener,
    call,
    failed,
    first_text,
    http_entry,
    running,
    stdio_entry,
    structured,
)

CAN: JsonObject = {"elicitation": {"form": {}}, "sampling": {}, "roots": {"listChanged": True}}
ELICIT: Any = {"request": {"method": "elicitation/create", "params": {"message": "sure?"}}}
ANSWERS: Any = {"environment": True}
# Starts a handshake-era server with the given steps, and gives what it received as well.
Start: TypeAlias = Callable[..., Any]


@pytest.fixture(params=["stdio", "http"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Start:
    @asynccontextmanager
    async def started(
        **on_call: list[Any],
    ) -> AsyncGenerator[tuple[Server, Callable[[str], list[Any]]]]:
        script = Script(
            eras=["legacy"],
            tools=[tool("echo")],
            capabilities={"tools": {}, "logging": {}},
            on_call=on_call,
        )
        if request.param == "http":
            with FakeHttp(script) as fake:
                async with running(http_entry(fake)) as servers:
                    yield servers.server("alpha"), fake.calls  # type: ignore[misc]
        else:
            async with running(stdio_entry(script, tmp_path)) as servers:
                yield servers.server("alpha"), record_of(tmp_path, "alpha").calls  # type: ignore[misc]

    return started


async def _yes(method: str, params: JsonObject) -> JsonObject:
    return {"method": method, "said": params.get("message")}


async def _never(method: str, params: JsonObject) -> JsonObject:
    await anyio.sleep_forever()
    return {}


async def test_questions_in_a_call_are_answered_by_its_caller(start: Start) -> None:
    """case: RPC-05"""
    asks = [{"request": {"method": name}} for name in ("ping", "roots/list")]
    async with start(ask=[*asks, ELICIT, ANSWERS]) as (alpha, calls):
        ear = Listener(answer=_yes)
        got = await call(alpha, "ask", ear=ear, capabilities=CAN, lane="ada")
        assert structured(got)["answers"] == [
            {},
            {"method": "roots/list", "said": None},
            {"method": "elicitation/create", "said": "sure?"},
        ]
        assert [method for method, _ in ear.asked] == ["roots/list", "elicitation/create"]
        declared = [message["params"]["capabilities"] for message in calls("initialize")]
        assert declared == [{}, CAN]


async def test_who_can_not_be_asked_is_not_asked_even_beside_one_who_can(start: Start) -> None:
    """case: RPC-05"""
    async with start(ask=[ELICIT, ANSWERS], slow=[ELICIT, ANSWERS]) as (alpha, _):
        asked = Listener(answer=_never)
        async with anyio.create_task_group() as tasks:

            async def other() -> None:
                await call(alpha, "slow", ear=asked, capabilities=CAN, lane="ada")

            tasks.start_soon(other)
            await until_async(lambda: asked.asked)
            got = structured(await call(alpha, "ask", ear=Listener(answer=_yes)))
            assert got["answers"][-1]["code"] == -32601
            assert len(asked.asked) == 1
            tasks.cancel_scope.cancel()


async def test_who_is_being_asked_keeps_no_place_from_others(tmp_path: Path) -> None:
    script = Script(eras=["legacy"], on_call={"ask": [ELICIT, ANSWERS]})
    async with running(stdio_entry(script, tmp_path, max_calls=1)) as servers:
        alpha, asked, go = servers.server("alpha"), Listener(), anyio.Event()

        async def later(method: str, params: JsonObject) -> JsonObject:
            await go.wait()
            return await _yes(method, params)

        asked.answer = later
        got: list[Any] = []

        async def asking() -> None:
            got.append(await call(alpha, "ask", ear=asked, capabilities=CAN, lane="ada"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking)
            await until_async(lambda: asked.asked)
            assert first_text(await call(alpha)) == "echo"
            go.set()
        assert structured(got[0])["answers"][0]["said"] == "sure?"
        assert first_text(await call(alpha)) == "echo"


async def test_a_refusal_reaches_the_server_as_it_was_said(start: Start) -> None:
    async def no(method: str, params: JsonObject) -> JsonObject:
        raise AskRefused(-32042, "not today", {"until": 1})

    async with start(ask=[ELICIT, ANSWERS]) as (alpha, _):
        ear = Listener(answer=no)
        got = structured(await call(alpha, "ask", ear=ear, capabilities=CAN, lane="ada"))
        assert got["answers"] == [{"code": -32042, "message": "not today", "data": {"until": 1}}]


async def test_a_fault_while_asking_costs_the_question_only(start: Start) -> None:
    async def broken(method: str, params: JsonObject) -> JsonObject:
        raise ValueError("a secret detail")

    async with start(ask=[ELICIT, ANSWERS]) as (alpha, _):
        ear = Listener(answer=broken)
        got = structured(await call(alpha, "ask", ear=ear, capabilities=CAN, lane="ada"))
        assert got["answers"][0]["code"] == -32603
        assert "secret" not in str(got["answers"])
        assert first_text(await call(alpha)) == "echo"


async def test_the_deadline_rests_while_somebody_is_asked_and_goes_on_after(start: Start) -> None:
    async def slowly(method: str, params: JsonObject) -> JsonObject:
        await anyio.sleep(1.0)
        return {}

    async with start(ask=[ELICIT, ANSWERS], then=[ELICIT, {"delay_ms": 60_000}]) as (alpha, _):
        given: Any = {"capabilities": CAN, "lane": "ada"}
        await call(alpha, **given)  # opens the lane
        ear = Listener(answer=slowly)
        got = await call(alpha, "ask", ear=ear, deadline_s=0.6, **given)
        assert structured(got)["answers"] == [{}]
        began = asyncio.get_running_loop().time()
        late = failed(await call(alpha, "then", ear=ear, deadline_s=0.6, **given))
        assert late.failure is Failure.TIMEOUT
        assert 1.5 < asyncio.get_running_loop().time() - began < 3


async def test_a_server_asks_only_so_often_in_one_call(start: Start) -> None:
    async with start(ask=[*[ELICIT] * (MOST_QUESTIONS + 1), ANSWERS]) as (alpha, _):
        ear = Listener(answer=_yes)
        got = structured(await call(alpha, "ask", ear=ear, capabilities=CAN, lane="ada"))
        assert len(ear.asked) == MOST_QUESTIONS
        assert got["answers"][-1]["code"] == -32601


async def test_a_question_that_its_server_withdraws_is_open_no_more(
    start: Start, tmp_path: Path
) -> None:
    ended: list[str] = []

    async def hangs(method: str, params: JsonObject) -> JsonObject:
        (tmp_path / "asked").touch()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(method)
        return {}

    withdrawn = {"request": {"method": "roots/list", "withdraw": str(tmp_path / "asked")}}
    async with start(ask=[withdrawn, {"delay_ms": 100}, ANSWERS]) as (alpha, _):
        ear = Listener(answer=hangs)
        got = structured(await call(alpha, "ask", ear=ear, capabilities=CAN, lane="ada"))
        assert got["answers"] == []
        assert ended == ["roots/list"]


async def test_a_caller_that_goes_away_takes_its_open_question_along(start: Start) -> None:
    async with start(ask=[ELICIT, ANSWERS]) as (alpha, calls):
        ear = Listener(answer=_never)
        async with anyio.create_task_group() as tasks:

            async def asked() -> None:
                await call(alpha, "ask", is_read=True, ear=ear, capabilities=CAN, lane="ada")

            tasks.start_soon(asked)
            await until_async(lambda: ear.asked)
            tasks.cancel_scope.cancel()
        await until_async(lambda: calls("notifications/cancelled"))
        assert alpha.state.in_flight == 0


async def test_questions_and_calls_that_end_at_any_moment_leave_nothing_behind(
    start: Start,
) -> None:
    """case: RPC-03"""

    async def slowly(method: str, params: JsonObject) -> JsonObject:
        await anyio.sleep(0.004)
        return {"ok": True}

    async with start(ask=[ELICIT, {"delay_ms": 2}, {"reply": text("ok")}]) as (alpha, _):
        given: Any = {"capabilities": CAN, "lane": "ada"}
        for round_ in range(100):
            with anyio.move_on_after(round_ % 20 / 1000):
                await call(alpha, "ask", ear=Listener(answer=slowly), **given)
        ear = Listener(answer=slowly)
        got = await call(alpha, "echo", ear=ear, **given)
        assert first_text(got) == "echo"
        assert alpha.state.in_flight == 0
        assert alpha.state.lanes == 1


async def test_log_messages_reach_who_set_a_level_and_only_them(start: Start) -> None:
    said = {"level": "warning", "data": {"n": 10**30}}
    note = {"notify": {"method": "notifications/message", "params": said}}
    async with start(talk=[note, {"reply": text("ok")}]) as (alpha, calls):
        ear, other = Listener(), Listener()
        assert first_text(await call(alpha, "talk", ear=ear, log_level="info", lane="ada")) == "ok"
        assert ear.logged == [said]
        assert [message["params"] for message in calls("logging/setLevel")] == [{"level": "info"}]
        await call(alpha, "echo", ear=other, log_level="info", lane="bob")
        assert other.logged == []


async def test_calls_of_one_caller_at_the_same_time_each_answer_their_own(start: Start) -> None:
    async def one(name: str, got: dict[str, Any]) -> None:
        async def me(method: str, params: JsonObject) -> JsonObject:
            await anyio.sleep(0.05)
            return {"for": str(params["message"])}

        ear = Listener(answer=me)
        await call(alpha, name, ear=ear, capabilities=CAN, lane="ada")
        got[name] = [params["message"] for _, params in ear.asked]

    names = [f"ask{number}" for number in range(6)]
    steps = {
        name: [
            {"request": {"method": "elicitation/create", "params": {"message": name}}},
            {"reply": text("ok")},
        ]
        for name in names
    }
    got: dict[str, Any] = {}
    async with start(**steps) as (alpha, _), anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(one, name, got)
    assert got == {name: [name] for name in names}


async def test_a_question_after_a_call_that_was_given_up_is_never_anothers(tmp_path: Path) -> None:
    """case: RPC-04"""
    late = [{"delay_ms": 400}, ELICIT]  # the fake never answers it, cancelled or not
    script = Script(
        eras=["legacy"],
        on_call={"late": late, "slow": [{"delay_ms": 800}, ANSWERS], "ask": [ELICIT, ANSWERS]},
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        given: Any = {"capabilities": CAN, "lane": "ada"}
        await call(alpha, **given)
        gone = failed(await call(alpha, "late", deadline_s=0.2, ear=Listener(), **given))
        assert gone.failure is Failure.TIMEOUT
        ear = Listener(answer=_yes)
        got = structured(await call(alpha, "slow", ear=ear, **given))
        assert ear.asked == []
        assert got["answers"][0]["code"] == -32601
        assert structured(await call(alpha, "ask", ear=ear, **given))["answers"] == [
            {"method": "elicitation/create", "said": "sure?"}
        ]  # over a new connection, where nothing is in doubt


async def test_what_a_server_asks_when_it_is_connected_is_answered_by_the_first_call(
    tmp_path: Path,
) -> None:
    hello: Any = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}}
    script = Script(
        eras=["legacy"],
        on_initialize=[{"reply": hello}, {"request": {"method": "roots/list"}}],
        on_call={"show": [{"delay_ms": 300}, ANSWERS]},
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, ear = servers.server("alpha"), Listener(answer=_yes)
        given: Any = {"capabilities": CAN, "log_level": "info", "lane": "ada"}
        got = structured(await call(alpha, "show", ear=ear, **given))
        assert got["answers"] == [{"method": "roots/list", "said": None}]
        assert structured(await call(alpha, "show"))["answers"][0]["code"] == -32601


async def test_a_question_beside_the_calls_goes_to_the_only_call_or_to_nobody() -> None:
    aside = {"request": {"method": "roots/list", "aside": True}}
    script = Script(
        eras=["legacy"],
        capabilities={"tools": {}},  # so that only the caller's own connection has a stream
        on_call={"ask": [aside, ANSWERS], "slow": [{"delay_ms": 60_000}]},
    )
    with FakeHttp(script) as fake:
        async with running(http_entry(fake)) as servers:
            alpha = servers.server("alpha")
            given: Any = {"capabilities": CAN, "lane": "ada"}
            await call(alpha, **given)
            await until_async(lambda: fake.streams)
            ear = Listener(answer=_yes)
            got = structured(await call(alpha, "ask", ear=ear, **given))
            assert got["answers"] == [{"method": "roots/list", "said": None}]
            async with anyio.create_task_group() as tasks:

                async def slow() -> None:
                    await call(alpha, "slow", ear=Listener(answer=_yes), **given)

                tasks.start_soon(slow)
                await until_async(
                    lambda: [c for c in fake.calls() if c["params"]["name"] == "slow"]
                )
                got = structured(await call(alpha, "ask", ear=ear, **given))
                assert got["answers"][-1]["code"] == -32601
                tasks.cancel_scope.cancel()


async def test_log_messages_of_a_stateless_server_reach_the_only_call_that_wants_them(
    tmp_path: Path,
) -> None:
    said = {"level": "info", "data": "x"}
    note = {"notify": {"method": "notifications/message", "params": said}}
    script = Script(eras=["modern"], on_call={"talk": [note, {"reply": text("ok")}]})
    with FakeHttp(script) as fake:
        entries = [stdio_entry(script, tmp_path), http_entry(fake, "beta")]
        async with running(*entries) as servers:
            for name in ("alpha", "beta"):
                ear = Listener()
                await call(servers.server(name), "talk", ear=ear, log_level="debug")
                assert ear.logged == [said]


async def test_a_log_message_of_a_stateless_server_that_could_be_anothers_is_nobodys(
    tmp_path: Path,
) -> None:
    """A server that logs to calls that asked for nothing must not reach those that did."""
    said: JsonObject = {"level": "info", "data": "of another"}
    note = {"notify": {"method": "notifications/message", "params": said}}
    done, answer = str(tmp_path / "done"), {"reply": text("")}
    loud = [note, {"wait_for_file": done}, answer]
    script = Script(
        eras=["modern"], on_call={"loud": loud, "say": [note, answer], "ignore": [{"delay_ms": 1}]}
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, ear = servers.server("alpha"), Listener()

        async def quietly() -> None:
            await call(alpha, "loud")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(quietly)
            await until_async(lambda: record_of(tmp_path, "alpha").calls())
            await call(alpha, "say", ear=ear, log_level="info")
            Path(done).touch()
        assert ear.logged == []
        await call(alpha, "say", ear=ear, log_level="info")
        assert ear.logged == [said]
        failed(await call(alpha, "ignore", deadline_s=0.1))
        await call(alpha, "say", ear=ear, log_level="info")
        assert ear.logged == [said]


async def test_a_call_that_wanted_no_log_silences_others_for_a_while_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.servers.givenup._BRIEFLY_S", 0.05)
    said: JsonObject = {"level": "info", "data": "said"}
    note = {"notify": {"method": "notifications/message", "params": said}}
    script = Script(
        eras=["modern"], on_call={"ignore": [{"delay_ms": 1}], "say": [note, {"reply": text("")}]}
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, ear = servers.server("alpha"), Listener()
        failed(await call(alpha, "ignore", is_read=True, deadline_s=0.1))

        async def heard() -> bool:
            await call(alpha, "say", ear=ear, log_level="info")
            return bool(ear.logged)

        await until_async(heard)

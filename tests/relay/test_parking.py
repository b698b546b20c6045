"""Parking: a stateless caller is asked by an answer and answers by a request."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio
import pytest

from gateway.app.owner import ProcessOwner
from gateway.case import Case
from gateway.errors import AskRefused
from gateway.relay.parking import Parking
from gateway.relay.states import Awaited, States
from gateway.types.calls import Era, ProposedCall
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished, Status
from gateway.types.tools import Effect
from tests.helpers.cases import a_call, a_case, a_principal
from tests.helpers.relays import some_states
from tests.relay.callers import Asked

Work = Callable[[Case], Awaitable[Finished]]


@asynccontextmanager
async def parking(**bounds: float) -> AsyncGenerator[tuple[Parking, States]]:
    states = some_states()
    async with anyio.create_task_group() as tasks:
        yield Parking(ProcessOwner(tasks), states, **bounds), states  # type: ignore[arg-type] - by name
        tasks.cancel_scope.cancel()


def a_read(**changes: object) -> Case:
    caller = Asked(era=Era.MODERN, wants_progress=True)
    call = replace(a_call(arguments={"a": 1}), caller=caller, **changes)  # type: ignore[arg-type] - by name
    decision = Decision(effect=DecisionEffect.ALLOW)
    return a_case(call=call, effect=Effect.READ, arguments={"a": 1}, decision=decision)


def asking(times: int = 1, within_s: float = 5.0) -> Work:
    async def work(case: Case) -> Finished:
        said: list[JsonObject] = []
        for number in range(times):
            await case.call.caller.progress(number, None, None)
            answer: JsonObject
            try:
                answer = await case.call.caller.ask(
                    "elicitation/create", {"n": number}, within_s=within_s
                )
            except AskRefused as refused:
                answer = {"refused": refused.message}
            said.append(answer)
        return Finished(result={"said": [*said]}, status=Status.OK)

    return work


def answered(states: States, case: Case, first: Finished, answer: JsonObject) -> ProposedCall:
    """Return the next round, with the same answer to every question."""
    questions = first.result["inputRequests"]
    assert isinstance(questions, dict)
    call = replace(
        case.call,
        caller=Asked(era=Era.MODERN),
        params={
            "requestState": first.result["requestState"],
            "inputResponses": dict.fromkeys(questions, answer),
        },
    )
    assert isinstance(states.open(call), Awaited)
    return call


def awaited(states: States, call: ProposedCall) -> Awaited:
    state = states.open(call)
    assert isinstance(state, Awaited)
    return state


async def test_a_question_is_the_answer_and_the_next_request_brings_the_end() -> None:
    async with parking() as (park, states):
        case = a_read()
        first = await park.run(case, asking(times=2))
        assert first.status is Status.INPUT_REQUIRED
        assert first.result["resultType"] == "input_required"
        assert first.result["inputRequests"] == {
            "question-1": {"method": "elicitation/create", "params": {"n": 0}}
        }
        call = answered(states, case, first, {"action": "accept"})
        second = await park.resume(awaited(states, call), call)
        assert second is not None
        assert [*second.result["inputRequests"]] == ["question-2"]  # type: ignore[misc] - an object
        call = answered(states, case, second, {"action": "decline"})
        last = await park.resume(awaited(states, call), call)
        assert last is not None
        assert last.result == {"said": [{"action": "accept"}, {"action": "decline"}]}


async def test_a_call_without_a_question_ends_like_any_other() -> None:
    async with parking() as (park, _):
        done = await park.run(a_read(), asking(times=0))
        assert done.result == {"said": []}


async def test_an_unanswered_question_is_put_again() -> None:
    async with parking() as (park, states):
        case = a_read()
        first = await park.run(case, asking())
        call = replace(answered(states, case, first, {}), params={**case.call.params})
        again = await park.resume(awaited(states, answered(states, case, first, {})), call)
        assert again is not None
        assert again.result["inputRequests"] == first.result["inputRequests"]


async def test_progress_goes_to_the_request_that_is_under_way() -> None:
    async with parking() as (park, states):
        case = a_read()
        first = await park.run(case, asking(times=2))
        call = answered(states, case, first, {})
        await park.resume(awaited(states, call), call)
        assert isinstance(case.call.caller, Asked)
        assert isinstance(call.caller, Asked)
        assert case.call.caller.heard == [("progress", 0)]
        assert call.caller.heard == [("progress", 1)]


async def test_another_callers_token_leads_nowhere() -> None:
    async with parking() as (park, states):
        case = a_read()
        first = await park.run(case, asking())
        call = answered(states, case, first, {"action": "accept"})
        stranger = replace(call, principal=a_principal(user="eve"))
        assert await park.resume(awaited(states, call), stranger) is None
        mine = await park.resume(awaited(states, call), call)
        assert mine is not None
        assert mine.status is Status.OK


async def test_nobody_answers_for_ever() -> None:
    async with parking() as (park, states):
        case = a_read()
        first = await park.run(case, asking(within_s=0.5))
        call = answered(states, case, first, {"late": True})
        with anyio.fail_after(15):
            while park.waiting:
                await anyio.sleep(0.01)
        late = await park.resume(awaited(states, call), call)
        assert late is not None  # the end is kept for a while
        assert late.result == {"said": [{"refused": "the caller gave no answer in time"}]}


async def test_an_end_that_nobody_fetches_is_forgotten() -> None:
    over = asyncio.Event()

    async def work(case: Case) -> Finished:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(case.call.caller.ask, "elicitation/create", {}, within_s=60))
            await over.wait()  # not by a time-out: it could come before the question is told
            tasks.cancel_scope.cancel()
        return Finished(result={}, status=Status.OK)

    async with parking(linger_s=0.01) as (park, states):
        case = a_read()
        first = await park.run(case, work)
        call = answered(states, case, first, {})
        over.set()
        with anyio.fail_after(15):
            while not park.has_nothing:
                await anyio.sleep(0.01)
        assert await park.resume(awaited(states, call), call) is None


async def test_there_is_room_for_so_many_of_each_caller() -> None:
    async with parking(most_each=1) as (park, _):
        case = a_read()
        assert park.has_room(case.call)
        await park.run(case, asking())
        assert not park.has_room(case.call)
        assert park.has_room(replace(case.call, principal=a_principal(user="eve")))


@pytest.mark.parametrize(("effect", "goes_on"), [(Effect.READ, False), (Effect.WRITE, True)])
async def test_a_caller_that_leaves_ends_a_read_and_no_write(
    effect: Effect, *, goes_on: bool
) -> None:
    reached, let_go = asyncio.Event(), asyncio.Event()
    ends: list[str] = []

    async def work(case: Case) -> Finished:
        reached.set()
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        ends.append("done")
        return Finished(result={}, status=Status.OK)

    async with parking() as (park, _), anyio.create_task_group() as tasks:
        case = replace(a_read(), effect=effect)
        tasks.start_soon(park.run, case, work)
        await reached.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(15):
            if goes_on:
                let_go.set()
            while not ends:
                await anyio.sleep(0.01)
    assert ends == (["done"] if goes_on else ["cancelled"])

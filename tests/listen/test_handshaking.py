"""The handshake era is there for whoever speaks it, and loaded for nobody else."""

import anyio
from starlette.types import Message, Scope

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.listen.gate import ServerInfo
from gateway.listen.handshaking import Handshaking
from gateway.listen.headers import HeaderView
from gateway.listen.manners import Manners
from gateway.listen.options import HttpOptions
from gateway.listen.origin import OriginCheck
from gateway.listen.replies import Asgi
from tests.listen.house import House, Place, a_principal, call_body, serving
from tests.listen.raw import Reply, exchange, post
from tests.listen.test_doorstep import legacy
from tests.listen.test_weighed import INITIALIZE


async def _begin(place: Place) -> Reply:
    return await exchange(place, legacy(place), jsontext.dump(INITIALIZE))


async def test_stateless_calls_begin_no_sessions() -> None:
    """Whoever keeps sessions listens for changes of lists, to tell them."""
    async with serving(House()) as place:
        assert (await post(place, call_body("echo"))).status == 200
        assert place.house.listeners == []


async def test_all_who_come_first_get_the_same_sessions() -> None:
    async with serving(House()) as place:
        replies: list[Reply] = []

        async def begin() -> None:
            replies.append(await _begin(place))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(begin)
        assert [reply.status for reply in replies] == [200, 200, 200]
        assert len({reply.headers["mcp-session-id"] for reply in replies}) == 3
        assert len(place.house.listeners) == 1
    assert place.house.listeners == []


async def test_a_caller_who_leaves_meanwhile_keeps_nobody_out() -> None:
    house = House()
    front = Handshaking(house, info=ServerInfo(), options=HttpOptions(), clock=SystemClock())
    answers: list[int] = []

    async def ask() -> None:
        async def send(event: Message) -> None:
            if event["type"] == "http.response.start":
                answers.append(event["status"])

        scope: Scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
        headers = HeaderView([])
        manner = Manners(OriginCheck()).of(headers)
        await front(Asgi(scope, _nothing, send), headers, manner, a_principal("ada"))

    async with front.running():
        with anyio.CancelScope() as leaving:
            leaving.cancel()
            await ask()
        await ask()
    assert answers == [400]
    assert house.listeners == []


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}

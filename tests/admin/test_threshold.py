"""Pages that are built for the first request."""

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.admin.threshold import Threshold


class Pages:
    """What is behind a threshold, counting how often it was built."""

    def __init__(self) -> None:
        self.built = 0

    def build(self) -> ASGIApp:
        self.built += 1
        return Starlette(routes=[Route("/", _page)])


async def _page(request: Request) -> PlainTextResponse:
    del request
    return PlainTextResponse("a page")


def test_pages_are_built_for_the_first_request_and_no_sooner() -> None:
    pages = Pages()
    with TestClient(Threshold(lambda: pages.build)) as client:
        assert pages.built == 0
        assert client.get("/").text == "a page"
        assert client.get("/none").status_code == 404
    assert pages.built == 1


async def test_two_who_come_first_get_the_same_pages() -> None:
    pages, statuses = Pages(), list[int]()
    threshold = Threshold(lambda: pages.build)

    async def ask() -> None:
        async def send(event: Message) -> None:
            if event["type"] == "http.response.start":
                statuses.append(event["status"])

        scope: Scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await threshold(scope, _nothing, send)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert (statuses, pages.built) == ([200, 200], 1)


async def test_what_could_not_be_built_is_tried_again() -> None:
    tries: list[str] = []

    def build() -> ASGIApp:
        tries.append("")
        if len(tries) == 1:
            raise OSError("for now")
        return _answer

    threshold = Threshold(lambda: build)
    with pytest.raises(OSError, match="for now"):
        await threshold({"type": "http"}, _nothing, _nowhere)
    await threshold({"type": "http"}, _nothing, _nowhere)
    assert len(tries) == 2


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive, send


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(event: Message) -> None:
    del event

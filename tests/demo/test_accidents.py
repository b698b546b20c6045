"""What happens to answers of a server after an accident; that it dies, `test_desk.py` shows."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.demo.accidents import Accident, Accidents

_START, _BODY = "http.response.start", "http.response.body"


def _writing(accidents: Accidents, tool: str) -> ASGIApp:
    """Return a server that commits a write of a tool, and answers."""

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        accidents.committed(tool)
        await send({"type": _START, "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": _BODY, "body": b"{}"})

    return accidents.around(app)


async def _sent(app: ASGIApp) -> list[str]:
    """Return the types of the messages with which a server answers."""
    sent: list[str] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    await app({"type": "http"}, receive, send)
    return sent


async def test_an_answer_is_lost_once_and_then_no_more() -> None:
    accidents = Accidents()
    app = _writing(accidents, "refund")
    accidents.plan("refund", Accident.LOSE_ANSWER)
    assert await _sent(app) == [_START]  # a body is promised, and never comes
    assert await _sent(app) == [_START, _BODY]


async def test_an_accident_of_one_tool_happens_to_no_other() -> None:
    accidents = Accidents()
    accidents.plan("refund", Accident.LOSE_ANSWER)
    assert await _sent(_writing(accidents, "open_ticket")) == [_START, _BODY]
    assert await _sent(_writing(accidents, "refund")) == [_START]

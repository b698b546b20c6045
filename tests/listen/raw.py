"""A raw HTTP client: sends exactly what a test says, twice the same header included."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from anyio.abc import SocketStream

from gateway import jsontext
from gateway.types.json import Json, JsonObject
from tests.listen.house import LIMIT_S, VERSION, Place

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> JsonObject:
        value = jsontext.parse_result(self.body)
        assert isinstance(value, dict)
        return value

    @property
    def result(self) -> JsonObject:
        return child(self.json, "result")

    @property
    def error(self) -> JsonObject:
        return child(self.json, "error")

    @property
    def messages(self) -> list[JsonObject]:
        """The messages of an event stream, or the one of a JSON response."""
        if self.headers.get("content-type") == "application/json":
            return [self.json]
        found: list[JsonObject] = []
        for line in self.body.splitlines():
            if line.startswith(b"data: "):
                value = jsontext.parse_result(line.removeprefix(b"data: "))
                assert isinstance(value, dict)
                found.append(value)
        return found


def child(value: Json, *keys: str) -> JsonObject:
    """Return an object inside an object."""
    for key in keys:
        assert isinstance(value, dict)
        value = value[key]
    assert isinstance(value, dict)
    return value


def standard(
    place: Place, message: JsonObject | None, *, key: str = "ada"
) -> list[tuple[str, str]]:
    """Return the headers of a stateless request as a good client sends them."""
    headers = [
        ("Host", f"127.0.0.1:{place.port}"),
        ("Authorization", f"Bearer {key}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", VERSION),
    ]
    if message is not None:
        headers.append(("Mcp-Method", str(message.get("method"))))
        params = message.get("params")
        if isinstance(params, dict) and isinstance(params.get("name"), str):
            headers.append(("Mcp-Name", str(params["name"])))
    return headers


def changed(headers: Headers, **values: str | None) -> list[tuple[str, str]]:
    """Replace headers (`Mcp_Name="x"`) or leave them out (`Mcp_Name=None`)."""
    wanted = {name.replace("_", "-").lower(): value for name, value in values.items()}
    kept = [(name, value) for name, value in headers if name.lower() not in wanted]
    return kept + [(name, value) for name, value in wanted.items() if value is not None]


async def opened(place: Place) -> SocketStream:
    return await anyio.connect_tcp("127.0.0.1", place.port)


def wire(method: str, path: str, headers: Headers, body: bytes) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if not any(name.lower() == "content-length" for name, _ in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def exchange(
    place: Place, headers: Headers, body: bytes, *, method: str = "POST", path: str = "/mcp"
) -> Reply:
    """Send one request and read its whole response."""
    with anyio.fail_after(LIMIT_S):
        async with await opened(place) as stream:
            await stream.send(wire(method, path, headers, body))
            return await received(stream)


async def post(place: Place, message: JsonObject, headers: Headers | None = None) -> Reply:
    """Post a stateless request as a good client would, or with other headers."""
    body = jsontext.dump(message)
    return await exchange(place, standard(place, message) if headers is None else headers, body)


async def received(stream: SocketStream, buffered: bytes = b"") -> Reply:
    data = buffered
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in pairs}
    if headers.get("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n"):
            body += await stream.receive()
        body = _unchunked(body)
    else:
        while len(body) < int(headers.get("content-length", "0")):
            body += await stream.receive()
    return Reply(status=int(status.split(" ")[1]), headers=headers, body=body)


def _unchunked(data: bytes) -> bytes:
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        body, data = body + data[:length], data[length + 2 :]
    return body

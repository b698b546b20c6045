"""A pooled HTTP/1.1 client for loopback: what a bare pass-through would use, and the load."""

import asyncio

import httptools


class Answer:
    """Collects one response."""

    def __init__(self) -> None:
        self.body = b""
        self.done = False
        self.parser = httptools.HttpResponseParser(self)

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        self.done = True


class Whole(Answer):
    """Collects headers as well."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        super().__init__()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value


class Connection:
    """One kept-alive connection, one request at a time."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def request(self, head: bytes, body: bytes) -> tuple[int, bytes]:
        answer = await self.exchange(head, body, Answer())
        return answer.parser.get_status_code(), answer.body

    async def exchange(self, head: bytes, body: bytes, answer: Answer) -> Answer:
        if self.writer is None or self.reader is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        self.writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        while not answer.done:
            data = await self.reader.read(262_144)
            if not data:
                self.writer = None
                raise ConnectionError("closed in the middle of an answer")
            answer.parser.feed_data(data)
        return answer


class Pool:
    """Connections, made on demand and kept."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.idle: list[Connection] = []

    async def request(self, head: bytes, body: bytes) -> tuple[int, bytes]:
        connection = self.idle.pop() if self.idle else Connection(self.host, self.port)
        answer = await connection.request(head, body)
        self.idle.append(connection)
        return answer

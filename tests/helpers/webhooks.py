"""A real receiver of webhooks: it listens on a socket, keeps what it gets, and can misbehave."""

import base64
import hashlib
import hmac
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gateway import jsontext


@dataclass(frozen=True, kw_only=True)
class Got:
    """One request as it came."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return jsontext.parse(self.body)

    def is_signed(self, secret: str) -> bool:
        """Whether the signature is right, as a receiver would check it."""
        name, stamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        content = f"{name}.{stamp}.".encode() + self.body
        made = hmac.digest(base64.b64decode(secret[6:]), content, hashlib.sha256)
        return self.headers["webhook-signature"] == f"v1,{base64.b64encode(made).decode()}"


@dataclass
class Receiver:
    """What came, and how it is answered."""

    url: str = ""
    got: list[Got] = field(default_factory=list[Got])
    statuses: list[int] = field(default_factory=list[int])  # for the next ones; then 204
    headers: dict[str, str] = field(default_factory=dict[str, str])  # of every answer
    body: bytes = b""
    go: threading.Event | None = None  # answers wait for it

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", "0"))
        headers = {name.lower(): text for name, text in handler.headers.items()}
        body = handler.rfile.read(length)
        self.got.append(Got(path=handler.path, headers=headers, body=body))
        if self.go is not None:
            self.go.wait(10)
        handler.send_response(self.statuses.pop(0) if self.statuses else 204)
        for name, text in self.headers.items():
            handler.send_header(name, text)
        if self.body:
            handler.send_header("Content-Length", str(len(self.body)))
        handler.end_headers()
        handler.wfile.write(self.body)


@contextmanager
def receiving() -> Generator[Receiver]:
    """Listen on a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                receiver.answer(self)
            except OSError:  # who sent did not wait
                return

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.go is not None:
            receiver.go.set()
        server.shutdown()
        server.server_close()
        thread.join()

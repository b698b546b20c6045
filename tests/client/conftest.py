"""What clients meet that is no gateway."""

import socket
import threading
from collections.abc import Generator

import pytest


@pytest.fixture
def free_server() -> Generator[str]:
    """Serve one connection with bytes that are no HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"220 mail.example.com ESMTP\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)

import socket
from pathlib import Path

import pytest

from gateway.cli.listeners import bound, front_options, url_of, write_whole
from gateway.config.addresses import Endpoint
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError


def test_a_listener_is_named_by_the_port_that_it_got() -> None:
    with bound(Endpoint(host="127.0.0.1", port=0)) as sock:
        assert url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"


def test_an_address_of_the_other_kind_is_written_in_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")
    with bound(Endpoint(host="::1", port=0)) as sock:
        assert url_of(sock).startswith("http://[::1]:")


def test_a_port_that_is_taken_says_what_to_do() -> None:
    with bound(Endpoint(host="127.0.0.1", port=0)) as sock:
        sock.listen()
        port = sock.getsockname()[1]
        with (
            pytest.raises(ConfigurationError, match="set another address"),
            bound(Endpoint(host="127.0.0.1", port=port)),
        ):
            pass


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "ready.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]


def test_the_front_has_the_bounds_of_the_configuration() -> None:
    options = front_options(Settings())
    assert (options.path, options.max_requests, options.max_body_bytes) == ("/mcp", 256, 1 << 20)

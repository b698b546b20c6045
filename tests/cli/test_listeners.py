import os
import socket
from pathlib import Path

import pytest

from gateway.cli.listeners import (
    bound,
    bound_at,
    bound_for_each,
    front_options,
    private_folder,
    url_of,
    write_whole,
)
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


def test_connections_to_one_port_are_shared_out_among_its_sockets() -> None:
    with bound_for_each(Endpoint(host="127.0.0.1", port=0), 2) as socks:
        urls = {url_of(sock) for sock in socks}
        assert len(urls) == 1
        for sock in socks:
            sock.listen(64)
            sock.setblocking(False)
        at = socks[0].getsockname()
        clients = [socket.create_connection(at) for _ in range(64)]
        taken = [_accepted(sock) for sock in socks]
        assert sum(taken) == 64
        assert all(taken)  # one in 2^63 that the system gives all to one
        for client in clients:
            client.close()


def _accepted(sock: socket.socket) -> int:
    count = 0
    while True:
        try:
            sock.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def test_a_port_that_others_share_is_taken_all_the_same() -> None:
    with bound_for_each(Endpoint(host="127.0.0.1", port=0), 2) as socks:
        for sock in socks:
            sock.listen()
        port = socks[0].getsockname()[1]
        with (
            pytest.raises(ConfigurationError, match="set another address"),
            bound_for_each(Endpoint(host="127.0.0.1", port=port), 2),
        ):
            pass


def test_sockets_between_processes_are_where_nobody_else_gets() -> None:
    with private_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        for _ in range(2):  # the second takes the place of one that was left
            with bound_at(folder / "1.sock"):
                assert (folder / "1.sock").is_socket()
    assert not folder.exists()


def test_a_process_that_was_forked_meanwhile_leaves_the_folder() -> None:
    way = private_folder()
    folder = way.__enter__()
    pid = os.fork()
    if not pid:
        try:
            way.__exit__(None, None, None)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert folder.is_dir()
    way.__exit__(None, None, None)
    assert not folder.exists()

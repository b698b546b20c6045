"""`weighbridge serve`, in this process: it starts, answers, and stops when it is told to."""

import json
import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest

from gateway.cli import serve
from tests.helpers.fake_server import WAIT_S
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

LISTENERS: dict[str, Any] = {
    "listen": {"address": "127.0.0.1:0"},
    "admin": {"address": "127.0.0.1:0"},
}


def served(place: Workspace, look: Callable[[dict[str, str]], None]) -> tuple[int, str]:
    """Serve until `look` has looked from another thread; returns exit code and log."""
    ready, faults = place.folder / "ready.json", list[BaseException]()
    ended = threading.Event()

    def beside() -> None:
        end = monotonic() + 2 * WAIT_S
        while not ready.exists():
            if ended.wait(0.01) or monotonic() > end:
                return
        try:
            look(json.loads(ready.read_text()))
        except BaseException as fault:
            faults.append(fault)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=beside)
    thread.start()
    try:
        done = place.run("serve", "--ready-file", str(ready))
    finally:
        ended.set()
        thread.join()
    if faults:
        raise faults[0]
    return done.exit_code, done.stderr


def got(url: str) -> tuple[int, Any]:
    """Return status and body of a request."""
    try:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null")


@contextmanager
def taken_port() -> Generator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_agents_and_operators_are_answered_until_it_is_told_to_stop(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, **LISTENERS)
    seen: dict[str, Any] = {}

    def look(where: dict[str, str]) -> None:
        seen.update(where)
        seen["ready"] = got(f"{where['admin']}/readyz")
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                           "params": house.hello()}).encode()  # fmt: skip
        headers = {"Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}  # fmt: skip
        request = urllib.request.Request(where["url"], body, headers)
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            seen["initialize"] = answer.status

    code, log = served(place, look)
    assert code == 0
    assert seen["url"].endswith("/mcp")
    assert seen["ready"][0] == 200
    assert seen["initialize"] == 200
    assert f"serving agents at {seen['url']}, people at {seen['admin']}" in log
    started = house.events(tmp_path, kind="admin", action="gateway_started")
    assert len(started) == 1
    assert place.run("status").exit_code == 1  # it does not run any more


def test_a_required_server_that_is_away_shows_as_not_ready(tmp_path: Path) -> None:
    gone = {"gone": {"command": "/no/such/program", "required": True}}
    seen: list[tuple[int, Any]] = []
    served(
        a_workspace(tmp_path, gone, **LISTENERS),
        lambda where: seen.append(got(f"{where['admin']}/readyz")),
    )
    ((status, body),) = seen
    assert status == 503
    assert "the required server `gone` is failed" in str(body)


@pytest.mark.parametrize("listener", ["listen", "admin"])
def test_a_port_that_is_taken_ends_it_at_once_and_starts_no_server(
    listener: str, tmp_path: Path
) -> None:
    with taken_port() as port:
        sections: dict[str, Any] = {listener: {"address": f"127.0.0.1:{port}"}}
        place = a_workspace(tmp_path, **{**LISTENERS, **sections})
        code, log = served(place, lambda where: None)
    assert code == 2
    assert log.splitlines()[-1] == (
        f"weighbridge: can't listen on `127.0.0.1:{port}`: Address already in use; stop what "
        "listens there, or set another address"
    )
    assert not (tmp_path / "store.db").exists()


def test_a_policy_that_can_not_be_used_ends_it_with_the_place(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policy="rules:\n  - {id: x, decision: perhaps}\n", **LISTENERS)
    code, log = served(place, lambda where: None)
    assert code == 2
    assert f"weighbridge: {tmp_path}/policies/policy.yaml:2:" in log.splitlines()[-1]


def test_the_ready_file_is_never_seen_half_written(tmp_path: Path) -> None:
    served(a_workspace(tmp_path, **LISTENERS), lambda where: None)
    assert json.loads((tmp_path / "ready.json").read_text()).keys() == {"url", "admin"}
    assert not list(tmp_path.glob("*.partial"))


def test_whoever_is_told_that_it_is_ready_finds_both_listeners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []

    def told(path: Path, said: bytes) -> None:
        where: dict[str, str] = json.loads(said)
        for url in where.values():
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), WAIT_S).close()
                met.append(url)
        path.write_bytes(said)

    monkeypatch.setattr(serve, "write_whole", told)
    served(a_workspace(tmp_path, **LISTENERS), lambda where: None)
    assert len(met) == 2


def test_a_playback_takes_one_process(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, **LISTENERS)
    done = place.run("serve", "--workers", "2", "--playback", "run_01")
    assert done.exit_code == 2
    assert "leave `--workers` out" in done.stderr


@pytest.mark.parametrize("many", ["0", "65", "two"])
def test_a_number_of_workers_that_can_not_be_is_told(tmp_path: Path, many: str) -> None:
    done = a_workspace(tmp_path, **LISTENERS).run("serve", "--workers", many)
    assert done.exit_code == 2
    assert "--workers" in done.stderr

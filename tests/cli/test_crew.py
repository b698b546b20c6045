"""The parent of workers: it starts what ends anew, in time, and ends when all have ended."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from types import FrameType

from gateway.cli.crew import Crew, Enlisted, delay
from gateway.clock import SystemClock

WITHIN_S = 10.0


def test_a_worker_that_keeps_ending_waits_longer_each_time_up_to_half_a_minute() -> None:
    assert [delay(number) for number in range(1, 6)] == [0.0, 0.5, 1.0, 2.0, 4.0]
    assert delay(100) == 30.0


def parent(
    work: Callable[[Enlisted], int], size: int = 2, sock: socket.socket | None = None
) -> int:
    """Fork a parent whose workers do `work`; returns its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        shared = [sock] if sock is not None else []
        crew = Crew(size, clock=SystemClock(), on_ready=lambda: None, shared=shared)
        code = work(crew.work())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    """Wait for the end of a parent and return its exit code."""
    end = monotonic() + WITHIN_S
    while monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError("the parent did not end")


def until(holds: Callable[[], bool]) -> None:
    end = monotonic() + WITHIN_S
    while not holds():
        assert monotonic() < end
        sleep(0.005)


def on_stop(do: Callable[[], None]) -> None:
    def heard(number: int, frame: FrameType | None) -> None:
        del number, frame
        do()

    signal.signal(signal.SIGTERM, heard)


def told(folder: Path, enlisted: Enlisted) -> None:
    """Leave a file of this process's own, named by its worker."""
    (folder / f"{enlisted.worker.number}-{os.getpid()}").touch()


def test_each_place_has_its_worker_and_a_stop_is_told_to_all(tmp_path: Path) -> None:
    def work(enlisted: Enlisted) -> int:
        enlisted.tell_ready()
        stopped = threading.Event()
        on_stop(stopped.set)
        told(tmp_path, enlisted)
        assert stopped.wait(WITHIN_S)
        return 0

    pid = parent(work, size=3)
    until(lambda: len(list(tmp_path.iterdir())) == 3)
    assert sorted(each.name[0] for each in tmp_path.iterdir()) == ["1", "2", "3"]
    os.kill(pid, signal.SIGTERM)
    assert ended(pid) == 0


def test_a_worker_that_was_killed_is_started_anew_and_the_others_live_on(tmp_path: Path) -> None:
    def work(enlisted: Enlisted) -> int:
        enlisted.tell_ready()
        until(lambda: not enlisted.missing())
        told(tmp_path, enlisted)
        if len(list(tmp_path.glob("2-*"))) < 2 and enlisted.worker.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()
        return 0

    pid = parent(work)
    until(lambda: len(list(tmp_path.glob("2-*"))) == 2)
    assert len(list(tmp_path.glob("1-*"))) == 1
    os.kill(pid, signal.SIGTERM)
    assert ended(pid) == 1  # its workers were ended by the signal


def test_a_worker_that_cannot_start_ends_all_with_its_code() -> None:
    def work(enlisted: Enlisted) -> int:
        if enlisted.worker.number == 2:
            return 3
        signal.pause()
        return 0

    assert ended(parent(work)) == 3


def test_a_worker_that_is_away_is_known_to_the_others(tmp_path: Path) -> None:
    def work(enlisted: Enlisted) -> int:
        if enlisted.worker.number == 1:
            (tmp_path / "missing").write_text("\n".join(enlisted.missing()))
            return 4
        signal.pause()
        return 0

    assert ended(parent(work)) == 4
    assert (tmp_path / "missing").read_text().splitlines() == [
        "worker 1 of 2 does not serve right now",
        "worker 2 of 2 does not serve right now",
    ]


def test_a_second_signal_ends_the_parent_by_itself(tmp_path: Path) -> None:
    def work(enlisted: Enlisted) -> int:
        on_stop(lambda: told(tmp_path, enlisted))
        enlisted.tell_ready()
        (tmp_path / f"ready-{enlisted.worker.number}").touch()
        until(lambda: len(list(tmp_path.glob(f"{enlisted.worker.number}-*"))) == 1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        (tmp_path / f"again-{enlisted.worker.number}").touch()
        signal.pause()
        return 0

    pid = parent(work)
    until(lambda: len(list(tmp_path.glob("ready-*"))) == 2)
    os.kill(pid, signal.SIGTERM)
    until(lambda: len(list(tmp_path.glob("again-*"))) == 2)
    os.kill(pid, signal.SIGTERM)
    assert ended(pid) == -signal.SIGTERM


def test_nothing_connects_any_more_once_it_stops(tmp_path: Path) -> None:
    def work(enlisted: Enlisted) -> int:
        stopped = threading.Event()
        on_stop(stopped.set)
        told(tmp_path, enlisted)
        assert stopped.wait(WITHIN_S)
        until((tmp_path / "go").exists)
        return 0

    with socket.create_server(("127.0.0.1", 0)) as sock:
        pid = parent(work, sock=sock)
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        socket.create_connection(sock.getsockname(), timeout=1).close()
        os.kill(pid, signal.SIGTERM)

        def is_refused() -> bool:
            with socket.socket() as attempt:
                return attempt.connect_ex(sock.getsockname()) != 0

        until(is_refused)
        (tmp_path / "go").touch()
        assert ended(pid) == 0

"""Process groups that this process answers for."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from gateway.servers import groups


@contextmanager
def sleeping() -> Generator[subprocess.Popen[bytes]]:
    """A process in a group of its own."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_only_groups_that_have_begun_and_not_ended_are_killed() -> None:
    with sleeping() as known, sleeping() as unknown, sleeping() as over:
        groups.began(known.pid)
        groups.began(over.pid)
        groups.ended(over.pid)
        groups.kill_all()
        assert known.wait(5) == -9
        assert unknown.poll() is None
        assert over.poll() is None
        groups.kill_all()  # a group without members is no fault
        groups.ended(known.pid)

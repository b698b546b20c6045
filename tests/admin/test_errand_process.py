"""The process behind a long piece of work."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from gateway.admin import errand_process
from gateway.admin.errands import PROBLEM, PROGRESS, RESULT
from gateway.errors import ConfigurationError
from gateway.types.json import JsonObject

WAITING = """
import sys, anyio
from pathlib import Path
from gateway.admin import errand_process
async def wait(order, progress):
    progress(0.5, 7)
    await anyio.sleep_forever()
errand_process.WORK = {"wait": wait}
sys.exit(errand_process.main(Path(sys.argv[1])))
"""


def test_a_known_fault_is_told_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(order: JsonObject, progress: errand_process.Progress) -> bytes:
        raise ConfigurationError(f"`{order['work']}` is not there; make it")

    monkeypatch.setattr(errand_process, "WORK", {"fail": fail})
    assert errand_process.work({"work": "fail"}, tmp_path) == 1
    assert (tmp_path / PROBLEM).read_text() == "`fail` is not there; make it"
    assert not (tmp_path / RESULT).exists()


def test_a_fault_of_ours_is_told_by_its_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(order: JsonObject, progress: errand_process.Progress) -> bytes:
        raise RuntimeError("with a secret")

    monkeypatch.setattr(errand_process, "WORK", {"fail": fail})
    with pytest.raises(RuntimeError):
        errand_process.work({"work": "fail"}, tmp_path)
    assert "RuntimeError" in (tmp_path / PROBLEM).read_text()
    assert "secret" not in (tmp_path / PROBLEM).read_text()


async def test_it_says_how_far_it_is_and_ends_with_whoever_gave_the_order(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"work": "wait"}\n')
        process.stdin.flush()
        with anyio.fail_after(30):
            while not (tmp_path / PROGRESS).exists():
                await anyio.sleep(0.05)
        assert (tmp_path / PROGRESS).read_text() == "0.5000 7"
        process.stdin.close()
        with anyio.fail_after(5):
            while process.poll() is None:
                await anyio.sleep(0.02)
    assert process.returncode == 3

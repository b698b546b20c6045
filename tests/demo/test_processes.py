"""Starting, awaiting and ending the processes of the demo."""

import re
import sys
from pathlib import Path

import pytest

from gateway.demo.processes import DemoFault, running, weighbridge


async def test_a_process_that_ends_too_soon_is_named_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such file')"]
    said = pytest.raises(DemoFault, match="desk is not ready: no such file")
    with running("desk", command, tmp_path) as process, said:
        await process.until(re.compile("never"), tmp_path / "file")


async def test_a_process_ends_with_its_block(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
    with running("desk", command, tmp_path) as process:
        assert (await process.until(re.compile("up"), process.log))[0] == "up"
        assert process.process.poll() is None
    assert process.process.poll() is not None


def test_the_command_is_the_one_of_this_installation() -> None:
    assert Path(weighbridge()[0]).parent == Path(sys.executable).parent

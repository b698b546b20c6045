"""A disk so small that it can be filled, and what is found in a store that lies on it."""

import contextlib
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, mib: int = 2) -> Generator[Path]:
    """Mount a disk of its own on a folder; skips the test where that is not allowed."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=700", "none", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def full(disk: Path) -> Generator[None]:
    """Leave no room on a disk until the end of the block."""
    filler = disk / "filler"
    descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        for size in (65536, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    os.write(descriptor, b"x" * size)
        yield
    finally:
        os.close(descriptor)
        filler.unlink()

"""The switch between observing and enforcing, in the configuration file as a person keeps it."""

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from gateway.config import load as loading
from gateway.config.mode_line import with_mode
from gateway.errors import FileError
from gateway.types.decisions import Mode


def switch(path: Path, mode: Mode, environ: Mapping[str, str]) -> bool:
    """Write the mode into a configuration file, whole or not at all; say whether it was another.

    Comments, rights and the target of a link stay. Raises FileError or ConfigurationError for a
    file that can't be read, or that the gateway would not take afterwards.
    """
    file, target = str(path), path.resolve()
    try:
        before = target.read_bytes()
        text = with_mode(before.decode("utf-8"), mode, file=file)
    except FileNotFoundError:
        raise FileError("no such file; name it with `--config`", file=file) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"can't be read: {error}", file=file) from error
    loading.of_text(text.removeprefix("\ufeff"), path, environ)
    after = text.encode()
    if after == before:
        return False
    try:
        _replace(target, after)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(
            f"can't be written: {reason}; write `mode: {mode}` there by hand", file=file
        ) from error
    return True


def _replace(target: Path, content: bytes) -> None:
    """Replace a file as a whole: whoever reads it meanwhile sees the old one or the new one."""
    beside = target.with_name(f".{target.name}.new")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()  # left behind by one that was killed
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise

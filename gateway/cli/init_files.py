"""Files that `init` reads, lays down, switches and gives back: each as a whole, or not at all."""

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gateway import jsontext
from gateway.clients import texts
from gateway.errors import ConfigurationError, FileError, JsonError
from gateway.types.json import JsonObject
from gateway.types.values import value

RECORD: Final = ".weighbridge-init.json"  # in the folder of the configuration
_SECRET: Final = 0o600
_PLAIN: Final = 0o644


@value
class Original:
    """A client's file as it was found: where it really lies, its bytes and its mode."""

    path: Path
    target: Path  # what a symbolic link leads to
    data: bytes
    mode: int
    owner: tuple[int, int] | None = None  # user and group


@value
class Record:
    """What has to be known to give a client's file back."""

    client: Path
    backup: Path
    before: str  # digest of the file as it was
    after: str  # digest of the file as it was left


def read(path: Path) -> Original:
    """Read a client's file; raises FileError for one that can't be, or is too large."""
    try:
        target = path.resolve(strict=True)
        if not target.is_file():  # reading a pipe could take for ever
            raise FileError("is not a regular file", file=str(path))
        with target.open("rb") as opened:
            data = opened.read(texts.LARGEST + 1)
        found = target.stat()
        return Original(
            path=path,
            target=target,
            data=data,
            mode=stat.S_IMODE(found.st_mode),
            owner=(found.st_uid, found.st_gid),
        )
    except FileNotFoundError:
        raise FileError("no such file", file=str(path)) from None
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, up to Python 3.12
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"can't be read: {reason}", file=str(path)) from None


def digest(data: bytes) -> str:
    """Return what a file is recognised by."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def check_free(folder: Path, names: tuple[str, ...]) -> None:
    """Raise FileError if something stands where files are to be laid down."""
    for name in names:
        if (folder / name).exists() or (folder / name).is_symlink():
            raise FileError(
                "is there already, and is not overwritten; choose another folder with `--dir`, "
                "or move it away",
                file=str(folder / name),
            )


@contextmanager
def staged(folder: Path) -> Generator[Path]:
    """Yield a folder inside of another, which is made; both are gone again if it stays empty."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".weighbridge-init-", dir=folder))
    except OSError as error:
        raise FileError(f"can't be written: {error.strerror}", file=str(folder)) from None
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        for each in made:
            try:
                each.rmdir()  # only if nothing has come to lie in it
            except OSError:
                break


def lay(folder: Path, files: Mapping[str, str], secrets: frozenset[str] = frozenset()) -> None:
    """Write texts below a folder; those named secret can be read by nobody else.

    The others have the mode that files of this process have.
    """
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(path, text.encode(), _SECRET if name in secrets else None)


@contextmanager
def moved(stage: Path, folder: Path) -> Generator[None]:
    """Move everything of a stage into its folder; a failure of the block takes it away again."""
    names = sorted(each.name for each in stage.iterdir())
    done: list[Path] = []
    try:
        for name in names:
            check_free(folder, (name,))
            (stage / name).rename(folder / name)
            done.append(folder / name)
        yield
    except BaseException:
        for path in done:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def back_up(original: Original) -> Path:
    """Copy a client's file beside it, for its owner alone; never over another copy."""
    for number in range(1, 1000):
        suffix = f"-{number}" if number > 1 else ""
        backup = original.target.with_name(f"{original.target.name}.before-weighbridge{suffix}")
        try:
            _write_new(backup, original.data, _SECRET)
        except FileExistsError:
            continue
        except OSError as error:
            raise FileError(f"can't be written: {error.strerror}", file=str(backup)) from None
        return backup
    raise FileError("there are too many copies of it already", file=str(original.path))


def is_copy(backup: Path, client: Path) -> bool:
    """Whether a path is one that `back_up` gives to a copy of a client's file, and no link."""
    target = client.resolve()
    name = re.compile(re.escape(target.name) + r"\.before-weighbridge(?:-[1-9]\d{0,2})?", re.ASCII)
    return (
        client.is_absolute()
        and backup.parent == target.parent
        and name.fullmatch(backup.name) is not None
        and not backup.is_symlink()
    )


def replace(original: Original, data: bytes) -> None:
    """Put other bytes into a file at once, with its mode; a link to it stays one.

    Raises FileError if the file is no longer what was read.
    """
    if read(original.path).data != original.data:
        raise FileError(
            "was changed meanwhile; nothing was done, so run it again", file=str(original.path)
        )
    swap(original, data)


def swap(original: Original, data: bytes) -> None:
    """Replace a file as a whole, by one that is on the disk before it gets its name."""
    target = original.target
    temporary = target.with_name(f".{target.name}.weighbridge-{os.getpid()}")
    try:
        _write_new(temporary, data, original.mode)
        if original.owner is not None and original.owner != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):  # nobody but root gives files away
                os.chown(temporary, *original.owner)
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FileError(f"can't be written: {error.strerror}", file=str(target)) from None


def record_text(record: Record) -> str:
    """Return a record as it is kept."""
    return jsontext.dump(
        {
            "client": str(record.client),
            "backup": str(record.backup),
            "before": record.before,
            "after": record.after,
        }
    ).decode()


def recorded(folder: Path) -> Record:
    """Return what `init` noted in a folder; raises ConfigurationError if it never ran there."""
    path = folder / RECORD
    try:
        found = jsontext.parse(path.read_bytes())
    except FileNotFoundError:
        raise ConfigurationError(
            f"no `weighbridge init` was made in `{folder}`; name its folder with `--dir`"
        ) from None
    except (OSError, JsonError) as error:
        raise FileError(f"can't be read: {error}", file=str(path)) from None
    members: JsonObject = found if isinstance(found, dict) else {}
    words = {key: each for key, each in members.items() if isinstance(each, str)}
    if not {"client", "backup", "before", "after"} <= words.keys():
        raise FileError("is no record of an init", file=str(path))
    return Record(
        client=Path(words["client"]),
        backup=Path(words["backup"]),
        before=words["before"],
        after=words["after"],
    )


def _write_new(path: Path, data: bytes, mode: int | None) -> None:
    """Write a file that must not be there yet, readable by nobody else before it has its mode.

    Without one it has the one that others have, as the process was told (`umask`).
    """
    first = _PLAIN if mode is None else _SECRET
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, first)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        opened.flush()
        if mode is not None:
            os.fchmod(opened.fileno(), mode)
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

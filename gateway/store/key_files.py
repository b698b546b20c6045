"""The files of the key that signs checkpoints: never in the database, whose owner it watches.

Beside the private file, `.pub` names the public keys of the log, the newest first: all of them stay
trusted, since old checkpoints are signed by old keys.
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError
from gateway.events import notes
from gateway.events.notes import Key, NoteError, Signer

SUFFIX: Final = ".checkpoints.key"  # after the name of a store in a file
_PUBLIC: Final = ".pub"
_SEED_BYTES: Final = 32
_OTHERS: Final = 0o077
_SQLITE: Final = "sqlite:///"


def beside(store_url: str) -> Path | None:
    """Return where the key of a store in a file is by default; None for other stores."""
    if not store_url.startswith(_SQLITE):
        return None
    path = Path(store_url.removeprefix(_SQLITE))
    return path.with_name(path.name + SUFFIX)


def read(path: Path) -> Signer:
    """Return the private key; raises ConfigurationError, which gives nothing of it away."""
    try:
        return notes.signer_of(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            f"`{path}`: there is no key for checkpoints; make one with "
            "`weighbridge events keys new`, or put it back"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"`{path}`: the key can't be read: {_reason(error)}") from None
    except NoteError as error:
        raise ConfigurationError(f"`{path}`: {error}; put the key back") from None


def public(path: Path) -> tuple[Key, ...]:
    """Return the public keys beside a private one, and its own; none where there is neither.

    Raises ConfigurationError for a line that is none.
    """
    found: list[Key] = []
    with suppress(ConfigurationError):  # who only verifies needs no private key
        found.append(read(path).key)
    with suppress(FileNotFoundError):
        found += keys_in(path.with_name(path.name + _PUBLIC))
    return tuple(dict.fromkeys(found))


def keys_in(path: Path) -> list[Key]:
    """Return the public keys of a file, one a line; raises ConfigurationError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [notes.key_of(line) for line in lines if line.strip()]
    except FileNotFoundError:
        raise
    except NoteError as error:
        raise ConfigurationError(f"`{path}`: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"`{path}`: {_reason(error)}") from None


def make(path: Path, name: str) -> Signer:
    """Make a key, for its owner's eyes only; one that is there is left as it is, and returned."""
    made = Signer(name=name, seed=os.urandom(_SEED_BYTES))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = written_aside(path, made.secret() + "\n")
        try:
            os.link(aside, path)  # whole or not at all, and only once
        except FileExistsError:
            return read(path)
        finally:
            aside.unlink()
        _publish(path, public(path))
    except OSError as error:
        raise _unwritten(path, error) from None
    return made


def replace(path: Path, new: Signer) -> None:
    """Put a key in the place of another, whose public half stays; the private one is gone."""
    with replacing(path, new) as put:
        put()


@contextmanager
def replacing(path: Path, new: Signer) -> Generator[Callable[[], None]]:
    """Give what puts a key in the place of another; all that is likely to fail was done before.

    So a log in which the new one takes over has it. Raises ConfigurationError; where the last step
    fails, that says where the new key is.
    """
    try:
        text = _list([new.key, *public(path)])
        secret, listed = written_aside(path, new.secret() + "\n"), written_aside(path, text)
    except OSError as error:
        raise _unwritten(path, error) from None
    is_needed = False

    def put() -> None:
        nonlocal is_needed
        is_needed = True
        try:
            os.replace(listed, path.with_name(path.name + _PUBLIC))
            os.replace(secret, path)
        except OSError as error:
            raise ConfigurationError(
                f"`{path}`: the new key can't be put there: {_reason(error)}; it is in `{secret}`, "
                "move it there"
            ) from None

    try:
        yield put
    finally:
        if not is_needed:
            secret.unlink(missing_ok=True)
            listed.unlink(missing_ok=True)


def new(name: str) -> Signer:
    """Return a key that nobody has yet."""
    return Signer(name=name, seed=os.urandom(_SEED_BYTES))


def is_open(path: Path) -> bool:
    """Whether others than its owner may use the file of a private key."""
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def _publish(path: Path, keys: Sequence[Key]) -> None:
    os.replace(written_aside(path, _list(keys)), path.with_name(path.name + _PUBLIC))


def _list(keys: Sequence[Key]) -> str:
    return "".join(f"{key}\n" for key in dict.fromkeys(keys))


def _unwritten(path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"`{path}`: the key for checkpoints can't be written: {_reason(error)}"
    )


def written_aside(path: Path, text: str) -> Path:
    """Write a private file beside another, down to the disk."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return aside


def _reason(error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number).lower() if number else "it is no text"

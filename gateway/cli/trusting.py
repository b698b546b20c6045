"""What commands about the log's integrity are given: keys, checkpoints, and who gives them."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gateway.actions.archives import ArchiveFile
from gateway.app.signing import key_path
from gateway.cli import output
from gateway.cli.opening import fine
from gateway.config.settings import Settings
from gateway.events import copies, notes
from gateway.events.notes import Key, NoteError
from gateway.events.verifying import Mark
from gateway.store import key_files


def keys(settings: Settings, given: Sequence[str]) -> tuple[Key, ...]:
    """Return the keys that count: those given, as text or file, or else the configured ones."""
    found = [key for each in given for key in _keys_of(each)]
    if not given:
        path = key_path(settings)
        found = [*fine(lambda: key_files.public(path))] if path is not None else []
    if not found:
        output.fail("no key is trusted; name the log's public key with `--key`")
    return tuple(found)


def marks(files: Sequence[Path]) -> list[Mark]:
    """Return the checkpoints of files outside of the store, or end the command."""
    found: list[Mark] = []
    for file in files:
        try:
            found += copies.read(_text(file), str(file))
        except NoteError as error:
            output.fail(str(error))
    return found


@contextmanager
def archives(files: Sequence[Path]) -> Generator[list[ArchiveFile]]:
    """Open sealed archives, in the order of their events, or end the command."""
    with ExitStack() as stack:
        found = fine(lambda: [stack.enter_context(ArchiveFile(file)) for file in files])
        yield sorted(found, key=lambda each: each.head.first)


def mark_of(archive: ArchiveFile) -> Mark:
    """Return the checkpoint that an archive ends with: it is outside of the store as well."""
    head = archive.head
    return Mark(size=head.last, note=head.note, place=str(archive.path), is_outside=True)


def _keys_of(text: str) -> Sequence[Key]:
    try:
        return [notes.key_of(text)]
    except NoteError as error:
        if "+" in text and not Path(text).exists():
            output.fail(f"`--key`: {error}")
    try:
        return fine(lambda: key_files.keys_in(Path(text)))
    except FileNotFoundError:
        output.fail(f"`--key`: `{text}` is neither a public key nor a file of some")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        output.fail(f"{file}: it is no text")
    except OSError as error:
        output.fail(f"{file}: {(error.strerror or 'it can not be read').lower()}")

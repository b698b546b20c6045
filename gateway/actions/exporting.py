"""Exports one tenant's events with proofs, so that anybody can check them without the log."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from gateway.actions.archived_events import ArchivedEvents, Span
from gateway.errors import ConfigurationError
from gateway.events import checkpoints, notes, proofs
from gateway.events.notes import Key
from gateway.store.engine import Transaction
from gateway.store.events import EventFilter
from gateway.store.proving import Proven, Prover
from gateway.store.retention import Sealed, sealed

_T = TypeVar("_T")
_PAGE: Final = 1_000
_README: Final = """\
# Events of `{tenant}`

{count} events of the log `{origin}`, numbers {first} to {last}, as they were when it had {size}
events{period}. Nothing of other tenants is here: what proofs need of their events are hashes.
{missing}
- `events.jsonl`: the events, one a line, byte for byte as they are kept.
- `proofs.txt`: for each of these lines its number in the log, and the hashes from it to the root.
- `checkpoint.txt`: the checkpoint (C2SP tlog-checkpoint): how many events, the root, the signature.
- `keys.txt`: the public keys of whoever runs the log. Compare them with what you were given before.
- `verify.py`: checks all of it with Python alone: `python verify.py`, or with the key that you
  know: `python verify.py 'KEY'`.

Proven is that each of these events is in the log that was signed, at its place, unchanged. That
none of yours was left out can't be seen from here: who doubts it has the whole log verified
(`weighbridge events verify`) and counts. Nor can it be seen that something was never written.
"""


class Reader(Protocol):
    """Reads the store, a transaction at a time; raises StoreUnavailable."""

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what reads."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export holds."""

    count: int
    size: int  # of the log, at its checkpoint
    missing: tuple[Span, ...] = ()  # events that are in archives which were not given


async def export(
    reader: Reader,
    wanted: EventFilter,
    note: str,
    keys: Sequence[Key],
    folder: Path,
    *,
    archives: Sequence[Path] = (),
) -> Exported:
    """Write the events of `wanted.tenant` that a checkpoint covers into a new folder.

    Those that left the log are taken from its archives. Raises ConfigurationError for a folder that
    can't be made or a file that is no archive of this log, LogChanged where something isn't what
    the checkpoint says, and StoreUnavailable.
    """
    checkpoint = checkpoints.parse(notes.parse(note).text)
    prover = Prover(checkpoint)
    left = await reader.read(sealed)
    archived = ArchivedEvents(
        archives, origin=checkpoint.origin, size=left.size if left is not None else 0
    )
    missing = archived.missing if is_about(left, wanted) else []
    count, first, after = 0, 0, wanted.after
    try:
        with _begun(folder) as (events, ways):

            def put(found: Sequence[Proven]) -> None:
                nonlocal count, first, after
                for each in found:
                    events.write(each.body + b"\n")
                    ways.write(b" ".join([b"%d" % each.seq, *_path(each)]) + b"\n")
                if found:
                    count, first, after = count + len(found), first or found[0].seq, found[-1].seq

            for page in archived.pages(wanted):
                put(await reader.read(partial(prover.given, rows=page)))
            while True:
                following = replace(wanted, after=after, limit=_PAGE)
                found = await reader.read(partial(prover.page, wanted=following))
                put(found)
                if not found:
                    break
        readme = _README.format(
            tenant=wanted.tenant,
            count=count,
            origin=checkpoint.origin,
            first=first,
            last=after if count else 0,
            size=checkpoint.size,
            period=_period(wanted),
            missing=_missing(missing),
        )
        _complete(folder, readme, note, keys)
    except FileExistsError:
        raise ConfigurationError(f"`{folder}` is there already; name a new folder") from None
    except OSError as error:
        raise ConfigurationError(f"`{folder}`: {(error.strerror or str(error)).lower()}") from None
    return Exported(count=count, size=checkpoint.size, missing=tuple(missing))


def is_about(left: Sealed | None, wanted: EventFilter) -> bool:
    """Whether what left the log may be of a period."""
    return left is not None and (wanted.since is None or wanted.since <= left.at)


@contextmanager
def _begun(folder: Path) -> Generator[tuple[BinaryIO, BinaryIO]]:
    folder.mkdir(mode=0o700, parents=True)
    with (folder / "events.jsonl").open("wb") as events, (folder / "proofs.txt").open("wb") as ways:
        yield events, ways


def _path(proven: Proven) -> list[bytes]:
    return [line.encode() for line in proofs.written(proven.path)]


def _complete(folder: Path, readme: str, note: str, keys: Sequence[Key]) -> None:
    (folder / "README.md").write_text(readme, encoding="utf-8")
    (folder / "checkpoint.txt").write_text(note, encoding="utf-8")
    (folder / "keys.txt").write_text("".join(f"{key}\n" for key in keys), encoding="utf-8")
    verifier = resources.files("gateway.actions") / "standalone.py"
    (folder / "verify.py").write_bytes(verifier.read_bytes())


def _period(wanted: EventFilter) -> str:
    since = f", from {wanted.since.isoformat()}" if wanted.since else ""
    return since + (f", before {wanted.until.isoformat()}" if wanted.until else "")


def _missing(spans: Sequence[Span]) -> str:
    if not spans:
        return ""
    said = ", ".join(f"{first} to {last}" for first, last in spans)
    return (
        f"\nEvents {said} of the log are in archives that were not at hand: whatever of them is "
        "yours is not here.\n"
    )

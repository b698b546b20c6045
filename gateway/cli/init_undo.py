"""`weighbridge init --undo`: the client's file as it was, byte for byte."""

from pathlib import Path
from typing import Final

from gateway.actions import taking_over
from gateway.cli import init_files, output
from gateway.cli.init_files import RECORD, Original, Record
from gateway.cli.options import relative
from gateway.clients import files
from gateway.clients.entries import is_ours
from gateway.errors import FileError

_STORE: Final = "weighbridge.db"  # where no `store` is configured, as in what `init` writes


def undo(folder: Path, *, force: bool, as_json: bool) -> None:
    """Give the file back that was taken over into a folder.

    Raises FileError if it was changed since, unless forced: then a copy of it is kept, and only the
    servers are put back if that can be, so that what was changed beside them stays. What else was
    made stays.
    """
    record = init_files.recorded(folder)
    data = _kept(record)
    now = _now(record, force=force)
    found = init_files.digest(now.data)
    copy: Path | None = None
    if found not in (record.before, record.after):
        if not force:
            raise FileError(
                "was changed since, so it is left alone; --force puts the servers of "
                f"`{relative(record.backup)}` back, and keeps what it is now beside it",
                file=relative(record.client),
            )
        copy = init_files.back_up(now) if now.data else None
        data = _put_back(record.client, now.data, data) or data
    if found != record.before:
        init_files.swap(now, data)
    (folder / RECORD).unlink(missing_ok=True)
    record.backup.unlink(missing_ok=True)
    _tell(folder, record, copy, as_json=as_json)


def _kept(record: Record) -> bytes:
    """Return the file as it was; raises FileError if the copy isn't that."""
    if not init_files.is_copy(record.backup, record.client):
        # A record may have come with a folder from elsewhere, and name any two files.
        raise FileError(
            f"names `{relative(record.backup)}` as the copy of `{relative(record.client)}`, and "
            "`init` makes none there; nothing was done: see who wrote it, and remove it",
            file=RECORD,
        )
    data = init_files.read(record.backup).data
    if init_files.digest(data) != record.before:
        raise FileError(
            f"is no longer the copy of `{relative(record.client)}` that was made; nothing was done",
            file=relative(record.backup),
        )
    return data


def _put_back(path: Path, now: bytes, before: bytes) -> bytes | None:
    """Return the changed file with its servers back; None if only the whole file can be."""
    try:
        changed, kept = files.read(now, path), files.read(before, path)
        ours = next((key for key, each in changed.servers.items() if is_ours(key, each)), "")
        made = files.put_back(changed, kept, ours)
    except FileError:
        return None
    return made.encode() if made is not None else None


def _now(record: Record, *, force: bool) -> Original:
    """Return the file as it is; by force also where there is none any more."""
    if force and not record.client.exists():
        target = record.client.resolve()
        return Original(path=record.client, target=target, data=b"", mode=0o600)
    return init_files.read(record.client)


def _tell(folder: Path, record: Record, copy: Path | None, *, as_json: bool) -> None:
    names = (taking_over.CONFIG, taking_over.SECRETS, taking_over.POLICIES)
    stays = [folder / each for each in names if (folder / each).exists()]
    stays += sorted(folder.glob(f"{_STORE}*"))  # with its keys: what happened stays on record
    if as_json:
        output.as_json(
            {
                "status": "undone",
                "file": str(record.client),
                "copy": str(copy) if copy is not None else None,
                "left": [str(each) for each in stays],
            }
        )
        return
    output.one_line(f"`{relative(record.client)}` is as it was; restart the client")
    if copy is not None:
        output.one_line(f"what it was until now: `{relative(copy)}`")
    if stays:
        said = ", ".join(f"`{relative(each)}`" for each in stays)
        output.one_line(f"left where they are: {said}; remove them if you don't need them")

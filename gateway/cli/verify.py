"""`weighbridge events verify`: whether the log is what its checkpoints say."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from gateway.actions.verifying import Depth, verify
from gateway.cli import disclosing, output, trusting
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.progress import Bar
from gateway.errors import StoreUnavailable
from gateway.events.faults import FaultKind
from gateway.events.trust import Trust
from gateway.events.verifying import Cover, Report
from gateway.types.json import JsonObject

_MOST_SHOWN = 20


@click.command(
    "verify",
    epilog="Example: weighbridge events verify --checkpoint /mnt/audit/checkpoints.jsonl",
)
@config_option
@click.option(
    "--checkpoint",
    "files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file with checkpoints from outside of the store; may be repeated.",
)
@click.option(
    "--key",
    "given",
    multiple=True,
    help="A public key, or a file of some, that counts instead of the configured one.",
)
@click.option(
    "--archive",
    "sealed",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A sealed archive of what left the log; may be repeated.",
)
@click.option(
    "--indexes",
    is_flag=True,
    help="Look up each event by each index of a SQLite store as well; takes longer.",
)
@click.option(
    "--only-bytes",
    is_flag=True,
    help="Check the bytes of events alone, and not what queries go by; takes a third of the time.",
)
@json_option
def command(
    path: Path,
    files: tuple[Path, ...],
    given: tuple[str, ...],
    sealed: tuple[Path, ...],
    indexes: bool,
    only_bytes: bool,
    as_json: bool,
) -> None:
    """Check every event against every checkpoint, and say which events each covers.

    Exit code 0 when the log is whole, 1 when it is not, 2 when that can't be told. Without a
    checkpoint from outside, who owns the database and the key could have written it all anew.
    """
    if indexes and only_bytes:
        output.fail("`--indexes` looks at more than bytes; leave it or `--only-bytes` out")
    bar = Bar(is_quiet=as_json)
    depth = Depth.INDEXES if indexes else Depth.BYTES if only_bytes else Depth.COLUMNS
    report = checked(path, files, given, sealed, how="verify", bar=bar, depth=depth)
    if as_json:
        output.as_json({**as_document(report), "depth": depth.value})
    else:
        copied = bool(files or sealed)
        for line in (*lines(report, is_given=copied), *_left_out(depth)):
            output.one_line(line)
    if not report.is_whole:
        raise SystemExit(output.EXIT_FAILED)


def checked(
    path: Path,
    files: Sequence[Path],
    given: Sequence[str],
    sealed: Sequence[Path],
    *,
    how: str,
    bar: Bar | None = None,
    depth: Depth = Depth.COLUMNS,
) -> Report:
    """Check the log of a configuration, and say in it that it was read; `how` names the command.

    What is read is only counted, and nothing of it told: a store that takes no events is checked
    as well.
    """
    keys, marks = trusting.keys(load(path).settings, given), trusting.marks(files)
    shown = bar or Bar(is_quiet=True)

    def told(done: int, last: int) -> None:
        shown.show(done / last, f"event {done:,} of {last:,}")

    async def check() -> Report:
        async with opened(path) as store:
            with trusting.archives(sealed) as archives:
                copies = [*marks, *map(trusting.mark_of, archives)]
                try:
                    found = await verify(
                        store.checkpoints,
                        Trust(keys),
                        copies,
                        archives,
                        depth=depth,
                        told=told,
                    )
                finally:
                    shown.end()
            asked: JsonObject = {
                "checkpoint": [str(file) for file in files],
                "archive": [str(file) for file in sealed],
            }
            events = max(0, found.last - found.first + 1)
            try:
                await disclosing.told(store, how, asked, events=events)
            except StoreUnavailable as error:
                click.echo(f"weighbridge: (not in the log: {error})", err=True)
            return found

    return run(check)


def parts(report: Report) -> Iterator[JsonObject]:
    """Yield each part of the log with what covers it, and each fault, as rows."""
    for fault in report.faults:
        yield _part("fault", fault.first, fault.last, f"{fault.kind.value}: {fault.what}")
    if report.unlisted:
        yield _part("fault", 0, 0, f"and {report.unlisted} more")
    if report.first > 1:
        yield _part("archived", 1, report.first - 1, "archived, not read")
    first = report.first
    for name, cover in (("outside", report.outside), ("store", report.stored)):
        if cover is not None and cover.size >= first:
            yield _part(name, first, cover.size, _said(cover))
            first = cover.size + 1
    if first <= report.last:
        yield _part("open", first, report.last, "no checkpoint covers this yet")
    said = "whole" if report.is_whole else "not whole"
    what = f"{said}: {report.checked} checkpoints held against it; root {report.root.hex()}"
    yield _part("verdict", report.first, report.last, what)


def _part(part: str, first: int, last: int, what: str) -> JsonObject:
    return {"part": part, "first": first, "last": last, "what": what}


def as_document(report: Report) -> JsonObject:
    """Return what was found, for programs."""
    before = report.first - 1
    covered = max((each.size for each in (report.outside, report.stored) if each), default=0)
    first_open = max(covered + 1, report.first)
    is_open = first_open <= report.last
    return {
        "whole": report.is_whole,
        "first": report.first,
        "last": report.last,
        "root": report.root.hex(),
        "checkpoints": report.checked,
        "archived": {"first": 1, "last": before, "read": False} if before else None,
        "outside": _cover(report.outside, report),
        "store": _cover(report.stored, report),
        "uncovered": {"first": first_open, "last": report.last} if is_open else None,
        "faults": [
            {
                "kind": fault.kind.value,
                "first": fault.first,
                "last": fault.last,
                "what": fault.what,
            }
            for fault in report.faults
        ],
        "further_faults": report.unlisted,
    }


def lines(report: Report, *, is_given: bool = False) -> Iterator[str]:
    """Yield what was found, for people; with `is_given` they have brought checkpoints."""
    for fault in report.faults[:_MOST_SHOWN]:
        place = _range(fault.first, fault.last)
        if not fault.last and fault.kind is not FaultKind.STRAY:
            place = "the store"  # it is about no event of its own
        yield f"FAULT    {place}: {fault.kind.value}: {fault.what}"
    more = len(report.faults) - _MOST_SHOWN + report.unlisted
    if more > 0:
        yield f"FAULT    and {more} more; `--json` lists them"
    first, outside, stored = report.first, report.outside, report.stored
    if first > 1:
        yield (
            f"archived {_range(1, first - 1)}: archived, not read; give the files with `--archive`"
        )
    if outside is not None and outside.size >= first:
        yield f"outside  {_range(first, outside.size)}: {_said(outside)}"
        first = outside.size + 1
    if stored is not None and stored.size >= first:
        yield f"store    {_range(first, stored.size)}: {_said(stored)}, and no copy outside"
        first = stored.size + 1
    if first <= report.last:
        yield f"open     {_range(first, report.last)}: no checkpoint covers this yet"
    if report.last < report.first:
        yield "there are no events"
    whole = "whole" if report.is_whole else "NOT WHOLE"
    yield (
        f"{whole}: {_range(report.first, report.last)} read, {report.checked} checkpoints could be "
        "held against them"
    )
    if outside is None or outside.size < report.first:
        missing = (
            "no checkpoint from outside bears any of this out"
            if is_given
            else "no checkpoint of this came from outside (give a copy with `--checkpoint`)"
        )
        yield (
            f"{missing}, so whoever owns the database and the key could have written all of this "
            "anew"
        )


def _left_out(depth: Depth) -> Iterator[str]:
    if depth is Depth.BYTES:
        yield (
            "only bytes were looked at: what queries go by may say otherwise, and sealed copies "
            "may differ; `--only-bytes` left out looks at them as well"
        )


def _said(cover: Cover) -> str:
    keys = ", ".join(f"`{'+'.join(key.split('+')[:2])}`" for key in cover.keys)
    return f"as the checkpoint of {cover.size} in {cover.place} says, signed by {keys}"


def _range(first: int, last: int) -> str:
    return f"event {first}" if first == last else f"events {first} to {last}"


def _cover(cover: Cover | None, report: Report) -> JsonObject | None:
    """Return what a checkpoint covers of the events that were read."""
    if cover is None or (cover.size < report.first and cover.size):
        return None
    return {"first": report.first, "size": cover.size, "place": cover.place, "keys": [*cover.keys]}

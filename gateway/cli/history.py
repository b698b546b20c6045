"""`weighbridge policy history` and `policy show`: what was in force, since when and why."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from gateway.actions import questions
from gateway.cli import disclosing, giving, opening, output, shelf
from gateway.cli.ledger import run
from gateway.cli.moments import earlier
from gateway.cli.options import config_option, json_option
from gateway.store.revisions import StoredRevision
from gateway.store.selection import Selection
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean

_TOLD = frozenset(
    {
        *("policy_activated", "policy_refused"),
        *("policy_proposed", "policy_approved", "policy_rejected"),
    }
)
_WORDS: Mapping[str, str] = {
    "policy_proposed": "proposed",
    "policy_approved": "agreed with",
    "policy_rejected": "turned down",
}
_HEADERS = ("when", "revision", "by", "from", "warnings", "tests", *map(str, Lean), "")


@click.command("history", epilog="Example: weighbridge policy history --since 30d")
@config_option
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (30d).")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True)
@json_option
def history(path: Path, since: str, limit: int, as_json: bool) -> None:
    """List what was put in force and what was refused, newest first, with what it changed.

    `wider`, `narrower` and `other` count causes for which made-up calls are decided another way;
    `policy diff REVISION REVISION` says which.
    """
    wanted = Selection(
        kinds=(EventKind.ADMIN.value,), actions=tuple(sorted(_TOLD)), since=earlier(since)
    )

    async def find() -> tuple[list[JsonObject], str]:
        async with opening.opened(path) as store:
            await disclosing.told(store, "policy history", {"since": since, "limit": limit})
            await giving.note_archived(store, wanted.since)
            found = await questions.page(store.events, wanted, limit=limit, newest_first=True)
            newest = next(iter(await store.revisions.latest(1)), None)
            return [event.json() for event in found.events], newest.id if newest is not None else ""

    found, in_force = run(find)
    if as_json:
        output.as_json({"in_force": in_force, "history": [_said(event) for event in found]})
        return
    rows = [*_rows(found, in_force)]
    if not rows:
        output.line("nothing was put in force yet")
        return
    output.table(_HEADERS, rows)


@click.command("show", epilog="Example: weighbridge policy show 9b1c2d3e --out policies.before")
@click.argument("revision")
@config_option
@click.option("--file", "name", default="", help="Print one file of it, by its name in the list.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write its files into a new folder.",
)
@json_option
def show(revision: str, path: Path, name: str, out: Path | None, as_json: bool) -> None:
    """Show a revision that the store keeps, by its id or the beginning of it: its files whole."""
    found = shelf.stored(revision, path)
    if out is not None:
        _write(found, out)
        return
    if name:
        if name not in found.texts:
            output.fail(f"revision {shelf.short(found.id)} has no file `{name}`")
        output.line(found.texts[name].rstrip("\n"))
        return
    if as_json:
        texts: JsonObject = dict(found.texts)
        output.as_json(
            {"id": found.id, "at": found.at.isoformat(), "by": found.activated_by, "texts": texts}
        )
        return
    output.line(f"{found.id}")
    output.line(f"in force since {found.at.isoformat()[:19]} ({found.activated_by})")
    rows = [(each, str(len(text.splitlines()))) for each, text in sorted(found.texts.items())]
    output.table(("file", "lines"), rows)


def _write(found: StoredRevision, out: Path) -> None:
    """Write the files below a folder that isn't there yet."""
    if out.exists():
        output.fail(f"`{out}` is there already; name a folder that isn't")
    for name, text in found.texts.items():
        place = (out / name).resolve()
        # Names come out of a database that others may write to.
        if not place.is_relative_to(out.resolve()):
            output.fail(f"revision {shelf.short(found.id)} has a file outside of its folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    output.line(f"{len(found.texts)} files of {shelf.short(found.id)} are in {out}")


def _said(event: JsonObject) -> JsonObject:
    return {"seq": event.get("seq"), "ts": event.get("ts"), **_object(event.get("body"))}


def _rows(found: list[JsonObject], in_force: str) -> Iterator[tuple[str, ...]]:
    is_first = True  # the newest of a revision that was in force before may stand below
    for event in found:
        body, change = _object(event.get("body")), _object(_object(event.get("body")).get("change"))
        revision = str(body.get("revision") or "")
        errors = body.get("errors")
        note = str(errors[0]) if isinstance(errors, list) and errors else ""
        word = _WORDS.get(str(body.get("action")), "")
        if word:
            reason = str(body.get("reason") or "")
            note = f"{word}, {reason}" if reason else word
        elif revision and revision == in_force and is_first:
            note, is_first = "in force", False
        yield (
            str(event.get("ts"))[:19],
            shelf.short(revision) or "refused",
            str(body.get("by") or body.get("because") or ""),
            shelf.short(str(body.get("from") or "")) or "–",
            _count(body.get("warnings")),
            _count(body.get("tests")),
            *(_count(change.get(lean.value)) for lean in Lean),
            note,
        )


def _count(value: Json) -> str:
    return str(value) if isinstance(value, int) else "–"


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}

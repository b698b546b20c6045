"""How a ready-made question is answered: its rows in the form that was asked for, one by one."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from gateway import jsontext
from gateway.actions.sampling import Sample
from gateway.cli import disclosing, giving, output, rows
from gateway.cli.ledger import Ledger, opened, run
from gateway.cli.moments import earlier
from gateway.cli.options import config_option
from gateway.store.selection import Selection
from gateway.types.json import Json, JsonObject

Command = TypeVar("Command", bound=Callable[..., None])
_DIGITS: Final = 12  # of the id of a revision
_ALL: Final = Selection()
Find = Callable[[Ledger], AsyncIterator[JsonObject]]
"""Yields the rows of an answer out of an open store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Whose events of which time a question is about, as it was typed."""

    tenants: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def wanted(self) -> Selection:
        """What that is of the log; ends the command for what is no time."""
        return Selection(tenants=self.tenants, since=earlier(self.since), until=earlier(self.until))

    @property
    def asked(self) -> JsonObject:
        """What the log says was asked for."""
        return {"tenant": [*self.tenants], "since": self.since, "until": self.until}

    @property
    def tenant(self) -> str:
        """The tenant whose events alone are read, or an empty text."""
        return self.tenants[0] if len(self.tenants) == 1 else ""


def question_options(command: Command) -> Command:
    """Add `--config`, and the forms of answers, of which the command gets the one as `form`."""

    @wraps(command)
    def called(*, form: str | None, as_json: bool, as_csv: bool, **more: Any) -> None:
        command(form=giving.form_of(form, as_json=as_json, as_csv=as_csv), **more)

    forms = giving.form_options(*giving.SHEETS)
    return cast("Command", config_option(forms(called)))  # it is called by click only


def period_options(command: Command) -> Command:
    """Add `--tenant`, `--since` and `--until`, which the command gets as its `period`."""

    @wraps(command)
    def called(*, tenant: tuple[str, ...], since: str, until: str, **more: Any) -> None:
        command(period=Period(tenants=tenant, since=since, until=until), **more)

    for option in (
        click.option("--until", default="", help="As --since; this moment is left out."),
        click.option("--since", default="", help="A time in UTC (2026-05-01) or an age (30d)."),
        click.option("--tenant", multiple=True, help="Whose; several may be named."),
    ):
        called = option(called)
    return cast("Command", called)  # it is called by click only


def sample_options(command: Command) -> Command:
    """Add `--sample` and `--seed`, which the command gets as its `sample`: None without them."""

    @wraps(command)
    def called(*, sample: int | None, seed: int, **more: Any) -> None:
        command(sample=Sample(size=sample, seed=seed) if sample else None, **more)

    for option in (
        click.option("--seed", default=1, show_default=True, help="Another draws other rows."),
        click.option(
            "--sample", type=click.IntRange(1, 100_000), help="So many rows, drawn from all."
        ),
    ):
        called = option(called)
    return cast("Command", called)  # it is called by click only


def answer(
    path: Path,
    name: str,
    find: Find,
    *,
    form: str,
    columns: Sequence[str],
    asked: JsonObject,
    shown: Sequence[str] = (),
    tenant: str = "",
    sample: Sample | None = None,
    wanted: Selection = _ALL,
    is_of_log: bool = True,
) -> int:
    """Write the rows of an answer, and say in the log that it was asked for; return their number.

    `wanted` is whose events of which time it is about, for a word about what of that is in archives
    and about names that no event has; an answer that is not of the log gets none.

    `shown` are the columns that people see; without them, all. A `diff` is shown below the table.
    Of a sample it is told how many rows there were to draw from.
    """
    drawing: JsonObject = {"sample": sample.size, "seed": sample.seed} if sample else {}

    async def give() -> int:
        async with opened(path) as ledger:
            whole = {**asked, **drawing, "format": form}
            await disclosing.told(ledger.store, f"ask {name}", whole, tenant=tenant)
            if is_of_log:
                await giving.note_archived(ledger.store, wanted.since)
                await giving.note_strangers(ledger.store, wanted)
            writer = _Writer(form, columns, shown)
            found = find(ledger)
            async for row in sample.of(found) if sample is not None else found:
                writer.add(row)
            writer.end()
            return writer.count

    count = run(give)
    rows.flush()
    if sample is not None:
        said = f"({count} of {sample.population} rows, drawn by the seed {sample.seed})"
        click.echo(said, err=True)
    return count


def write(form: str, columns: Sequence[str], found: Iterable[JsonObject]) -> None:
    """Write the rows of an answer that is there already."""
    writer = _Writer(form, columns)
    for row in found:
        writer.add(row)
    writer.end()
    rows.flush()


class _Writer:
    """Writes rows in a form; of a table, differences come at the end."""

    def __init__(self, form: str, columns: Sequence[str], shown: Sequence[str] = ()) -> None:
        self.count = 0
        self._is_table = form == "table"
        self._names = tuple(shown or columns) if self._is_table else tuple(columns)
        sheet = rows.SHEETS.get(form)
        self._sheet = sheet(self._names, rows.put) if sheet is not None else None
        self._diffs: list[JsonObject] = []

    def add(self, row: JsonObject) -> None:
        """Take one row."""
        self.count += 1
        if self._sheet is None:
            rows.put(rows.json_line({name: row.get(name) for name in self._names}))
            return
        cells = [cell(row.get(name)) for name in self._names]
        self._sheet.add(_for_people(cells, self._names) if self._is_table else cells)
        if self._is_table and row.get("diff"):
            self._diffs.append(row)

    def end(self) -> None:
        """Write what waits."""
        if self._sheet is not None:
            self._sheet.end()
        for row in self._diffs:
            _put_diff(row)


def _for_people(cells: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return cells as people need them: times to their second, and as much of digests as tells."""
    return [
        cell.removeprefix("sha256:")[:_DIGITS] if name in ("revision", "from") else cell
        for name, cell in zip(names, giving.shortened(cells, names), strict=True)
    ]


def _put_diff(row: JsonObject) -> None:
    head = " ".join(str(row[name]) for name in ("time", "revision") if row.get(name))
    rows.put(f"\n{output.on_one_line(head)}\n")
    for line in str(row["diff"]).split("\n"):
        rows.put(output.on_one_line(line) + "\n")


def cell(value: Json) -> str:
    """Return what a value is in a cell."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(cell(each) for each in value)
        case _:
            return jsontext.dump(value).decode()

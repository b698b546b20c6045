"""The statements of the files in `sql`, by name."""

import re
from functools import cache
from importlib import resources
from typing import Final

_HEADER: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")
_ROW: Final = re.compile(r"VALUES (\([^)]*\))")
_EACH: Final = re.compile(r"json_each\((:[a-z_]+)\)")
_FEW: Final = re.compile(r"IN \(SELECT value FROM json_each\((:few_[a-z_]+)\)\)")
_FOLDER: Final = resources.files("gateway.store") / "sql"


@cache
def statements() -> dict[str, str]:
    """Return name and text of every statement, comments left out."""
    found: dict[str, str] = {}
    for file in sorted(_FOLDER.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            parts = _HEADER.split(file.read_text(encoding="utf-8"))
            for name, text in zip(parts[1::2], parts[2::2], strict=True):
                found[name] = _without_comments(text).strip().rstrip(";")
    return found


@cache
def migrations(dialect: str) -> tuple[tuple[int, str, str], ...]:
    """Return number, name and text of each migration, in order.

    `0001_start.sql` is for both engines; `0001_start.sqlite.sql` follows it on that engine only.
    """
    found: dict[str, dict[str, str]] = {}
    for file in (_FOLDER / "migrations").iterdir():
        name, _, only = file.name.removesuffix(".sql").partition(".")
        if file.name.endswith(".sql"):
            found.setdefault(name, {})[only] = file.read_text(encoding="utf-8")
    return tuple(
        (int(name[:4]), name, parts[""] + parts.get(dialect, ""))
        for name, parts in sorted(found.items())
    )


@cache
def of_rows(name: str, count: int) -> tuple[str, tuple[str, ...]]:
    """Return a statement that inserts one row in the form for many, and a row's values by name.

    In place of the names there are `?`, for the values of one row after the other.
    """
    head, row, tail = _ROW.split(statements()[name])
    names = tuple(_PARAMETER.findall(row))
    places = f"({', '.join('?' * len(names))})"
    return f"{head}VALUES {', '.join([places] * count)}{tail}", names


@cache
def psycopg_form(text: str) -> str:
    """Return a statement with `%(name)s` for each `:name`, and PostgreSQL's way to read a list.

    A list that is called `few_…` is an array there: for each of its values an index is asked, where
    all that could be meant would be read to be joined with a list of who knows how many.
    """
    text = _FEW.sub(r"= ANY(ARRAY(SELECT value FROM json_each(\1)))", text)
    listed = _EACH.sub(r"jsonb_array_elements_text(CAST(\1 AS jsonb)) AS each(value)", text)
    return _PARAMETER.sub(r"%(\1)s", listed.replace("%", "%%"))


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))

"""The reference page of the configuration file, made from its model."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Final, Literal, Union, cast, get_args, get_origin

from pydantic.fields import FieldInfo

from gateway.config.section import Section
from gateway.config.settings import Settings
from gateway.config.units import Word, format_duration, format_size

_HEAD: Final = """\
# Configuration file

<!-- made by gateway/config/reference.py; change the descriptions in gateway/config/ instead -->

One YAML file (JSON is YAML too). `config.example.yaml` shows every key once.

- Unknown keys, keys given twice and bad values are errors: each is reported with file, line and
  column, all of them at once, and nothing starts. Keys that begin with `x-` are left alone.
- `${VAR}` and `${VAR:-default}` stand for environment variables in values, `$${` for a plain `${`.
  A variable that is empty counts as not set, unless `${VAR:-}` says that empty is meant. A variable
  that is not set marks the server whose entry names it as misconfigured: it is not started, and the
  others run. Anywhere else it stops the start.
- Durations have a unit: `250ms`, `30s`, `5m`, `1h`. Sizes are bytes, or have one: `512KiB`, `1MiB`.
- Relative paths start in the folder of the file; `~/` is the home folder.
- A child process gets the variables that its entry names, and a small safe base: `PATH`, `HOME`,
  `LANG` and the like.
- Agents and people show API keys and tokens as `Authorization: Bearer …` and in no other way. No
  other header, no argument and no `_meta` says who acts. A caller's credential is never passed on
  to a server.
- A credential of a server is replaced by `[secret]` where the server sends it back to a caller.
  What counts as one: values of `headers` and `env`, and of variables in `args` and `url`, of at
  least 8 characters, whose own name or variable's name tells: `API_KEY`, `GITHUB_TOKEN`,
  `Authorization` and the like.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One key: its path with `<name>` for chosen names and `[]` for list items, and its words."""

    path: str
    kind: str
    default: str
    description: str
    section: type[Section] | None = None  # what is inside, when it is a map with known keys


def rows(model: type[Section], prefix: str = "") -> tuple[Row, ...]:
    """Return the keys of one section, in the order of the model."""
    return tuple(_row(f"{prefix}{name}", info) for name, info in model.model_fields.items())


def every_row(model: type[Section] = Settings, prefix: str = "") -> Iterator[Row]:
    """Yield every key of the file, sections before what is in them."""
    for row in rows(model, prefix):
        yield row
        if row.section is not None:
            yield from every_row(row.section, f"{row.path}.")


def render() -> str:
    """Return the page."""
    parts = [_HEAD, "## Top level\n", _table(rows(Settings))]
    for row in every_row():
        if row.section is not None:
            parts += [f"## `{row.path}`\n", f"{row.section.__doc__}\n"]
            parts.append(_table(rows(row.section, f"{row.path}.")))
    return "\n".join(parts)


def write(page: Path) -> bool:
    """Write the page to docs/reference/config.md; tell whether that changed anything."""
    text = render()
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return False
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return True


def _table(keys: tuple[Row, ...]) -> str:
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for row in keys:
        name = row.path.removesuffix(".<name>").removesuffix("[]").rpartition(".")[2]
        meaning = _meaning(row.description)
        lines.append(f"| `{name}` | {row.kind} | {row.default} | {meaning} |")
    return "\n".join(lines) + "\n"


def _meaning(description: str) -> str:
    text = description.removesuffix(".").replace("|", "\\|")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _row(path: str, info: FieldInfo) -> Row:
    kind = _kind(cast("object", info.annotation), tuple(info.metadata))
    return Row(
        path=path + kind.suffix,
        kind=kind.text,
        default=_default(info, kind),
        description=(info.description or "").strip(),
        section=kind.section,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A type in words; `suffix` is what a path goes on with below it."""

    text: str
    section: type[Section] | None = None
    suffix: str = ""
    word: str = ""


def _kind(annotation: object, metadata: tuple[object, ...] = ()) -> _Kind:
    for note in metadata:
        if isinstance(note, Word):
            return _Kind(text=note.text, word=note.text)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0], arguments[1:])
    if origin in {Union, types.UnionType}:
        return _kind(next(item for item in arguments if item is not type(None)))
    if origin is Literal:
        return _Kind(text=" \\| ".join(f"`{item}`" for item in arguments))
    if origin in {tuple, frozenset}:
        item = _kind(arguments[0])
        return _Kind(text=f"list of {item.text}", section=item.section, suffix=_mark(item, "[]"))
    if origin is dict:
        item = _kind(arguments[1])
        return _Kind(
            text=f"map to {item.text}", section=item.section, suffix=_mark(item, ".<name>")
        )
    return _plain(annotation)


def _mark(item: _Kind, suffix: str) -> str:
    return suffix if item.section is not None else ""


_PLAIN: Final[Mapping[object, str]] = {
    str: "text",
    int: "number",
    bool: "`true` \\| `false`",
    Path: "path",
}


def _plain(annotation: object) -> _Kind:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return _Kind(text="map", section=annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _Kind(text=" \\| ".join(f"`{item.value}`" for item in annotation))
    return _Kind(text=_PLAIN[annotation])


def _default(info: FieldInfo, kind: _Kind) -> str:
    if info.is_required():
        return "required"
    value = cast("object", info.get_default(call_default_factory=True, validated_data={}))
    match value:
        case None | Section() | () | frozenset():
            return ""
        case dict():
            return ""
        case bool():
            return f"`{str(value).lower()}`"
        case Enum():
            return f"`{value.value}`"
        case tuple():
            return ", ".join(f"`{item}`" for item in cast("tuple[object, ...]", value))
        case float() if kind.word == "duration":
            return f"`{format_duration(value)}`"
        case int() if kind.word == "size":
            return f"`{format_size(value)}`"
        case _:
            return f"`{value}`"

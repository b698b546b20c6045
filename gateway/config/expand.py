"""`${VAR}` and `${VAR:-default}` in the values of a file; `$${` stands for a plain `${`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gateway.config.section import EXTENSION
from gateway.types.json import Json

Path: TypeAlias = "tuple[str | int, ...]"

_REFERENCE: Final = re.compile(r"\$(\$\{)|\$\{([^}]*)(\}?)")
_NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A reference without a value: its place in the file, and `VAR is not set`."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A reference that can't be read, and its mend."""

    path: Path
    message: str


@dataclass(slots=True, kw_only=True)
class Expansion:
    """What came out of a file; `taken` maps places to the values that the environment gave.

    `written` are the texts of those places as they stand in the file, which may be shown.
    """

    value: Json = None
    missing: list[Missing] = field(default_factory=list[Missing])
    malformed: list[Malformed] = field(default_factory=list[Malformed])
    taken: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])
    written: dict[Path, str] = field(default_factory=dict[Path, str])


def expand(value: Json, environment: Mapping[str, str]) -> Expansion:
    """Expand the references in all texts below `value`, once; keys and `x-` parts stay as written.

    A variable that is set but empty counts as missing: `${VAR:-}` says that empty is meant.
    """
    result = Expansion()
    result.value = _expand(value, (), environment, result)
    return result


def _expand(value: Json, path: Path, environment: Mapping[str, str], result: Expansion) -> Json:
    match value:
        case dict():
            return {
                key: item
                if _is_extension(path, key)
                else _expand(item, (*path, key), environment, result)
                for key, item in value.items()
            }
        case list():
            return [
                _expand(item, (*path, index), environment, result)
                for index, item in enumerate(value)
            ]
        case str() if "${" in value:
            before = len(result.taken)
            expanded = "".join(_pieces(value, path, environment, result))
            if len(result.taken) > before:
                result.written[path] = value
            return expanded
        case _:
            return value


def _is_extension(path: Path, key: str) -> bool:
    # Below these a key is a name that the file's author chose, such as the header `x-api-key`.
    chosen = path == ("servers",) or (len(path) == 3 and path[-1] in {"headers", "env"})
    return key.startswith(EXTENSION) and not chosen


def _pieces(
    text: str, path: Path, environment: Mapping[str, str], result: Expansion
) -> Iterator[str]:
    end = 0
    for found in _REFERENCE.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        if found[1]:
            yield found[1]
            continue
        name = _NAME.fullmatch(found[2]) if found[3] else None
        if name is None:
            result.malformed.append(Malformed(path=path, message=_mend(found[2], bool(found[3]))))
            yield found[0]
            continue
        yield _value(name[1], name[2], path, environment, result)
    yield text[end:]


def _value(
    name: str,
    default: str | None,
    path: Path,
    environment: Mapping[str, str],
    result: Expansion,
) -> str:
    given = environment.get(name)
    if given:
        result.taken.append((path, given))
        return given
    if default is not None:
        return default
    result.missing.append(
        Missing(path=path, reason=f"{name} is {'not set' if given is None else 'empty'}")
    )
    return ""


def _mend(inner: str, closed: bool) -> str:
    if not closed:
        return "`${` has no `}`; write `$${` for a plain `${`"
    if inner.startswith("env:") and _NAME.fullmatch(inner[4:]):
        return f"write `${{{inner[4:]}}}` instead of `${{{inner}}}`"
    return (
        f"`${{{inner[:80]}}}` names no environment variable; write `${{VAR}}` or "
        "`${VAR:-default}`, and `$${` for a plain `${`"
    )

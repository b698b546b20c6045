"""References in a client's own syntax, and the `${VAR}` of ours that stand for the same."""

import re
from pathlib import PurePath
from typing import Final

from gateway.clients.kinds import Dialect
from gateway.types.values import value

_REFERENCE: Final = re.compile(r"\$\{([^{}]*)\}")
_NESTED: Final = re.compile(r"\$\{[^{}]*\$\{[^{}]*\}")
_OPENED: Final = re.compile(r"\$\{")
_CLAUDE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.ASCII | re.DOTALL)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OTHER: Final = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)


class Untranslatable(Exception):
    """A reference to something that only the client knows; says which."""


@value
class Around:
    """What references to folders stand for; without a project there is no workspace.

    `inherited` are variables of the machine that a client hands to its servers with all others.
    """

    project: PurePath | None
    home: PurePath | None
    inherited: tuple[str, ...] = ()


@value
class Piece:
    """A stretch of a text: as it was, or a reference in our words.

    `variable` is what the gateway has to be given, and `source` what gives it in the client.
    """

    start: int
    end: int
    text: str
    variable: str = ""
    source: str = ""


def find(text: str, dialect: Dialect, around: Around) -> tuple[Piece, ...]:
    """Return the references of a text; raises Untranslatable for one that has no counterpart."""
    if dialect is Dialect.NONE:
        return ()
    if nested := _NESTED.search(text):
        raise Untranslatable(f"has a reference inside of another one: `{_shown(nested[0])}`")
    found: list[Piece] = []
    for each in _REFERENCE.finditer(text):
        piece = (
            _of_claude(each[0], each[1])
            if dialect is Dialect.CLAUDE
            else _of_editor(each[0], each[1], around)
        )
        if piece is not None:
            text_of, variable = piece
            if variable and text[: each.start()].endswith("$"):  # ours would read `$${` as text
                raise Untranslatable(f"has a `$` right before `{_shown(each[0])}`")
            source = each[0] if variable else ""
            found.append(
                Piece(
                    start=each.start(),
                    end=each.end(),
                    text=text_of,
                    variable=variable,
                    source=source,
                )
            )
    return tuple(found)


def escaped(text: str) -> str:
    """Return a text of which nothing is taken for a reference of ours."""
    return _OPENED.sub("$${", text)


def default_of(reference: str) -> str:
    """Return the default of a `${VAR:-default}`; nothing where there is none."""
    found = _CLAUDE.fullmatch(reference[2:-1])
    return (found[2] or "") if found is not None else ""


def _shown(reference: str) -> str:
    """Return a reference as a message may repeat it: its default may be a secret."""
    return f"{reference[:80].partition(':-')[0]}…"


def _of_claude(whole: str, inner: str) -> tuple[str, str] | None:
    name = _CLAUDE.fullmatch(inner)
    return None if name is None else (whole, name[1])


def _of_editor(whole: str, inner: str, around: Around) -> tuple[str, str]:
    kind, colon, rest = inner.partition(":")
    match kind:
        case "env" if _VARIABLE.fullmatch(rest):
            return f"${{{rest}}}", rest
        case "input" if rest:
            name = input_variable(rest)
            return f"${{{name}}}", name
        case "workspaceFolder" | "workspaceRoot" if around.project is not None and not colon:
            return escaped(str(around.project)), ""
        case "workspaceFolderBasename" if around.project is not None:
            return escaped(around.project.name), ""
        case "userHome" if around.home is not None:
            return escaped(str(around.home)), ""
        case "pathSeparator" | "/":
            return "/", ""
        case _:
            raise Untranslatable(f"refers to `{whole[:80]}`, which only the client knows")


def input_variable(id: str) -> str:
    """Return the variable that carries an input that an editor asks for: `INPUT_GITHUB_TOKEN`.

    It is like no other: an input may be called `path`, and the gateway has one of its own.
    """
    return f"INPUT_{_OTHER.sub('_', id).strip('_').upper()[:100]}".rstrip("_")

"""Members of one object taken out of a JSON text and another put in their place."""

import json
from collections.abc import Set
from typing import Final

from gateway.clients import texts
from gateway.clients.jsonc import Member, Node, skip_blank
from gateway.types.json import JsonObject

_UNIT: Final = "  "

Span = tuple[int, int, str]  # from, up to, what stands there afterwards


def replaced(text: str, section: Node, gone: Set[str], name: str, entry: JsonObject) -> str:
    """Return the text with a new member where the first of the `gone` ones stood.

    Comments around members stay, and so do line ends and the way that members are set.
    """
    members = section.members
    first = next(index for index, each in enumerate(members) if each.name in gone)
    kept = [index for index, each in enumerate(members) if index == first or each.name not in gone]
    spans: list[Span] = [_new(text, section, members[first], name, entry)]
    for index, each in enumerate(members):
        comma = _comma(text, each)
        if index not in kept:
            spans += _without(text, each, comma)
    last = members[kept[-1]]
    if _comma(text, members[-1]) is None and (comma := _comma(text, last)) is not None:
        spans.append((comma, comma + 1, ""))  # it has become the last one, of a list without
    return _applied(text, spans)


def _comma(text: str, member: Member) -> int | None:
    at = skip_blank(text, member.node.end)
    return at if text[at : at + 1] == "," else None


def _without(text: str, member: Member, comma: int | None) -> list[Span]:
    """Cut a member and its comma out, and the lines that only they stood in."""
    start, end = member.start, member.node.end
    spans: list[Span] = []
    if comma is not None and text[end:comma].strip(" \t") == "":
        end = comma + 1
    elif comma is not None:
        spans.append((comma, comma + 1, ""))
    line = texts.indentation(text, start)
    after = texts.skip_blanks(text, end)
    rest = text[after : after + 2]
    if line is not None and (rest.startswith("\n") or rest == "\r\n"):
        start -= len(line)
        end = after + (2 if rest == "\r\n" else 1)
    elif comma is not None:
        end = after
    return [(start, end, ""), *spans]


def _new(text: str, section: Node, old: Member, name: str, entry: JsonObject) -> Span:
    """Write the new member as its neighbours are set: in lines of its own, or in one."""
    key = json.dumps(name, ensure_ascii=False)
    inner = texts.indentation(text, old.start)
    if inner is None:
        body = json.dumps(entry, ensure_ascii=False)
    else:
        outer = _indentation_of_line(text, section.start)
        unit = inner.removeprefix(outer) if inner.startswith(outer) and inner != outer else _UNIT
        laid_out = json.dumps(entry, ensure_ascii=False, indent=unit)
        body = laid_out.replace("\n", texts.line_end(text) + inner)
    return old.start, old.node.end, f"{key}: {body}"


def _indentation_of_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _applied(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end, instead in sorted(spans):
        pieces += (text[done:start], instead)
        done = end
    return "".join((*pieces, text[done:]))

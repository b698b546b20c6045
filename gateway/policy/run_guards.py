"""Guards of runs: conditions in CEL over what a run has come to, and nothing else.

Two forms are ours and become CEL before they are compiled, at the same width, so that faults keep
their place: `fields.NAME` where true or false is wanted says that the field was collected, and
`verified(server.tool)` that a write of the tool was.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from gateway.policy.cel import (
    Bindings,
    Condition,
    ConditionError,
    Environment,
    ExpressionError,
    Issue,
)
from gateway.types.json import Json
from gateway.types.runs import Run
from gateway.yamltext.models import suggest


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that guards may use: its CEL type, and where its value comes from."""

    type: str
    read: Callable[[Run], Json]


VARIABLES: Final[Mapping[str, Variable]] = {
    "calls": Variable("int", lambda run: run.calls),
    "evidence": Variable("int", lambda run: run.evidence),
    "open_ops": Variable("int", lambda run: run.open_ops),
    "pending_approvals": Variable("int", lambda run: run.pending_approvals),
    "phase": Variable("string", lambda run: str(run.phase)),
    "succeeded": Variable("list<string>", lambda run: [*run.succeeded]),
    "tainted": Variable("bool", lambda run: run.is_tainted),
    "tokens": Variable("int", lambda run: run.tokens),
    "verified": Variable("list<string>", lambda run: [*run.verified]),
}
# The short names that our own forms are written as; no word of an author's.
_COLLECTED, _TOOLS = "_h", {"verified": "_v", "succeeded": "_s"}
_LITERAL = r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_TOOL_CALL: Final = re.compile(
    _LITERAL
    + r"""|\b(?P<of>verified|succeeded)\(\s*(?P<q>["']?)(?P<tool>[^\s()"'\\]+)(?P=q)\s*\)"""
)
_FIELD: Final = re.compile(_LITERAL + r"|(?<![\w.])fields\.(?P<name>\w+)(?P<more>(?:\.\w+|\[)*)")
_BY_TEXT: Final = re.compile(
    r"""(?<![\w.])fields\[(?P<q>["'])(?P<index>[^"'\\]+)(?P=q)\]"""
    r"""|(?P<p>["'])(?P<key>[^"'\\]+)(?P=p)\s+in\s+fields(?![\w.\[(])"""
)
_WHOLE: Final = re.compile(_LITERAL + r"|(?<![\w.])fields(?!\w)")
_BEFORE: Final = re.compile(r"(?:^|&&|\|\||!|(?<![\w\]])\()\s*$")
_DECLARE: Final = "; declare it in `fields`"
_AFTER: Final = re.compile(r"\s*(?:$|\)|&&|\|\||\?)")


class Named(NamedTuple):
    """A tool that a guard names, and where; the offset counts characters from 0."""

    of: str  # verified | succeeded
    tool: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGuard:
    """A compiled guard."""

    text: str
    tools: tuple[Named, ...]
    fields: frozenset[str]
    _names: frozenset[str] = field(repr=False)  # variables that it uses
    _condition: Condition = field(repr=False, compare=False)

    def holds(self, run: Run) -> bool:
        """Say whether a run meets the guard; what can't be evaluated does not hold."""
        try:
            return self._condition.holds(self._bindings(run))
        except ConditionError:
            return False

    def uses(self, name: str) -> bool:
        """Say whether the guard may look at a variable."""
        return name in self._names

    def _bindings(self, run: Run) -> Bindings:
        # Only what is named: a number that no expression can hold is no fault of other fields.
        values = {name: run.fields[name].value for name in self.fields if name in run.fields}
        bound: dict[str, Json] = {name: VARIABLES[name].read(run) for name in self._names}
        bound.update({short: bound[name] for name, short in _TOOLS.items() if name in bound})
        bound["fields"] = {name: value for name, value in values.items() if value is not None}
        bound[_COLLECTED] = {name: values.get(name) is not None for name in self.fields}
        return bound


def compile_guard(text: str, fields: Collection[str]) -> RunGuard:
    """Compile a guard over the fields of a template; raises `ExpressionError` with all faults."""
    tools = tuple(_tools(text))
    named = tuple(_fields(text))
    issues = [*_unknown(text, named, fields), *_whole(text), *_misnamed(text, tools)]
    if issues:
        raise ExpressionError(tuple(issues))
    condition = _environment().condition(_as_cel(text))
    words = frozenset(re.findall(r"(?<![\w.])[a-z_]+", _without_literals(text)))
    return RunGuard(
        text=text,
        tools=tools,
        fields=frozenset(name for name, _ in named),
        _names=words & VARIABLES.keys(),
        _condition=condition,
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    types = {name: each.type for name, each in VARIABLES.items()}
    hidden = {_COLLECTED: "map<string, bool>", **dict.fromkeys(_TOOLS.values(), "list<string>")}
    return Environment({**types, "fields": "map<string, dyn>", **hidden})


def _as_cel(text: str) -> str:
    """Write our own forms out, each within the width that it has."""

    def tool(match: re.Match[str]) -> str:
        if match["text"]:
            return match.group()
        return f'("{match["tool"]}"in {_TOOLS[match["of"]]})'.ljust(len(match.group()))

    def collected(match: re.Match[str]) -> str:
        if match["text"] or match["more"]:
            return match.group()
        whole = match.string
        if _BEFORE.search(whole[: match.start()]) and _AFTER.match(whole, match.end()):
            return f"{_COLLECTED}.{match['name']}".ljust(len(match.group()))
        return match.group()

    return _FIELD.sub(collected, _TOOL_CALL.sub(tool, text))


def _tools(text: str) -> Iterator[Named]:
    for match in _TOOL_CALL.finditer(text):
        if not match["text"]:
            yield Named(match["of"], match["tool"], match.start("tool"))


def _fields(text: str) -> Iterator[tuple[str, int]]:
    """Yield the fields that a guard names, each with its offset."""
    for match in _FIELD.finditer(text):
        if not match["text"]:
            yield match["name"], match.start("name")
    for match in _BY_TEXT.finditer(text):
        group = "index" if match["index"] else "key"
        yield match[group], match.start(group)


def _unknown(
    text: str, named: Collection[tuple[str, int]], fields: Collection[str]
) -> Iterator[Issue]:
    for name, offset in named:
        if name not in fields:
            yield issue(
                text, offset, f"no field `{name}` here{suggest(name, [*fields]) or _DECLARE}"
            )


def _whole(text: str) -> Iterator[Issue]:
    """Find where the map of fields is used otherwise than for one field of a known name."""
    covered = {at for found in (_FIELD, _BY_TEXT) for at in _covered(found, text)}
    for match in _WHOLE.finditer(text):
        if not match["text"] and match.start() not in covered:
            yield issue(text, match.start(), "should name one field, such as `fields.customer_id`")


def _covered(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    for match in pattern.finditer(text):
        yield from range(*match.span())


def _misnamed(text: str, tools: Collection[Named]) -> Iterator[Issue]:
    for each in tools:
        if "." not in each.tool.strip("."):
            yield issue(text, each.offset, f"`{each.tool}` is no tool; name it as `server.name`")


def _without_literals(text: str) -> str:
    return re.sub(_LITERAL, "", text)


def issue(text: str, offset: int, message: str) -> Issue:
    """Make a fault of an expression's text from an offset in it."""
    before = text[:offset].split("\n")
    return Issue(line=len(before), column=len(before[-1]) + 1, message=message)

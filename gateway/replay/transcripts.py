"""Calls of tools out of a model's transcript, in whatever shape its provider writes them.

Read are messages and responses of OpenAI (Chat Completions and Responses) and of Anthropic,
requests of MCP, and plain objects with `name` and `arguments`: one JSON value, or one on each line.
"""

from collections.abc import Iterator
from typing import Final

from gateway import jsontext
from gateway.errors import FileError, JsonError
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

MAX_BYTES: Final = 16 << 20
MOST_LINES: Final = 50_000
MOST_CALLS: Final = 1_000
_DEEPEST: Final = 16
# Where what a model said is inside of something else.
_AROUND: Final = ("messages", "choices", "message", "output", "input", "content", "items", "data")
# Of Responses and of content blocks: what calls a tool, with the member that has its arguments.
_CALLS: Final = {
    "function_call": "arguments",
    "mcp_call": "arguments",
    "tool_use": "input",
    "mcp_tool_use": "input",
}
_ARGUMENTS: Final = ("arguments", "input", "args")


@value
class Proposed:
    """One call that a model wanted made."""

    name: str
    arguments: JsonObject | None  # None: no JSON object
    id: str = ""


def read(data: bytes, *, file: str) -> tuple[Proposed, ...]:
    """Return the calls in their order; raises FileError for what has none, or too many."""
    if len(data) > MAX_BYTES:
        raise FileError(f"larger than {MAX_BYTES} bytes", file=file)
    found: list[Proposed] = []
    known: set[tuple[str, str]] = set()
    for each in (one for said in _values(data, file) for one in _calls(said, 0)):
        if each.id and (each.id, each.name) in known:
            continue  # a message that is there again, as part of what was sent next
        known.add((each.id, each.name))
        found.append(each)
        if len(found) > MOST_CALLS:
            raise FileError(f"more than {MOST_CALLS} calls", file=file)
    if not found:
        raise FileError(
            "no calls of tools in it; write messages of a model, or objects with `name` and "
            "`arguments`",
            file=file,
        )
    return tuple(found)


def _values(data: bytes, file: str) -> Iterator[Json]:
    """Yield the JSON values of a file: the only one, or that of each line."""
    try:
        yield jsontext.parse_exactly(data)
        return
    except JsonError as error:
        whole = error
    if data.count(b"\n") > MOST_LINES:
        raise FileError(f"no JSON as a whole, and more than {MOST_LINES} lines", file=file)
    lines = [(at, line) for at, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    for at, line in lines:
        try:
            yield jsontext.parse_exactly(line)
        except JsonError as error:
            # Where not even the first line is JSON, it is one value over several lines.
            is_one = at == lines[0][0]
            said = whole.message if is_one else error.message
            raise FileError(f"no JSON: {said}", file=file, line=at, column=1) from None


def _calls(value: Json, depth: int) -> Iterator[Proposed]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _calls(each, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, depth)


def _of_object(said: JsonObject, depth: int) -> Iterator[Proposed]:
    kind = said.get("type")
    if isinstance(kind, str) and kind in _CALLS:
        id = said.get("call_id") or said.get("id")
        yield from _one(said.get("name"), said.get(_CALLS[kind]), id)
    elif said.get("method") == "tools/call" and isinstance(said.get("params"), dict):
        params = said["params"]
        assert isinstance(params, dict)  # noqa: S101 - just asked
        yield from _one(params.get("name"), params.get("arguments"), None)
    elif "role" in said:
        if said["role"] == "assistant":
            yield from _of_message(said, depth)
    elif kind is None and isinstance(said.get("name"), str):
        given = next((said[each] for each in _ARGUMENTS if each in said), None)
        yield from _one(said["name"], given, said.get("id"))
    else:
        for name in _AROUND:
            if name in said:
                yield from _calls(said[name], depth + 1)


def _of_message(said: JsonObject, depth: int) -> Iterator[Proposed]:
    """Yield the calls of what a model said: content blocks, and members of Chat Completions."""
    yield from _calls(said.get("content"), depth + 1)
    called = said.get("tool_calls")
    for each in called if isinstance(called, list) else []:
        function = each.get("function") if isinstance(each, dict) else None
        if isinstance(each, dict) and isinstance(function, dict):
            yield from _one(function.get("name"), function.get("arguments"), each.get("id"))
    older = said.get("function_call")
    if isinstance(older, dict):
        yield from _one(older.get("name"), older.get("arguments"), None)


def _one(name: Json, given: Json, id: Json) -> Iterator[Proposed]:
    if isinstance(name, str) and name:
        known = id if isinstance(id, str) else ""
        yield Proposed(name=name, arguments=_arguments(given), id=known)


def _arguments(given: Json) -> JsonObject | None:
    """Return arguments, from the text that some providers have of them; None for what is none."""
    if given is None or given == "":
        return {}
    if isinstance(given, str):
        try:
            given = jsontext.parse(given)  # as a gateway reads what it gets
        except JsonError:
            return None
    return given if isinstance(given, dict) else None

"""What a draft looks at in a definition that a stranger wrote: its arguments, and safe words."""

from collections import deque
from collections.abc import Iterator
from itertools import islice

from gateway.contracts.draft_words import words
from gateway.types.json import Json, JsonObject

_MOST = 200  # schemas that are looked at: a stranger's may refer to themselves
_LONGEST_WORD = 60


def arguments(definition: JsonObject) -> JsonObject:
    """Return the arguments of a tool by name, also those that branches and references bring."""
    root = mapping(definition.get("inputSchema"))
    found: JsonObject = {}
    waiting: deque[Json] = deque([root])
    for _ in range(_MOST):
        if not waiting:
            break
        here = mapping(waiting.popleft())
        for name, inner in mapping(here.get("properties")).items():
            found.setdefault(name, inner)
        waiting.extend(islice(branches(root, here), _MOST))
    return found


def branches(root: JsonObject, schema: JsonObject) -> Iterator[Json]:
    """Return what a schema also says by a local reference or in alternatives."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield _local(root, reference)
    for word in ("anyOf", "oneOf", "allOf"):
        options = schema.get(word)
        yield from options if isinstance(options, list) else []


def _local(root: JsonObject, reference: str) -> Json:
    """Return what `#/$defs/name` stands for, None for any other reference."""
    if not reference.startswith("#/"):
        return None
    value: Json = root
    for token in reference[2:].split("/"):
        value = mapping(value).get(token.replace("~1", "/").replace("~0", "~"))
    return value


def plain(name: str) -> str:
    """Return a name in one spelling: `dryRun` is `dry_run`."""
    return "_".join(words(name))


def shown(name: str) -> str:
    """Return a stranger's word for a line of text: short, and nothing that ends line or quotes."""
    return "".join(mark if mark.isprintable() and mark != "`" else " " for mark in name)[
        :_LONGEST_WORD
    ]


def mapping(value: Json) -> JsonObject:
    """Return a map, an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}

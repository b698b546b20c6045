"""What a schema may cost before it is compiled: no schema of a stranger can burn time later.

Size and depth bound compiling. The cost of judging one value is bounded along every path from
the root of an instance to one of its nodes: the sum of the schemas that are applied there, with
repeats. Together with the node limit of arguments that bounds a validation as a whole.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from gateway import jsontext
from gateway.contracts.dialects import Position, Subschema, subschemas, target_of
from gateway.contracts.graph import components
from gateway.errors import JsonError, SchemaError
from gateway.types.json import Json, JsonObject, JsonPointer

MAX_BYTES = 64 * 1024
MAX_DEPTH = 64
MAX_NODES = 10_000
MAX_COST = 2_000  # schemas applied along one path of an instance; a pattern counts for ten
MAX_PATTERN = 256  # characters
MAX_ENUM = 1_000  # values

_PATTERN_WEIGHT = 10


def check(schema: JsonObject) -> None:
    """Raise `SchemaError` with the pointer of what goes over the budget."""
    _check_size(schema)
    nodes = _collect(schema)
    base = "id" if "draft-04" in str(schema.get("$schema")) else "$id"
    for pointer, node in nodes.items():
        if pointer and isinstance(node.get(base), str):
            raise SchemaError(
                f"`{base}` below the root changes what references mean", pointer=f"{pointer}/{base}"
            )
        _check_keywords(node, pointer)
    edges = {pointer: _edges(schema, node, pointer) for pointer, node in nodes.items()}
    _check_cost(edges, {pointer: _weight(node) for pointer, node in nodes.items()})


def _check_size(schema: JsonObject) -> None:
    try:
        size = len(jsontext.dump(schema))
    except JsonError as error:
        raise SchemaError(error.message, pointer=error.pointer) from None
    if size > MAX_BYTES:
        raise SchemaError(f"schema of {size} bytes; at most {MAX_BYTES} are enforced")
    level: list[Json] = [schema]
    depth = count = 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > MAX_DEPTH:
            raise SchemaError(f"schema nested deeper than {MAX_DEPTH} levels")
        if count > MAX_NODES:
            raise SchemaError(f"schema of more than {MAX_NODES} values")
        if any(isinstance(value, Decimal) for value in level):
            raise SchemaError("schema with a number that no float carries")
        level = [inner for value in level for inner in _members(value)]


def _members(value: Json) -> list[Json]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return []


def _collect(schema: JsonObject) -> dict[JsonPointer, JsonObject]:
    """Return every schema by its pointer: those at the known places, and what `$ref` names."""
    nodes: dict[JsonPointer, JsonObject] = {}
    waiting: list[tuple[JsonPointer, Json]] = [("", schema)]
    while waiting:
        pointer, node = waiting.pop()
        if not isinstance(node, dict) or pointer in nodes:
            continue
        nodes[pointer] = node
        waiting.extend((inner.pointer, inner.schema) for inner in subschemas(node, pointer))
        if "$ref" in node:
            target = _resolve(schema, node["$ref"], pointer)
            waiting.append((target, jsontext.get(schema, target)))
    return nodes


def _resolve(schema: JsonObject, reference: Json, pointer: JsonPointer) -> JsonPointer:
    """Return the pointer that a local `$ref` stands for."""
    try:
        target = target_of(reference)
        jsontext.get(schema, target)
    except KeyError:
        raise SchemaError("the reference leads nowhere", pointer=f"{pointer}/$ref") from None
    except ValueError as error:
        raise SchemaError(str(error), pointer=f"{pointer}/$ref") from None
    return target


def _check_keywords(node: JsonObject, pointer: JsonPointer) -> None:
    for keyword in ("$dynamicRef", "$recursiveRef"):
        if keyword in node:
            raise SchemaError(f"`{keyword}` is not enforced", pointer=f"{pointer}/{keyword}")
    values = node.get("enum")
    if isinstance(values, list) and len(values) > MAX_ENUM:
        raise SchemaError(f"enum of more than {MAX_ENUM} values", pointer=f"{pointer}/enum")
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        _check_pattern(pattern, f"{pointer}/pattern")
    patterns = node.get("patternProperties")
    if isinstance(patterns, dict):
        for name in patterns:
            _check_pattern(name, f"{pointer}/patternProperties/{jsontext.escape(name)}")


def _check_pattern(pattern: str, pointer: JsonPointer) -> None:
    if len(pattern) > MAX_PATTERN:
        raise SchemaError(f"pattern of more than {MAX_PATTERN} characters", pointer=pointer)
    unescaped = pattern.replace("\\\\", "")
    if "\\<" in unescaped or "\\>" in unescaped:
        # To ECMAScript a plain character, to the engine the edge of a word.
        raise SchemaError("`\\<` and `\\>` mean different things; write `<`", pointer=pointer)


# --- cost ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reach:
    """How much is applied one level down in the instance: to items, and to members by name."""

    items: int = 0
    others: int = 0  # to a member that no `properties` names
    extra: Counter[str] = field(default_factory=Counter[str])  # by name, beyond `others`

    def add(self, weight: int, inner: Subschema, names: frozenset[str]) -> None:
        match inner.position:
            case Position.ITEM:
                self.items += weight
            case Position.NAMED:
                self.extra[inner.name] += weight
            case Position.OTHER:
                self.others += weight
                for name in names:  # named members are not `additional` ones
                    self.extra[name] -= weight
            case _:
                self.others += weight

    def join(self, other: "_Reach") -> None:
        self.items += other.items
        self.others += other.others
        for name, weight in other.extra.items():  # Counter.update would copy first
            self.extra[name] += weight

    @property
    def worst(self) -> int:
        return max(self.items, self.others + max(self.extra.values(), default=0), self.others)


def _edges(schema: JsonObject, node: JsonObject, pointer: JsonPointer) -> tuple[Subschema, ...]:
    """Return what a schema leads to, its reference included, definitions left out."""
    inner = [
        child
        for child in subschemas(node, pointer)
        if child.position is not Position.NOWHERE and isinstance(child.schema, dict)
    ]
    if "$ref" in node:
        target = _resolve(schema, node["$ref"], pointer)
        if isinstance(jsontext.get(schema, target), dict):
            inner.append(Subschema(pointer=target, position=Position.SAME, schema=None))
    return tuple(inner)


def _weight(node: JsonObject) -> int:
    """Patterns read the whole text, which may be a megabyte; other keywords glance at it."""
    patterns = node.get("patternProperties")
    count = ("pattern" in node) + (len(patterns) if isinstance(patterns, dict) else 0)
    return 1 + _PATTERN_WEIGHT * count


def _check_cost(
    edges: Mapping[JsonPointer, tuple[Subschema, ...]], weights: Mapping[JsonPointer, int]
) -> None:
    in_place = {
        pointer: [edge.pointer for edge in found if edge.position is Position.SAME]
        for pointer, found in edges.items()
    }
    order: dict[JsonPointer, int] = {}
    for component in components(in_place):
        if len(component) > 1 or component[0] in in_place[component[0]]:
            raise SchemaError("the schema refers to itself in place", pointer=min(component))
        order[component[0]] = len(order)
    everything = {pointer: [edge.pointer for edge in found] for pointer, found in edges.items()}
    costs: dict[JsonPointer, int] = {}  # of a path that starts here
    here: dict[JsonPointer, int] = {}  # of the first node of that path
    reach: dict[JsonPointer, _Reach] = {}
    for component in components(everything):
        members = frozenset(component)
        again: dict[JsonPointer, _Reach] = {}
        for pointer in sorted(component, key=order.__getitem__):
            found = edges[pointer]
            again[pointer] = _again(found, members, again)
            if again[pointer].worst > 1:
                raise SchemaError("recursion doubles with each level", pointer=pointer)
            added, reach[pointer] = _sums(found, members, here, reach, costs)
            here[pointer] = weights[pointer] + added
            costs[pointer] = here[pointer] + reach[pointer].worst
            if costs[pointer] > MAX_COST:
                raise SchemaError(
                    f"validation budget: more than {MAX_COST} schemas apply along one path",
                    pointer=pointer,
                )


def _again(
    found: tuple[Subschema, ...],
    members: frozenset[JsonPointer],
    again: Mapping[JsonPointer, _Reach],
) -> _Reach:
    """Count how often a recursion comes back to one place of the instance."""
    total = _Reach()
    names = _names(found)
    for edge in found:
        if edge.pointer in members:
            if edge.position is Position.SAME:
                total.join(again[edge.pointer])
            else:
                total.add(1, edge, names)
    return total


def _sums(
    found: tuple[Subschema, ...],
    members: frozenset[JsonPointer],
    here: Mapping[JsonPointer, int],
    reach: Mapping[JsonPointer, _Reach],
    costs: Mapping[JsonPointer, int],
) -> tuple[int, _Reach]:
    """Add up what a schema applies to the same value, and one level down."""
    own, total = 0, _Reach()
    names = _names(found)
    for edge in found:
        if edge.position is Position.SAME:
            own += here[edge.pointer]
            total.join(reach[edge.pointer])
        elif edge.pointer not in members:
            total.add(costs[edge.pointer], edge, names)
    return own, total


def _names(found: tuple[Subschema, ...]) -> frozenset[str]:
    return frozenset(edge.name for edge in found if edge.position is Position.NAMED)

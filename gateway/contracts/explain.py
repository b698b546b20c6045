"""What is wrong with a value, for a model to mend: a bounded walk, made only after a refusal.

The engine decides validity; this only finds words. Its steps are bounded because the engine's own
error texts are not: they took 50 seconds on a schema that takes a millisecond to judge.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from gateway import jsontext
from gateway.contracts import wording
from gateway.contracts.dialects import Dialect, Validator, ref_stands_alone, target_of, validator
from gateway.types.json import Json, JsonObject, JsonPointer

MAX_VIOLATIONS = 5
MAX_STEPS = 1_000  # schemas visited
_MAX_DEPTH = 100  # of schemas within schemas, references included


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing to mend; tells types and limits, never a value."""

    pointer: JsonPointer
    expected: str
    received: str


@dataclass(frozen=True, slots=True)
class _Spot:
    """A value, where it stands, and how many schemas led to it."""

    value: Json
    pointer: JsonPointer
    depth: int = 0

    def member(self, name: str | int, value: Json) -> "_Spot":
        return _Spot(value, f"{self.pointer}/{jsontext.escape(str(name))}", self.depth + 1)

    def again(self) -> "_Spot":
        return _Spot(self.value, self.pointer, self.depth + 1)

    def violation(self, expected: str) -> Violation:
        return Violation(pointer=self.pointer, expected=expected, received=wording.kind(self.value))


def violations(schema: JsonObject, dialect: Dialect, value: Json) -> tuple[Violation, ...]:
    """Return the first few violations; a general one if no step of the walk finds any."""
    walk = _Walk(root=schema, dialect=dialect)
    spot = _Spot(value, "")
    found = tuple(islice(walk.visit(schema, spot), MAX_VIOLATIONS))
    return found or (spot.violation("a value that matches the schema"),)


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One search; every method yields the violations of what it looks at."""

    root: JsonObject
    dialect: Dialect
    steps: int = 0
    judges: dict[object, Validator] = field(default_factory=dict[object, Validator])

    def visit(self, schema: Json, spot: _Spot) -> Iterator[Violation]:
        self.steps += 1
        if self.steps > MAX_STEPS or spot.depth > _MAX_DEPTH:
            return
        if schema is False:
            yield spot.violation("nothing here")
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            yield from self.visit(jsontext.get(self.root, target_of(schema["$ref"])), spot.again())
            if ref_stands_alone(self.dialect):
                return
        for keyword in wording.LEAVES:
            if keyword in schema and not self._holds(schema, keyword, spot.value):
                yield spot.violation(wording.expected(schema, keyword))
                if keyword == "type":
                    return  # what else it asks for only makes sense for that type
        yield from self._inside(schema, spot)
        yield from self._combined(schema, spot)

    def _inside(self, schema: JsonObject, spot: _Spot) -> Iterator[Violation]:
        if isinstance(spot.value, dict):
            yield from self._members(schema, spot.value, spot)
            yield from self._dependent(schema, spot.value, spot)
        elif isinstance(spot.value, list):
            yield from self._items(schema, spot.value, spot)

    def _holds(self, schema: JsonObject, keyword: str, value: Json) -> bool:
        """Ask the engine about one keyword alone, so that its meaning is not told twice."""
        name = (id(schema), keyword)  # the root holds all schemas while we walk
        if name not in self.judges:
            alone: JsonObject = {keyword: schema[keyword]}
            if schema[keyword] is True and keyword in wording.FLAGGED:
                limit = wording.FLAGGED[keyword]
                alone[limit] = schema.get(limit)
            self.judges[name] = validator(alone, self.dialect)
        return _accepts(self.judges[name], value)

    def _matches(self, pattern: str, name: str) -> bool:
        if pattern not in self.judges:
            self.judges[pattern] = validator({"pattern": pattern}, self.dialect)
        return _accepts(self.judges[pattern], name)

    def _members(self, schema: JsonObject, value: JsonObject, spot: _Spot) -> Iterator[Violation]:
        named = _map(schema.get("properties"))
        required = _list(schema.get("required"))
        for name in required:
            if isinstance(name, str) and name not in value:
                yield self._missing(_map(named.get(name)), spot.member(name, None))
        for name, member in value.items():
            inner = spot.member(name, member)
            if name in named:
                found = self.visit(named[name], inner)
                optional = member is None and name not in required
                yield from (_omit(one) if optional else one for one in found)
            else:
                yield from self._unnamed(schema, name, inner)
            if "propertyNames" in schema and not self._fits(
                schema["propertyNames"], _Spot(name, "", spot.depth + 1)
            ):
                yield inner.violation("another name for this field")

    def _missing(self, schema: JsonObject, spot: _Spot) -> Violation:
        if "$ref" in schema:
            schema = _map(jsontext.get(self.root, target_of(schema["$ref"])))
        expected = wording.types(schema["type"]) if "type" in schema else "a value"
        return Violation(pointer=spot.pointer, expected=expected, received="nothing")

    def _unnamed(self, schema: JsonObject, name: str, spot: _Spot) -> Iterator[Violation]:
        matched = False
        for pattern, inner in _map(schema.get("patternProperties")).items():
            if self._matches(pattern, name):
                matched = True
                yield from self.visit(inner, spot)
        others = schema.get("additionalProperties")
        if matched:
            return
        if others is False:
            nearest = difflib.get_close_matches(name, _map(schema.get("properties")), n=1)
            hint = f"; did you mean `{nearest[0]}`?" if nearest else ""
            yield spot.violation(f"no such field{hint}")
        else:
            yield from self.visit(others, spot)

    def _dependent(self, schema: JsonObject, value: JsonObject, spot: _Spot) -> Iterator[Violation]:
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, rule in _map(schema.get(keyword)).items():
                if name not in value:
                    continue
                for other in _list(rule):
                    if isinstance(other, str) and other not in value:
                        yield Violation(
                            pointer=spot.member(other, None).pointer,
                            expected=f"a value, since `{name}` is given",
                            received="nothing",
                        )
                yield from self.visit(rule, spot.again())

    def _items(self, schema: JsonObject, value: list[Json], spot: _Spot) -> Iterator[Violation]:
        items = schema.get("items")
        leading = _list(schema.get("prefixItems", items))
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        for index, member in enumerate(value[:MAX_STEPS]):
            inner = leading[index] if index < len(leading) else rest
            yield from self.visit(inner, spot.member(index, member))

    def _combined(self, schema: JsonObject, spot: _Spot) -> Iterator[Violation]:
        for inner in _list(schema.get("allOf")):
            yield from self.visit(inner, spot.again())
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._branches(_list(schema[keyword]), spot, several=keyword == "anyOf")
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], spot) else "else"
            yield from self.visit(schema.get(branch), spot.again())
        if "not" in schema and self._fits(schema["not"], spot):
            yield spot.violation("a value that `not` leaves open")

    def _fits(self, schema: Json, spot: _Spot) -> bool:
        return next(self.visit(schema, spot.again()), None) is None

    def _branches(self, branches: list[Json], spot: _Spot, *, several: bool) -> Iterator[Violation]:
        """Report the branch that comes nearest; if none has the type, the types of all."""
        tried = [
            list(islice(self.visit(inner, spot.again()), MAX_VIOLATIONS)) for inner in branches
        ]
        fitting = sum(not found for found in tried)
        if fitting == 1 or (fitting and several):
            return
        if fitting:
            yield spot.violation(f"a value that fits exactly one of {len(tried)} forms")
        elif deeper := [found for found in tried if found[0].pointer != spot.pointer]:
            yield from min(deeper, key=len)
        else:
            wanted = dict.fromkeys(found[0].expected for found in tried)
            yield spot.violation(" or ".join(islice(wanted, 6)))


def _accepts(judge: Validator, value: Json) -> bool:
    """Whether one keyword is content; what can't be asked is not this keyword's fault."""
    try:
        return judge.is_valid(value)
    except (ValueError, TypeError, OverflowError):
        return True


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _map(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _omit(violation: Violation) -> Violation:
    """Models fill optional fields with null; tell them what works instead."""
    return replace(violation, expected=f"{violation.expected} (or omit the field)")

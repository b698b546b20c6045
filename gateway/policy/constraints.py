"""Carry out what a policy demands of the arguments, on a copy."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeGuard

from gateway.errors import WeighbridgeError
from gateway.types.decisions import Constraint
from gateway.types.json import Json, JsonObject, JsonPointer

# Fill first, then overwrite, then bound: a bound holds whoever wrote the value.
_ORDER = {"default": 0, "set": 1, "max": 2, "min": 3}


class ConstraintError(WeighbridgeError):
    """The arguments can't take what policy demands; the call must not go on."""


def apply(arguments: JsonObject, constraints: Sequence[Constraint]) -> JsonObject:
    """Return new arguments that meet every constraint; the given ones are left as they are."""
    changed = arguments
    for constraint in sorted(constraints, key=lambda each: _ORDER.get(each.kind, 9)):
        tokens = tokens_of(constraint.pointer)
        if not tokens:
            raise ConstraintError("a constraint on all the arguments at once is not possible")
        changed = _in_object(changed, tokens[0], tokens[1:], constraint)
    return changed


def tokens_of(pointer: JsonPointer) -> tuple[str, ...]:
    """Split an RFC 6901 pointer into its unescaped tokens."""
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def is_number(value: Json) -> TypeGuard[int | float | Decimal]:
    """Say whether a value is a JSON number; `true` is none, and neither is NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return isinstance(value, int) or not math.isnan(value)


def _at(value: Json, tokens: tuple[str, ...], constraint: Constraint) -> Json:
    if not tokens:
        return _changed(value, constraint)
    token, rest = tokens[0], tokens[1:]
    match value:
        case dict():
            return _in_object(value, token, rest, constraint)
        case list():
            return _in_list(value, token, rest, constraint)
        case _:
            raise ConstraintError(f"`{constraint.pointer}` leads through a value without parts")


def _in_object(
    value: JsonObject, token: str, rest: tuple[str, ...], constraint: Constraint
) -> JsonObject:
    if token == "*":  # noqa: S105 - a wildcard
        return {key: _at(item, rest, constraint) for key, item in value.items()}
    if token in value:
        return {**value, token: _at(value[token], rest, constraint)}
    if constraint.kind in ("max", "min") or "*" in rest:
        return value  # nothing there to bound
    return {**value, token: _made(rest, constraint.value)}


def _in_list(
    value: list[Json], token: str, rest: tuple[str, ...], constraint: Constraint
) -> list[Json]:
    if token == "*":  # noqa: S105 - a wildcard
        return [_at(item, rest, constraint) for item in value]
    if not token.isascii() or not token.isdigit():
        raise ConstraintError(f"`{constraint.pointer}` names a key where a list is")
    index = int(token)
    if index < len(value):
        return [*value[:index], _at(value[index], rest, constraint), *value[index + 1 :]]
    if constraint.kind in ("max", "min"):
        return value
    raise ConstraintError(f"`{constraint.pointer}` lies beyond the end of a list")


def _made(rest: tuple[str, ...], value: Json) -> Json:
    for token in reversed(rest):
        value = {token: value}
    return value


def _changed(value: Json, constraint: Constraint) -> Json:
    match constraint.kind:
        case "set":
            return constraint.value
        case "default":
            return value
        case "max":
            return _bounded(value, constraint, lambda number, bound: number > bound)
        case "min":
            return _bounded(value, constraint, lambda number, bound: number < bound)
        case _:
            raise ConstraintError(f"unknown kind of constraint `{constraint.kind}`")


def _bounded(
    value: Json,
    constraint: Constraint,
    is_beyond: Callable[[int | float | Decimal, int | float | Decimal], bool],
) -> Json:
    bound = constraint.value
    if not is_number(value) or not is_number(bound):
        raise ConstraintError(f"`{constraint.pointer}` is not a number that can be bounded")
    return bound if is_beyond(value, bound) else value

"""Frozen values that are made quickly: for what every call makes anew.

A frozen dataclass sets each field by `object.__setattr__`, which looks the field up in the class by
its name. The field's own slot sets it just as well, and takes a third of the time.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(cls: type[_T]) -> type[_T]:
    """Make of a class what `dataclass(frozen=True, slots=True, kw_only=True)` makes of it.

    Raises TypeError for a class that wants more of its constructor than to set all fields.
    """
    made: Any = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    if hasattr(made, "__post_init__") or not all(each.init for each in fields(made)):
        raise TypeError(f"{cls.__name__} has a constructor that does more than to set its fields")
    made.__init__ = _constructor(made)
    made.__replace__ = _replacer(made)
    return made


def replaced(original: _T, /, **changes: object) -> _T:
    """Return a copy of a `value` with other fields; KeyError for one that it hasn't got."""
    made: Any = original
    return made.__replace__(**changes)


def _constructor(made: Any) -> Callable[..., None]:
    parameters: list[str] = []
    lines: list[str] = []
    scope = _setters(made) | {"MISSING": MISSING}
    for each in fields(made):
        name, given = each.name, each.name
        if each.default_factory is not MISSING:
            scope[f"make_{name}"] = each.default_factory
            given = f"make_{name}() if {name} is MISSING else {name}"
            parameters.append(f"{name}=MISSING")
        elif each.default is not MISSING:
            scope[f"default_{name}"] = each.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"set_{name}(self, {given})")
    return _written(f"__init__(self, *, {', '.join(parameters)})", lines, scope)


def _replacer(made: Any) -> Callable[..., Any]:
    names = [each.name for each in fields(made)]
    scope = _setters(made) | {"empty": object.__new__, "made": made, "setters": _setters(made)}
    lines = [
        "copy = empty(made)",
        *(f"set_{name}(copy, self.{name})" for name in names),
        "for name, value in changes.items(): setters['set_' + name](copy, value)",
        "return copy",
    ]
    return _written("__replace__(self, /, **changes)", lines, scope)


def _setters(made: Any) -> dict[str, Any]:
    return {f"set_{each.name}": getattr(made, each.name).__set__ for each in fields(made)}


def _written(head: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """Write a function, as `dataclass` itself does; only the names of fields get into its text."""
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"def {head}:\n{body}", scope)  # noqa: S102 - nothing in the text comes from outside
    return scope[head.partition("(")[0]]

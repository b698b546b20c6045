"""Frozen values that are made quickly: for what every call makes anew.

A frozen dataclass sets each field by `object.__setattr__`, which looks the field up in the class by
its name: many times the work of a plain assignment. So a value is an object of an open class with
the same slots while it is made, and becomes one of its own class once its fields are set.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ParamSpec, TypeVar, dataclass_transform

_T = TypeVar("_T")
_P = ParamSpec("_P")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(cls: type[_T]) -> type[_T]:
    """Make of a class what `dataclass(frozen=True, slots=True, kw_only=True)` makes of it.

    Raises TypeError for a class that wants more of its constructor than to set all fields.
    """
    made: Any = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    if hasattr(made, "__post_init__") or not all(each.init for each in fields(made)):
        raise TypeError(f"{cls.__name__} has a constructor that does more than to set its fields")
    # INVARIANT: nobody ever sees an object of this class, as what makes one gives it another.
    being_made = type(cls.__name__, (), {"__slots__": [each.name for each in fields(made)]})
    made.__new__ = _constructor(made, being_made, "__new__(cls, *, ")
    made.__make__ = staticmethod(_constructor(made, being_made, "make(*, "))
    del made.__init__
    made.__getnewargs_ex__ = _given  # what copies and pickles are made with
    made.__replace__ = _replacer(made, being_made)
    return made


def maker(cls: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function that makes what calling a `value` class makes; for what every call makes.

    A class gets its keywords in a dict, which is made and taken apart for that; a function gets
    them where it wants them, which takes half the time.
    """
    made: Any = cls
    found: Callable[_P, _T] = made.__make__
    return found


def replaced(original: _T, /, **changes: object) -> _T:
    """Return a copy of a `value` with other fields; KeyError for one that it hasn't got."""
    made: Any = original
    return made.__replace__(**changes)


def _constructor(made: Any, being_made: type, head: str) -> Callable[..., Any]:
    parameters: list[str] = []
    lines = ["self = _being_made()"]
    scope: dict[str, Any] = {"MISSING": MISSING, "_made": made, "_being_made": being_made}
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
        lines.append(f"self.{name} = {given}")
    lines += ["self.__class__ = _made", "return self"]
    return _written(f"{head}{', '.join(parameters)})", lines, scope)


def _given(self: Any) -> tuple[tuple[()], dict[str, Any]]:
    return (), {each.name: getattr(self, each.name) for each in fields(self)}


def _replacer(made: Any, being_made: type) -> Callable[..., Any]:
    names = [each.name for each in fields(made)]
    setters = {name: getattr(being_made, name).__set__ for name in names}
    scope = {"_being_made": being_made, "_made": made, "_setters": setters}
    lines = [
        "copy = _being_made()",
        *(f"copy.{name} = self.{name}" for name in names),
        "for name, value in changes.items(): _setters[name](copy, value)",
        "copy.__class__ = _made",
        "return copy",
    ]
    return _written("__replace__(self, /, **changes)", lines, scope)


def _written(head: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """Write a function, as `dataclass` itself does; only the names of fields get into its text."""
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"def {head}:\n{body}", scope)  # noqa: S102 - nothing in the text comes from outside
    return scope[head.partition("(")[0]]

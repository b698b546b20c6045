"""What a filter with optional fields comes to in SQL: constant parts only, values as parameters."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from gateway.store.engine import Value
from gateway.store.rows import clean
from gateway.store.times import microseconds


def parts(texts: Mapping[str, str], wanted: object) -> tuple[list[str], dict[str, Value]]:
    """Return the conditions of the fields that are set, and their parameters.

    `texts` has the condition of each field by its name. A flag has no parameter, only a condition.
    """
    found: list[str] = []
    parameters: dict[str, Value] = {}
    for name, text in texts.items():
        value: object = getattr(wanted, name)
        match value:
            case datetime():
                parameters[name] = microseconds(value)
            case str() if value:
                parameters[name] = clean(value)
            case True:
                pass
            case _:
                continue
        found.append(text)
    return found, parameters


def where(conditions: Sequence[str]) -> str:
    """Return the clause in which all conditions hold; empty without any."""
    return "WHERE " + " AND ".join(conditions) if conditions else ""

"""What else the store keeps of calls whose sealed copies are destroyed: operations and requests.

Only content goes. Key, digests and state of an operation stay, so that the same call is known again
and not sent; and so does all that something may still be sent, checked or undone by.
"""

from collections.abc import Sequence
from typing import Final

from gateway import jsontext
from gateway.store.engine import Parameters, Transaction
from gateway.types.json import Json
from gateway.types.operations import ASKS_FIRST
from gateway.types.values import value

_TELLING: Final[Parameters] = {
    "asks_first": ASKS_FIRST,
    "gone": '"(shredded)"',  # JSON: what people see in place of arguments
}


@value
class Erased:
    """How many operations and requests have let go of what they were about."""

    operations: int = 0
    requests: int = 0


@value
class Left:
    """Calls with something to let go of now, and operations that keep it until they are settled."""

    calls: tuple[str, ...]
    open: tuple[str, ...]


def just_shredded(transaction: Transaction, shred: str) -> list[str]:
    """Return the calls whose copies a shredding has destroyed."""
    found = transaction.fetch("calls_just_shredded", {"shred": shred})
    return [row.text("call_id") for row in found]


def left(transaction: Transaction, *, run: str, call: str, tenant: str, before: int) -> Left:
    """Return of whose destroyed copies something is left in operations; holds keep it there."""
    wanted: Parameters = {
        "run_id": run,
        "call_id": call,
        "tenant": tenant,
        "before": before,
        **_TELLING,
    }
    rows = transaction.fetch("calls_shredded", wanted)
    settled = [row.text("call_id") for row in rows if row.integer("is_settled")]
    still = [row.text("op_id") for row in rows if not row.integer("is_settled")]
    return Left(calls=tuple(dict.fromkeys(settled)), open=tuple(dict.fromkeys(still)))


def erase(transaction: Transaction, calls: Sequence[str]) -> Erased:
    """Let go of what settled operations and closed requests of calls were about."""
    if not calls:
        return Erased()
    listed: list[Json] = list(calls)
    named: Parameters = {"calls": jsontext.dump(listed).decode()}
    requests = transaction.execute("erase_requests", named)
    operations = transaction.execute("erase_operations", {**named, **_TELLING})
    return Erased(operations=operations, requests=requests)

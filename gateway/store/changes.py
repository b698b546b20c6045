"""Changes of state that are committed together with the events that tell of them."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from gateway.errors import StoreUnavailable
from gateway.store.engine import Transaction
from gateway.types.events import Event

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Made(Generic[_T]):
    """What a change came to, and which events tell of it.

    `keeps_events` is about those that were handed over with the change; `told` are those that only
    the change itself can know. Repeated, a change has to tell them under the same ids.
    """

    value: _T
    keeps_events: bool = True
    told: Sequence[Event] = ()


class Change(Generic[_T]):
    """One piece of work inside of somebody else's transaction.

    INVARIANT: `work` bears repeating. A transaction whose commit got no answer is run again, and
    then it has to find what it did.
    """

    def __init__(self, work: Callable[[Transaction], Made[_T]]) -> None:
        self._work: Final = work
        self._guard = threading.Lock()
        self._withdrawn = False
        self._made: Made[_T] | None = None
        self._refused: StoreUnavailable | None = None

    def apply(self, transaction: Transaction) -> tuple[bool, Sequence[Event]]:
        """Do the work; return whether the events that came with it are kept, and its own."""
        with self._guard:
            if self._withdrawn:
                return False, ()
        made = self._work(transaction)
        self._made = made
        return made.keeps_events, made.told

    def refuse(self, error: StoreUnavailable) -> None:
        """Note that the database will never take it."""
        self._refused = error

    def withdraw(self) -> None:
        """Take it back, if the writer hasn't begun with it; nobody can know whether it has."""
        with self._guard:
            self._withdrawn = True

    def value(self) -> _T:
        """Return what the committed change came to; raises StoreUnavailable when it was refused."""
        if self._refused is not None:
            raise self._refused
        return cast("Made[_T]", self._made).value


class Log(Protocol):
    """The event log, as far as changes of state need it."""

    async def carry(
        self, change: Change[_T], events: Sequence[Event] = (), *, owed: bool = False
    ) -> _T:
        """Commit a change with its events, durably. Raises StoreUnavailable."""
        ...

    def promise(self, change: Change[Any], events: Sequence[Event] = ()) -> None:
        """Make an owed change as soon as that is possible. Raises StoreUnavailable."""
        ...

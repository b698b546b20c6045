"""Seals the arguments of calls beside their events, and opens what was sealed.

A data key is made for each run, or for a call outside of runs, and is kept wrapped. A process uses
one for a quarter of an hour: the next call of the run gets another. Destroying all of a run's keys
takes its arguments out of every copy of the database that has none of the keys.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.errors import ConfigurationError, JsonError, StoreUnavailable
from gateway.events import sealing
from gateway.store.sealing_keys import (
    SealBroken,
    SealingKeys,
    opened_bytes,
    sealed_bytes,
)
from gateway.types.audit import SealedCopy
from gateway.types.events import Event
from gateway.types.json import JsonObject
from gateway.types.values import value

_KEY_BYTES: Final = 32
_MOST_RUNS: Final = 1_000  # whose data keys one process remembers
_LONGEST_S: Final = 900.0


@value
class _DataKey:
    """A data key in use; `ends_s` on the monotonic clock."""

    id: str
    wrapped: str
    cipher: AESGCM
    ends_s: float


class NoSealer:
    """For who sends nothing, and so has nothing to seal."""

    def sealed(self, event: Event, arguments: JsonObject) -> Event:
        """Raise StoreUnavailable."""
        del event, arguments
        raise StoreUnavailable("its arguments can't be sealed: there is no key here")


class Sealer:
    """Makes copies; `keys` are asked for at the first one, and again for as long as they fail.

    Safe to share between threads.
    """

    def __init__(self, keys: Callable[[], SealingKeys], clock: Clock) -> None:
        self._read = keys
        self._clock = clock
        self._keys: SealingKeys | None = None
        self.problem = ""  # why the last copy was not made
        self._of_runs = OrderedDict[tuple[str, str], _DataKey]()
        self._lock = threading.Lock()

    def sealed(self, event: Event, arguments: JsonObject) -> Event:
        """Return an event about a call with its arguments sealed beside it.

        Raises StoreUnavailable where there is no key, or the arguments can't be written.
        """
        try:
            content = jsontext.dump(arguments)
            key = self._data_key(event.tenant, event.run, event.call)
        except ConfigurationError as error:
            self.problem = str(error)
            raise StoreUnavailable(f"its arguments can't be sealed: {error}") from error
        except JsonError as error:
            raise StoreUnavailable(f"its arguments can't be sealed: {error}") from error
        self.problem = ""
        place = sealing.place(event.tenant, event.call, event.id)
        copy = SealedCopy(
            key=key.id, wrapped=key.wrapped, content=sealed_bytes(key.cipher, place, content)
        )
        return sealing.with_copy(event, copy, len(content))

    def forget(self, key: str) -> None:
        """Use a data key no more: it was destroyed."""
        with self._lock:
            for name, each in list(self._of_runs.items()):
                if each.id == key:
                    del self._of_runs[name]

    def _data_key(self, tenant: str, run: str, call: str) -> _DataKey:
        if not run:
            return self._made(tenant, "", call, 0.0)
        now = self._clock.monotonic()
        with self._lock:
            found = self._of_runs.get((tenant, run))
            if found is None or found.ends_s <= now:
                found = self._made(tenant, run, "", now + _LONGEST_S)
                self._of_runs[tenant, run] = found
                self._of_runs.move_to_end((tenant, run))  # so that the oldest come first
                self._clear(now)
            return found

    def _clear(self, now: float) -> None:
        """Drop keys whose time is over; under the lock."""
        while self._of_runs:
            oldest = next(iter(self._of_runs.values()))
            if oldest.ends_s > now and len(self._of_runs) <= _MOST_RUNS:
                return
            self._of_runs.popitem(last=False)

    def _made(self, tenant: str, run: str, call: str, ends_s: float) -> _DataKey:
        if self._keys is None:
            self._keys = self._read()
        key, id = os.urandom(_KEY_BYTES), ids.ulid()
        wrapped = self._keys.wrap(tenant, sealing.key_place(tenant, run, call, id), key)
        return _DataKey(id=id, wrapped=wrapped, cipher=AESGCM(key), ends_s=ends_s)


def opened(keys: SealingKeys, event: JsonObject, wrapped: str, content: str) -> JsonObject:
    """Return the arguments that are sealed beside an event as it is kept.

    What they are bound to is told by the event alone. Raises OtherKey and SealBroken.
    """
    tenant, run, call, id = (_text(event, name) for name in ("tenant", "run", "call", "id"))
    key, digest = sealing.told(event.get("body"))
    if not digest or sealing.digest(content) != digest:
        raise SealBroken("it is not the copy that the event tells of")
    place = sealing.key_place(tenant, run, "" if run else call, key)
    data_key = keys.unwrap(tenant, place, wrapped)
    try:
        cipher = AESGCM(data_key)
        found = opened_bytes(cipher, sealing.place(tenant, call, id), content)
        arguments = jsontext.parse_result(found)
    except (ValueError, JsonError) as error:
        raise SealBroken("it holds no arguments") from error
    if not isinstance(arguments, dict):
        raise SealBroken("it holds no arguments")
    return arguments


def _text(event: JsonObject, name: str) -> str:
    found = event.get(name)
    return found if isinstance(found, str) else ""

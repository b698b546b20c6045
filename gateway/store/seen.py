"""Which values callers were given before: only keyed digests, for as long as they may count."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from gateway.clock import Clock
from gateway.store import keys
from gateway.store.engine import Parameters, Transaction
from gateway.store.keys import TenantKeys
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.json import Json, JsonPointer

_MOST_VALUES: Final = 20_000  # of one result
_MOST_PLACES: Final = 100  # that one value is known from
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A value of a type that a tool returned; `record` names what it belongs to."""

    type: str
    record: str
    tool: str
    value: Json = None  # not kept; absent when read


class SeenValues:
    """Remembers values by tenant and scope: the run, or the caller where there is no run."""

    def __init__(self, worker: Worker, tenant_keys: TenantKeys, clock: Clock) -> None:
        self._worker = worker
        self._keys = tenant_keys
        self._clock = clock

    async def remember(
        self, tenant: str, scope: str, values: Sequence[Sighting], *, lasts: timedelta = _DAY
    ) -> None:
        """Remember what a caller was given; what can't identify anything is left out."""
        now = self._clock.now()
        key = self._keys.seen(tenant)
        rows: list[Parameters] = []
        for sighting in values[:_MOST_VALUES]:
            normal = _normal_form(sighting.value)
            if normal is not None:
                rows.append(
                    {
                        "tenant": tenant,
                        "scope": scope,
                        "vhash": keys.digest(key, normal),
                        "type": sighting.type,
                        "record": sighting.record,
                        "tool": sighting.tool,
                        "at": microseconds(now),
                        "expires": microseconds(now + lasts),
                    }
                )

        def write(transaction: Transaction) -> None:
            transaction.execute("forget_values", {"now": microseconds(now)})
            transaction.execute_many("remember_value", rows)

        if rows:
            await self._worker.write(write, durable=False)

    async def find(
        self, tenant: str, scope: str, values: Mapping[JsonPointer, Json]
    ) -> dict[JsonPointer, tuple[Sighting, ...]]:
        """Return for each value where it was seen, latest first; nothing for unknown ones."""
        key = self._keys.seen(tenant)
        now = microseconds(self._clock.now())
        normal_forms = {pointer: _normal_form(value) for pointer, value in values.items()}
        wanted = {
            pointer: keys.digest(key, normal)
            for pointer, normal in normal_forms.items()
            if normal is not None
        }
        if not wanted:
            return {}

        def read(transaction: Transaction) -> dict[JsonPointer, tuple[Sighting, ...]]:
            place: Parameters = {"tenant": tenant, "scope": scope, "now": now}
            found = {
                pointer: _sightings(transaction, {**place, "vhash": vhash, "limit": _MOST_PLACES})
                for pointer, vhash in wanted.items()
            }
            return {pointer: sightings for pointer, sightings in found.items() if sightings}

        return await self._worker.read(read)


def _sightings(transaction: Transaction, parameters: Parameters) -> tuple[Sighting, ...]:
    return tuple(
        Sighting(type=row.text("type"), record=row.text("record"), tool=row.text("tool"))
        for row in transaction.fetch("find_value", parameters)
    )


def _normal_form(value: Json) -> str | None:
    """Return the text that equal values share: texts in NFC, numbers by their value.

    A text never equals a number. Flags, gaps and containers identify nothing.
    """
    match value:
        case bool() | None | "":
            return None
        case str():
            return "s:" + unicodedata.normalize("NFC", value)
        case int():
            return f"n:{value}"
        case float() | Decimal():
            number = Decimal(str(value))
            if not number.is_finite():
                return None
            whole = number == number.to_integral_value()
            return f"n:{int(number)}" if whole else f"n:{number.normalize()}"
        case _:
            return None

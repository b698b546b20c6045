"""Which values callers were given before: only keyed digests, for as long as they may count."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import product
from string import ascii_lowercase
from typing import Final

from gateway.clock import Clock
from gateway.runs import forms
from gateway.store.engine import Parameters, Row, Transaction, Value
from gateway.store.keys import Keyed, TenantKeys
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import Form, SourceTrust

_MOST_VALUES: Final = 20_000  # of one result
_MOST_PLACES: Final = 1_000  # that one value is known from
_BYTES: Final = 16  # of a digest that are kept
_AT_ONCE: Final = 512  # digests that one statement asks for
_SIZES: Final = (1, 2, 4, 16, 64, 128, 256, _AT_ONCE)
_DAY: Final = timedelta(days=1)
_TAINT: Final = "weighbridge:taint"  # no type of a contract has a colon


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A value of a type that a tool returned; `record` names what it belongs to."""

    type: str
    record: str
    tool: str
    trust: SourceTrust = SourceTrust.TENANT
    form: Form = Form.ID  # not kept: it is in the digest
    value: Json = None  # not kept; absent when read
    is_exact: bool = True  # when read: the very value, and not a larger number


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A value that may have been seen; of `types`, or of any where none are named."""

    value: Json
    types: frozenset[str] = frozenset()
    at_least: bool = False  # larger numbers count as well


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
        digest = self._digest(tenant)
        rows: list[Parameters] = [
            {
                "tenant": tenant,
                "scope": scope,
                "vhash": digest(text),
                "type": sighting.type,
                "record": sighting.record,
                "tool": sighting.tool,
                "trust": sighting.trust.value,
                "at": microseconds(now),
                "expires": microseconds(now + lasts),
            }
            for sighting in values[:_MOST_VALUES]
            for text in _texts(sighting)
        ]

        def write(transaction: Transaction) -> None:
            transaction.execute("forget_values", {"now": microseconds(now)})
            transaction.execute_many("remember_value", rows)

        if rows:
            await self._worker.write(write, durable=False)

    async def find(
        self, tenant: str, scope: str, values: Mapping[JsonPointer, Sought]
    ) -> dict[JsonPointer, tuple[Sighting, ...]]:
        """Return for each value where it was seen, latest first; nothing for unknown ones."""
        digest = self._digest(tenant)
        place = self._place(tenant, scope)
        wanted = {pointer: _digests(digest, sought) for pointer, sought in values.items()}
        if not any(wanted.values()):
            return {}

        def read(transaction: Transaction) -> dict[JsonPointer, tuple[Sighting, ...]]:
            found = {
                pointer: _sightings(transaction, place, digests, values[pointer].types)
                for pointer, digests in wanted.items()
                if digests
            }
            return {pointer: sightings for pointer, sightings in found.items() if sightings}

        return await self._worker.read(read)

    async def first(
        self, tenant: str, scope: str, values: Sequence[Json], types: frozenset[str]
    ) -> Json:
        """Return the first of several ids that was seen as one of these types, or None."""
        digest = self._digest(tenant)
        place = self._place(tenant, scope)
        digests = {
            digest(normal): value
            for value in (values if types else ())
            if (normal := forms.normal(value, Form.ID)) is not None
        }

        def read(transaction: Transaction) -> set[str]:
            return {
                row.text("vhash")
                for some in _parts(tuple(digests))
                for row in _fetched(transaction, {**place, "limit": _AT_ONCE}, some, types)
            }

        found = await self._worker.read(read) if digests else set[str]()
        return next((value for made, value in digests.items() if made in found), None)

    async def taint(self, tenant: str, scope: str, *, lasts: timedelta = _DAY) -> None:
        """Note that a caller was given a result that others can write."""
        mark = Sighting(type=_TAINT, record="", tool="", value=_TAINT)
        await self.remember(tenant, scope, [mark], lasts=lasts)

    async def is_tainted(self, tenant: str, scope: str) -> bool:
        """Say whether a caller was given a result that others can write."""
        sought = Sought(value=_TAINT, types=frozenset({_TAINT}))
        return bool(await self.find(tenant, scope, {"": sought}))

    def _digest(self, tenant: str) -> Callable[[str], str]:
        keyed = _keyed(self._keys.seen(tenant))
        return lambda text: keyed.digest(text.encode("utf-8", "replace"))[:_BYTES].hex()

    def _place(self, tenant: str, scope: str) -> Parameters:
        return {"tenant": tenant, "scope": scope, "now": microseconds(self._clock.now())}


@lru_cache(maxsize=1024)
def _keyed(key: bytes) -> Keyed:
    return Keyed(key)


def _texts(sighting: Sighting) -> Iterator[str]:
    """Yield what a value is found by: its normal form, and of a number its rungs."""
    normal = forms.normal(sighting.value, sighting.form)
    if normal is None:
        return
    yield normal
    if sighting.form is Form.NUMBER:
        yield from forms.rungs(sighting.value)


def _digests(digest: Callable[[str], str], sought: Sought) -> dict[str, bool]:
    """Return the digests that a value may be kept by, and whether each means the very value."""
    normals = (forms.normal(sought.value, form) for form in Form)
    found = {digest(normal): True for normal in normals if normal is not None}
    if sought.at_least:
        found |= {digest(text): False for text in forms.above(sought.value)}
    return found


def _sightings(
    transaction: Transaction, place: Parameters, digests: Mapping[str, bool], types: frozenset[str]
) -> tuple[Sighting, ...]:
    rows = _fetched(transaction, {**place, "limit": _MOST_PLACES}, tuple(digests), types)
    return tuple(
        Sighting(
            type=row.text("type"),
            record=row.text("record"),
            tool=row.text("tool"),
            trust=SourceTrust(row.text("trust")),
            is_exact=digests[row.text("vhash")],
        )
        for row in rows
    )


def _fetched(
    transaction: Transaction, place: Parameters, digests: Sequence[str], types: frozenset[str]
) -> list[Row]:
    hashes = _named("h", _filled(digests))
    of_types = _named("t", sorted(types))
    where = f"vhash IN ({_places(hashes)})"
    if of_types:
        where += f" AND type IN ({_places(of_types)})"
    return transaction.fetch("find_values", {**place, **hashes, **of_types}, where=where)


def _parts(digests: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(digests), _AT_ONCE):
        yield digests[start : start + _AT_ONCE]


def _filled(digests: Sequence[str]) -> Sequence[str]:
    """Say the last digest again until there is one of few numbers: a statement is kept for each."""
    size = next((size for size in _SIZES if len(digests) <= size), len(digests))
    return [*digests, *[digests[-1]] * (size - len(digests))]


def _named(prefix: str, values: Sequence[str]) -> dict[str, Value]:
    """Give each value the name of a parameter; names have letters only."""
    return {
        f"{prefix}_{first}{second}": value
        for (first, second), value in zip(product(ascii_lowercase, repeat=2), values, strict=False)
    }


def _places(parameters: Mapping[str, Value]) -> str:
    return ", ".join(f":{name}" for name in parameters)

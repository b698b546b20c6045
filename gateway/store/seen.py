"""Which values callers were given before: only keyed digests, for as long as they may count."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final

from gateway import jsontext
from gateway.clock import Clock
from gateway.runs import forms, nearby
from gateway.store import keys
from gateway.store.engine import Parameters, Transaction
from gateway.store.keys import TenantKeys
from gateway.store.prompt import PromptReads
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import Form, SourceTrust
from gateway.types.values import value

_MOST_VALUES: Final = 20_000  # of one result
_MOST_PLACES: Final = 1_000  # that one value is known from
_MOST_NEAR: Final = 5  # values of one call for which near ones are looked for
_FEW: Final = 20  # values that are looked for while the event loop waits
_OF_TYPES: Final = "AND type IN (SELECT value FROM json_each(:types))"
_DAY: Final = timedelta(days=1)
_TAINT: Final = "weighbridge:taint"  # no type of a contract has a colon


@value
class Sighting:
    """A value of a type that a tool returned; `record` names what it belongs to."""

    type: str
    record: str
    tool: str
    trust: SourceTrust = SourceTrust.TENANT
    form: Form = Form.ID  # not kept: it is in the digest
    value: Json = None  # not kept; absent when read
    is_exact: bool = True  # when read: the very value, and not a larger number


@value
class Sought:
    """A value that may have been seen; of `types`, or of any where none are named."""

    value: Json
    types: frozenset[str] = frozenset()
    at_least: bool = False  # larger numbers count as well


@value
class Known:
    """What is known of several values."""

    sightings: Mapping[JsonPointer, tuple[Sighting, ...]]
    near: Mapping[JsonPointer, Json]
    """Ids that were seen, one slip away from values that were not."""


class SeenValues:
    """Remembers values by tenant and scope: the run, or the caller where there is no run."""

    def __init__(
        self, worker: Worker, prompt: PromptReads, tenant_keys: TenantKeys, clock: Clock
    ) -> None:
        self._worker = worker
        self._prompt = prompt
        self._keys = tenant_keys
        self._clock = clock

    async def remember(
        self, tenant: str, scope: str, values: Sequence[Sighting], *, lasts: timedelta = _DAY
    ) -> None:
        """Remember what a caller was given; what can't identify anything is left out."""
        now = self._clock.now()
        key = self._keys.seen(tenant)
        rows: list[Parameters] = [
            {
                "tenant": tenant,
                "scope": scope,
                "vhash": mark,
                "type": sighting.type,
                "record": sighting.record,
                "tool": sighting.tool,
                "trust": sighting.trust.value,
                "at": microseconds(now),
                "expires": microseconds(now + lasts),
            }
            for sighting in values[:_MOST_VALUES]
            for mark in keys.marks(key, _texts(sighting))
        ]

        def write(transaction: Transaction) -> None:
            transaction.execute("forget_values", {"now": microseconds(now)})
            transaction.execute_many("remember_value", rows)

        if rows:
            await self._worker.write(write, durable=False)

    async def find(
        self, tenant: str, scope: str, values: Mapping[JsonPointer, Sought]
    ) -> Mapping[JsonPointer, tuple[Sighting, ...]]:
        """Return for each value where it was seen, latest first; nothing for unknown ones."""
        return (await self.trace(tenant, scope, values, ())).sightings

    async def trace(
        self,
        tenant: str,
        scope: str,
        values: Mapping[JsonPointer, Sought],
        doubted: Collection[JsonPointer],
    ) -> Known:
        """Do as `find` does, and look for ids near those doubted values that were never seen.

        Both in one read: the way to the thread and back costs as much as what is done there.
        """
        key, place = self._keys.seen(tenant), self._place(tenant, scope)
        wanted = {pointer: _digests(key, sought) for pointer, sought in values.items()}
        if not any(wanted.values()):
            return Known(sightings={}, near={})

        def read(transaction: Transaction) -> Known:
            found = {
                pointer: _sightings(transaction, place, digests, values[pointer].types)
                for pointer, digests in wanted.items()
                if digests
            }
            unseen = [each for each in values if each in doubted and not found.get(each)]
            near = {
                pointer: _nearest(transaction, place, key, values[pointer])
                for pointer in unseen[:_MOST_NEAR]
            }
            return Known(
                sightings={pointer: each for pointer, each in found.items() if each},
                near={pointer: each for pointer, each in near.items() if each is not None},
            )

        return await self._prompt.read(read, is_small=len(values) <= _FEW)

    async def taint(self, tenant: str, scope: str, *, lasts: timedelta = _DAY) -> None:
        """Note that a caller was given a result that others can write."""
        mark = Sighting(type=_TAINT, record="", tool="", value=_TAINT)
        await self.remember(tenant, scope, [mark], lasts=lasts)

    async def is_tainted(self, tenant: str, scope: str) -> bool:
        """Say whether a caller was given a result that others can write."""
        sought = Sought(value=_TAINT, types=frozenset({_TAINT}))
        return bool(await self.find(tenant, scope, {"": sought}))

    def _place(self, tenant: str, scope: str) -> Parameters:
        return {"tenant": tenant, "scope": scope, "now": microseconds(self._clock.now())}


def _texts(sighting: Sighting) -> Iterator[str]:
    """Yield what a value is found by: its normal form, and of a number its rungs."""
    normal = forms.normal(sighting.value, sighting.form)
    if normal is None:
        return
    yield normal
    if sighting.form is Form.NUMBER:
        yield from forms.rungs(sighting.value)


def _digests(key: bytes, sought: Sought) -> dict[str, bool]:
    """Return the digests that a value may be kept by, and whether each means the very value."""
    normals = (forms.normal(sought.value, form) for form in Form)
    found = dict.fromkeys(keys.marks(key, (each for each in normals if each is not None)), True)
    if sought.at_least:
        found |= dict.fromkeys(keys.marks(key, forms.above(sought.value)), False)
    return found


def _sightings(
    transaction: Transaction, place: Parameters, digests: Mapping[str, bool], types: frozenset[str]
) -> tuple[Sighting, ...]:
    wanted = {
        **place,
        "limit": _MOST_PLACES,
        "few_hashes": _listed(digests),
        "types": _names(types),
    }
    return tuple(
        Sighting(
            type=row.text("type"),
            record=row.text("record"),
            tool=row.text("tool"),
            trust=SourceTrust(row.text("trust")),
            is_exact=digests[row.text("vhash")],
        )
        for row in transaction.fetch("find_values", wanted, where=_OF_TYPES if types else "")
    )


def _nearest(transaction: Transaction, place: Parameters, key: bytes, sought: Sought) -> Json:
    """Return the likeliest of the ids near a value that was seen as one of its types, or None."""
    near = nearby.neighbours(sought.value) if sought.types else ()
    if not near:
        return None
    digests = dict(zip(keys.marks(key, near), near, strict=True))
    wanted = {**place, "hashes": _listed(digests), "types": _names(sought.types)}
    found = {row.text("vhash") for row in transaction.fetch("find_hashes", wanted)}
    likeliest = next((each for digest, each in digests.items() if digest in found), None)
    return None if likeliest is None else nearby.named(likeliest)


def _listed(digests: Iterable[str]) -> str:
    """Write digests as one parameter: a statement with a parameter for each is slow to fill in."""
    return f"""["{'","'.join(digests)}"]"""  # they are hexadecimal


@lru_cache(maxsize=1024)  # contracts name them
def _names(types: frozenset[str]) -> str:
    return jsontext.dump([*types]).decode()

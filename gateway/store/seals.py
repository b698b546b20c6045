"""Holds the rows of sealed copies against the log: what an event seals, and what says so beside it.

The rows are in no tree. So their columns are believed only where the event of each says the same,
and a row counts as destroyed only where nothing is in it and the log tells of its shredding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gateway import jsontext
from gateway.events import sealing
from gateway.events.faults import Fault, FaultKind
from gateway.store import derived, retention
from gateway.store.engine import Parameters, Row, Transaction, Value
from gateway.types.json import Json, JsonObject

_PAGE: Final = 5_000  # copies of one reading
_WHERE: Final = {
    "run_id": "WHERE events.run_id = :run_id AND events.run_id <> ''",
    "call_id": "WHERE events.call_id = :call_id AND events.call_id <> ''",
    "tenant": "WHERE events.tenant = :tenant",
}


def differing(
    transaction: Transaction, *, named: str, wanted: Parameters, after: str
) -> tuple[list[str], str | None]:
    """Return events of a scope whose copies say otherwise, of one page, and where the next begins.

    `named` is the column that the scope is about; the second is None at the end.
    """
    page: dict[str, Value] = {**wanted, "after": after, "limit": _PAGE}
    rows = transaction.fetch("copies_with_events", page, where=_WHERE[named])
    found = [row.text("event_id") for row in rows if row.integer("differs")]
    return found, rows[-1].text("event_id") if len(rows) == _PAGE else None


def mend(transaction: Transaction, *, found: Sequence[str]) -> None:
    """Have the copies beside events, and all data keys, say what is true of them."""
    if transaction.fetch("keys_not_shredded", {}):
        transaction.execute("mend_keys", {})
    if found:
        transaction.execute("mend_copies", {"events": _listed(found)})


def faults(
    transaction: Transaction, *, after: int, last: int, telling: Mapping[int, JsonObject]
) -> list[Fault]:
    """Return what is wrong beside the events of a page; `telling` are those that tell of copies."""
    between: Parameters = {"after": after, "last": last}
    beside = {row.integer("seq"): row for row in transaction.fetch("copies_between", between)}
    if not telling and not beside:
        return []
    archive = retention.sealed(transaction)
    left = archive.size if archive is not None else 0  # with their copies, and maybe just now
    absent = {
        seq: sealing.told(event.get("body"))[0]
        for seq, event in telling.items()
        if seq not in beside and seq > left and sealing.told(event.get("body"))[1]
    }
    keys = _keys(transaction, absent.values()) if absent else {}
    shreds = {row.text(name) for row in beside.values() for name in ("shred", "key_shred")}
    known = _shreddings(transaction, shreds | {row.text("shred") for row in keys.values()})
    found: list[Fault] = []
    for seq, row in beside.items():
        what = ", ".join(_wrong(row, telling.get(seq, {}), known))
        found += [_fault(seq, what)] if what else []
    for seq, key in absent.items():
        row = keys.get(key)
        if row is None and left:  # the key may have gone with the copies that an archive took
            continue
        if row is None or not row.integer("shredded_at") or row.text("shred") not in known:
            found.append(_fault(seq, "the sealed copy is gone, and no event says that it was"))
    return found


def strays(transaction: Transaction) -> list[Fault]:
    """Return the copies that stand beside no event of the log."""
    return [
        _fault(0, f"a sealed copy is kept for `{row.text('event_id')[:64]}`, which is no event")
        for row in transaction.fetch("copies_without_events", {})
    ]


def _wrong(row: Row, event: JsonObject, known: Mapping[str, JsonObject]) -> Iterator[str]:
    """Say what a row of a copy says that its event doesn't."""
    key, digest = sealing.told(event.get("body"))
    if not digest:
        yield "a sealed copy is kept of which the event says nothing"
        return
    told = {
        "key_id": key,
        "tenant": _text(event.get("tenant")),
        "run_id": _text(event.get("run")),
        "call_id": _text(event.get("call")),
    }
    other = [name for name, said in told.items() if not derived.same(row.text(name), said)]
    other += ["at"] if row.integer("at") != row.integer("event_at") else []
    for name in other:
        yield f"the sealed copy has another `{name}` than the event"
    content, since = row.text("content"), row.integer("shredded_at")
    if since and content:
        yield "the sealed copy says that it was shredded, and is there"
    elif since and row.text("shred") not in known:
        yield "the sealed copy says that it was shredded, and no event does"
    elif not since and sealing.digest(content) != digest:
        yield "the sealed copy is another one"
    if row.integer("key_shredded_at") and row.text("wrapped"):
        yield "its data key says that it was shredded, and is there"
    elif not since and not row.text("wrapped"):
        yield "its data key is gone"


def _keys(transaction: Transaction, keys: Iterable[str]) -> dict[str, Row]:
    rows = transaction.fetch("keys_of_copies", {"keys": _listed(sorted(set(keys)))})
    return {row.text("key_id"): row for row in rows}


def _shreddings(transaction: Transaction, wanted: set[str]) -> dict[str, JsonObject]:
    """Return the events about a shredding among some ids."""
    rows = transaction.fetch("shreddings", {"events": _listed(sorted(wanted - {""}))})
    events = [derived.event_of(row.text("body").encode()) or {} for row in rows]
    return {_text(event.get("id")): event for event in events if _tells(event)}


def _tells(event: JsonObject) -> bool:
    body = event.get("body")
    return isinstance(body, dict) and body.get("action") == "log_shredded"


def _fault(seq: int, what: str) -> Fault:
    return Fault(kind=FaultKind.SEALED, first=seq, last=seq, what=what)


def _listed(texts: Sequence[str]) -> str:
    listed: list[Json] = list(texts)
    return jsontext.dump(listed).decode()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""

"""Whether the indexes that queries go by lead to every event by its own key: else queries lie.

Asked of SQLite, where whoever can write to the file can make an index under another's description.
"""

from typing import Final

from gateway.events.faults import Fault, FaultKind
from gateway.store.engine import Transaction

_MANY: Final = {  # how many events each has to hold, by the columns of `index_counts`
    "events_by_call": "events",
    "events_by_trace": "events",
    "events_by_time": "events",
    "events_of_run": "of_runs",
    "events_refused": "refused",
    "events_of_people": "of_people",
}
_FINE: Final = "ok"
_BY_KEYS: Final = {  # those of the table's own keys
    "sqlite_autoindex_events_1": "by_number",
    "sqlite_autoindex_events_2": "by_id",
    "events_pkey": "",
    "events_id_key": "",
}


def faults(transaction: Transaction, *, are_doubted: bool = False) -> list[Fault]:
    """Return which indexes of the events are missing, unknown, or hold too few or too many.

    With `are_doubted`, each event is looked up by each of them as well: one that holds as many may
    hold them under other keys.
    """
    names = {row.text("name") for row in transaction.fetch("index_names", {})}
    found = [_fault(f"the index `{name}` is missing") for name in sorted({*_MANY} - names)]
    found += [
        _fault(f"`{name}` is no index of the store, and queries may go by it")
        for name in sorted(names - {*_MANY, *_BY_KEYS})
    ]
    is_sqlite = "sqlite_autoindex_events_1" in names
    if found or not is_sqlite:
        return found
    counts = transaction.fetch("index_counts", {})
    if not counts:
        return [_fault("the indexes of the events aren't as they were made")]
    (row,) = counts
    wanted = {name: row.integer(column) for name, column in _MANY.items()}
    held = {name: row.integer(name) for name in _MANY}
    for name, column in _BY_KEYS.items():
        if column:
            wanted[name], held[name] = row.integer("events"), row.integer(column)
    found = [
        _fault(f"the index `{name}` holds {held[name]} events, and has to hold {many}")
        for name, many in wanted.items()
        if held[name] != many
    ]
    if found or not are_doubted:
        return found
    lines = [row.text("integrity_check") for row in transaction.fetch("index_integrity", {})]
    return [_fault(f"SQLite says: {line}") for line in lines if line != _FINE]


def _fault(what: str) -> Fault:
    return Fault(kind=FaultKind.COLUMNS, first=0, last=0, what=what)

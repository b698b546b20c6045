"""A replay as a page orders it: what it takes, and the same in a process of its own."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway import __version__, ids
from gateway.actions import revisions
from gateway.actions.disclosure import Reader, disclosed
from gateway.admin import redefinitions, report_text
from gateway.admin.shelves import compiled
from gateway.app import sealing
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.config.terms import terms
from gateway.contracts.published import Definitions
from gateway.errors import ConfigurationError, FileError
from gateway.events.envelope import Origin
from gateway.replay.fitting import Fitting
from gateway.replay.history import Span
from gateway.replay.redefined import Redefined, redefined
from gateway.replay.replaying import Replay
from gateway.replay.report import Report
from gateway.replay.reporting import reported
from gateway.replay.types import Counters
from gateway.replay.watching import Watched
from gateway.revision import Revision, Unreviewed
from gateway.store import sealing_keys
from gateway.store.sealing_keys import SealingKeys
from gateway.store.store import Store
from gateway.store.unsealing import Unsealing
from gateway.types.json import Json, JsonObject
from gateway.types.values import replaced

PASTED: Final = "the definitions"  # in place of a file's name
_MEND: Final = 'write an object with one list for each server: `{"SERVER": {"tools": [...]}}`'
_EVERY: Final = 200  # calls, after which it is said how far it is

Progress = Callable[[float, int], None]


def order(
    candidate: JsonObject,
    span: Span,
    counters: Counters,
    *,
    settings: Settings,
    otherwise: Unreviewed,
    by: str,
    schemas: str = "",
) -> JsonObject:
    """Return what a process is told; `by` is for whom, `schemas` other definitions of tools."""
    key = sealing.key_path(settings)
    return {
        "work": "replay",
        "store": settings.store.url,
        "seal": str(key) if key is not None else "",
        "by": by,
        "candidate": candidate,
        "otherwise": otherwise.value,
        "counters": counters.value,
        "schemas": schemas,
        "roles": list[Json](terms(settings).roles),
        "servers": list[Json](settings.servers),
        "tenant": span.tenant,
        "run": span.run,
        "since": span.since.isoformat() if span.since is not None else None,
        "until": span.until.isoformat() if span.until is not None else None,
    }


def read(result: bytes) -> Report | None:
    """Return the report that a process has written; None where it ran other code than this one."""
    try:
        return report_text.read(result)
    except ValueError:
        return None


async def replayed(order: JsonObject, progress: Progress) -> bytes:
    """Replay as ordered, and return the report; raises FileError and StoreUnavailable."""
    candidate = compiled(order["candidate"])
    span = Span(
        since=_time(order["since"]),
        until=_time(order["until"]),
        tenant=str(order["tenant"]),
        run=str(order["run"]),
    )
    other = other_definitions(str(order["schemas"]), candidate, _texts(order["servers"]))
    fitting = Fitting(tools=other.tools if other is not None else {})
    origin = Origin(instance=ids.new("replay"), version=__version__)
    store = Store.open(str(order["store"]), origin=origin, create=False)
    try:
        watched = await Watched.of(store.events, span)
        replay = Replay(
            candidate=other.revision if other is not None else candidate,
            offered=other.offered if other is not None else {},
            watches=fitting,
            past=past(store, Unreviewed(str(order["otherwise"]))),
            definitions=await store.definitions.all(),
            counters=Counters(str(order["counters"])),
        )

        def told(calls: int) -> None:
            if calls % _EVERY == 1:
                progress(watched.share, calls)

        opening = Unsealing(store.sealed, _keys(str(order["seal"])))
        report = await reported(
            watched, span, replay, counters=replay.counters, told=told, unsealing=opening
        )
        report = _with(replaced(report, tools=fitting.report()), candidate, other, order)
        await noted(store, opening, "page /replay", str(order["by"]), span.tenant)
        progress(1.0, report.calls)
        return report_text.written(report)
    finally:
        store.close()


def other_definitions(
    schemas: str, candidate: Revision, servers: Sequence[str]
) -> Redefined | None:
    """Return what a candidate becomes over definitions that were pasted; raises FileError."""
    return redefined(candidate, placed(schemas, candidate, servers)) if schemas else None


def placed(schemas: str, candidate: Revision, servers: Sequence[str]) -> Mapping[str, Definitions]:
    """Return definitions that were pasted, by server; raises FileError."""
    data = schemas.encode("utf-8", "replace")
    return redefinitions.placed(data, file=PASTED, servers=servers, revision=candidate, mend=_MEND)


def _with(
    report: Report, candidate: Revision, other: Redefined | None, order: JsonObject
) -> Report:
    """Return a report with what other definitions break in the policy."""
    if other is None:
        return report
    named = order["candidate"]
    prefix = str(named["prefix"]) if isinstance(named, dict) else ""
    return redefinitions.told(
        report,
        candidate,
        other,
        prefix=prefix,
        roles=_texts(order["roles"]),
        servers=_texts(order["servers"]),
    )


def _texts(value: Json) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def unsealing(store: Store, settings: Settings) -> Unsealing:
    """Return what opens sealed copies; without a key it only says what became of them."""
    key = sealing.key_path(settings)
    return Unsealing(store.sealed, _keys(str(key) if key is not None else ""))


async def noted(store: Store, opened: Unsealing, how: str, by: str, tenant: str) -> None:
    """Have the log say that sealed copies were opened, if any were; raises StoreUnavailable."""
    if opened.opened:
        asked: JsonObject = {"unsealed": opened.opened}
        reader = Reader(by=by)
        await disclosed(store.events, SystemClock(), reader, how=how, asked=asked, tenant=tenant)


def _keys(path: str) -> SealingKeys | None:
    try:
        return sealing_keys.read(Path(path)) if path else None
    except ConfigurationError:
        return None


def past(store: Store, otherwise: Unreviewed) -> Callable[[str], Awaitable[Revision | None]]:
    """Return what finds a revision as it was; None for one that is not kept, or not readable."""

    async def find(id: str) -> Revision | None:
        kept = await store.revisions.get(id)
        if kept is None:
            return None
        texts = revisions.folder_of(kept.texts)
        unreviewed = revisions.unreviewed_of(id, texts) or otherwise
        try:
            return revisions.compiled(texts, unreviewed=unreviewed, at=kept.at)
        except FileError:  # written for an older gateway, which understood it
            return None

    return find


def _time(value: Json) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None

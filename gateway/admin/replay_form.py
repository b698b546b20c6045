"""What somebody wants replayed: as he types it, and as an address that says the same again."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from gateway.admin.auditors import Sight
from gateway.admin.events_search import moment
from gateway.replay.history import Span
from gateway.replay.types import Counters

FIELDS: Final = ("revision", "since", "until", "tenant", "run", "counters", "definitions")
FOLDER: Final = "folder"  # in place of an id: the files as they are now
MOST_SCHEMAS: Final = 128 << 10  # characters of definitions that are pasted
_LONGEST: Final = 300
_RUN: Final = re.compile(r"[A-Za-z0-9_:.\-]{1,128}", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
DEFAULTS: Final[Mapping[str, str]] = {
    "revision": FOLDER,
    "since": "30d",
    "until": "",
    "tenant": "",
    "run": "",
    "counters": Counters.RECORDED.value,
    "definitions": "",  # the digest of what was pasted, in an address
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One replay, exactly: the same wish gives the same report as long as the log only grows."""

    revision: str  # its id; or `folder`, until the files have been read
    since: datetime | None
    until: datetime
    tenant: str  # empty: all
    counters: Counters
    run: str = ""
    definitions: str = ""
    """The digest of other definitions of tools, which an address can't hold themselves."""

    @property
    def span(self) -> Span:
        """The calls that it is about."""
        return Span(since=self.since, until=self.until, tenant=self.tenant, run=self.run)

    @property
    def query(self) -> str:
        """The query of its permanent address."""
        few = {"run": self.run, "definitions": self.definitions}
        return urlencode(
            {
                "revision": self.revision.removeprefix("sha256:"),
                "since": _written(self.since),
                "until": _written(self.until),
                "tenant": self.tenant,
                "counters": self.counters.value,
                **{name: value for name, value in few.items() if value},
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What was typed, and what it comes to: a wish, or faults by field."""

    given: Mapping[str, str]
    faults: Mapping[str, str]
    wish: Wish | None
    schemas: str = ""  # other definitions of tools, as they were pasted


def read(fields: Mapping[str, str], sight: Sight, now: datetime) -> Form:
    """Read a form, or the query of a permanent address."""
    given = {name: fields.get(name, DEFAULTS[name]).strip()[:_LONGEST] for name in FIELDS}
    schemas = fields.get("schemas", "").strip()
    if schemas:
        given["definitions"] = hashlib.sha256(schemas.encode("utf-8", "replace")).hexdigest()
    faults = _wrong(given, schemas)
    times: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            times[name] = moment(given[name], now)
        except ValueError as error:
            faults[name] = str(error)
    since = times.get("since")
    # Addresses have whole seconds; the one that has begun belongs to a period until now.
    until = (times.get("until") or now + timedelta(seconds=1)).replace(microsecond=0)
    if since is not None and since.replace(microsecond=0) >= until:
        faults.setdefault("until", "is not later than the time it begins at")
    tenants = sight.looks_at(given["tenant"])
    tenant = tenants[0] if tenants is not None and len(tenants) == 1 else ""
    if tenants is None:
        faults["tenant"] = "is none that you see"
    elif not tenant and not sight.is_all:
        tenant = sight.own
    if faults:
        return Form(given=given, faults=faults, wish=None, schemas=schemas)
    wish = Wish(
        revision=given["revision"] or FOLDER,
        since=since.replace(microsecond=0) if since is not None else None,
        until=until,
        tenant=tenant,
        counters=Counters(given["counters"]),
        run=given["run"],
        definitions=given["definitions"],
    )
    return Form(given=given, faults=faults, wish=wish, schemas=schemas)


def _wrong(given: Mapping[str, str], schemas: str) -> dict[str, str]:
    """Return what is wrong with each field by itself."""
    faults: dict[str, str] = {}
    if len(schemas) > MOST_SCHEMAS:
        faults["schemas"] = (
            f"are more than {MOST_SCHEMAS:,} characters; "
            "`weighbridge replay --schemas FILE` takes more"
        )
    elif given["definitions"] and not _DIGEST.fullmatch(given["definitions"]):
        faults["schemas"] = "are known by no such digest; paste them again"
    if given["run"] and not _RUN.fullmatch(given["run"]):
        faults["run"] = "is no id of a run"
    if given["counters"] not in [*Counters]:
        faults["counters"] = f"is none of {', '.join(Counters)}"
    return faults


def _written(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S") if at is not None else ""

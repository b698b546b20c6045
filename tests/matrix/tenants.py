"""Two tenants over every transport at once, all they make in words of their own: nothing crosses.

    python -m tests.matrix.tenants [--callers 200] [--engine sqlite|postgres] [--leaks]

So many callers of each tenant on each transport, all at the same time and on one store: stateless
Streamable HTTP (2026-07-28), each with a key and a user of its own; Streamable HTTP of the
handshake era (2025-11-25), each with a session too; and stdio, where a process is one caller by
definition: half of them are calls in flight over the tenant's process of the one era, half over
that of the other. Beside them the tenant's host with its key for `/v1`, and a lead who is logged in
at the pages. Each calls tools, reads and follows resources, works in a run, has people asked,
begins tasks and is asked itself; then each tries whatever somebody of the other tenant was given:
runs, requests, operations, tasks, sessions, states of questions.

All bytes that arrive are searched for canaries and handles of the other tenant's, and each guess
has to be answered as one at an id that there is not. At last the log, runs, requests and operations
are read in the terminal, tenant by tenant. With `--leaks` a server behind the gateway answers one
caller with the words of another, which has to be found.
"""

import argparse
import asyncio
import json
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from gateway.types.guarantees import Idempotency, Repeat
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.gateway import Gateway, running
from tests.helpers.postgres import own_postgres
from tests.journeys import house
from tests.matrix.fixtures import CAPABILITIES, TOOLS, Json
from tests.matrix.houses import all_served
from tests.matrix.tenant_callers import Caller, Owned, kinds_of
from tests.matrix.tenant_people import (
    OF_HOST,
    OF_LEAD,
    Here,
    Host,
    Lead,
    host_key,
    lead,
    terminal,
)
from tests.matrix.tenant_report import TENANTS, Report, other
from tests.matrix.wires import Wire, over_http, over_pipes

TRANSPORTS = ("modern", "legacy", "stdio")
ERAS = ("modern", "legacy")
# A gateway keeps 1,000. None is used twice: on a busy machine one that was idle is closed in the
# moment in which it would be used again.
_CONNECTIONS = 900
_LATEST_S = 900.0  # nobody is late on a busy machine, only slow
_SHAKING = 50  # handshakes at once
_WATCH = 8  # every so manieth has a stream of its own: there is a limit to these
_LEAD_TRIES = 4  # every so manieth has its lead try what somebody was given
_LISTS = ("approvals list --state all", "runs list", "ops list", "events query")
POLICY = """rules:
  - id: asked
    decision: require_approval
    reason: a lead looks at it
    match: {tools: [legacy-http.echo]}
    approval: {approvers: {roles: [lead]}, expires: 4h}
  - {id: everything, decision: allow, match: {methods: ['*']}}
"""


def _contracts() -> str:
    found = {tool["name"]: tool for tool in TOOLS}
    reads = ("echo", "begin_task", "ask_form")
    once_more = Idempotency(repeat=Repeat.ALLOW, is_declared=True)
    return house.contracts(
        *(house.contract(found[name], "modern-http") for name in reads),
        house.contract(
            found["progress"],
            "modern-http",
            effect=Effect.WRITE,
            risk=Risk.LOW,
            idempotency=once_more,
        ),
        house.contract(found["echo"], "legacy-http", effect=Effect.WRITE, risk=Risk.HIGH),
    )


@dataclass(kw_only=True)
class Place:
    """What all callers are before."""

    gateway: Gateway
    report: Report
    folder: Path
    hosts: dict[str, Host]
    leads: dict[str, Lead]
    pipes: dict[tuple[str, str], Wire]
    session: aiohttp.ClientSession
    shaking: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_SHAKING))


@dataclass(kw_only=True)
class Flock:
    """All callers of one run, of both tenants in the same order."""

    place: Place
    callers: int
    keys: dict[tuple[str, str, int], str]
    owned: dict[str, list[Owned]]
    barrier: asyncio.Barrier
    watchers: int
    uris: list[str] = field(default_factory=list[str])
    all_watch: asyncio.Event = field(default_factory=asyncio.Event)

    async def one(self, tenant: str, transport: str, number: int) -> None:
        """Be one caller from its beginning to its end."""
        async with AsyncExitStack() as stack:
            caller = await self._caller(stack, tenant, transport, number)
            place = TRANSPORTS.index(transport) * self.callers + number
            self.owned[tenant][place] = caller.owned
            await caller.make()
            await self.barrier.wait()
            await asyncio.gather(self._guess(caller, place, transport), caller.decided())
            await self.barrier.wait()
            if self.watches(transport, number):
                uri = f"mem://legacy-http/rows/{caller.word}"
                await caller.watched(uri, self._until_all_watch)
            await caller.finish()

    def watches(self, transport: str, number: int) -> bool:
        """Whether a caller has a stream for news: one for each process where that is its only."""
        return number < len(ERAS) if transport == "stdio" else number % _WATCH == 0

    async def _caller(
        self, stack: AsyncExitStack, tenant: str, transport: str, number: int
    ) -> Caller:
        place = self.place
        name = f"{transport}{number}"
        era = ERAS[number % 2] if transport == "stdio" else transport
        if transport == "stdio":
            wire, user = place.pipes[tenant, era], f"canary-{tenant}-{era}"
        else:
            user = f"canary-{tenant}-{name}"
            async with place.shaking:
                wire = await stack.enter_async_context(
                    over_http(
                        place.gateway.url,
                        modern=era == "modern",
                        capabilities={} if era == "modern" else CAPABILITIES,
                        headers={"Authorization": f"Bearer {self.keys[tenant, transport, number]}"},
                        session=place.session,
                        within_s=_LATEST_S,
                    )
                )
        wire.tap = lambda data: place.report.hears(tenant, data)
        return Caller(
            tenant=tenant,
            word=f"canary-{tenant}-{name}x{secrets.token_hex(6)}",
            user=user,
            key=f"key-{name}",
            wire=wire,
            host=place.hosts[tenant],
            lead=place.leads[tenant],
            report=place.report,
            is_http=transport != "stdio",
        )

    async def _guess(self, caller: Caller, place: int, transport: str) -> None:
        """Try what two of the other tenant's were given: of the same transport, and of another."""
        report, theirs = self.place.report, self.owned[other(caller.tenant)]
        own = TRANSPORTS.index(transport) * self.callers
        near = theirs[own + (place - own + 1) % self.callers]
        far = theirs[(place + self.callers) % len(theirs)]
        for each in (near, far):
            report.expected.update(
                kinds_of(each, modern=caller.wire.is_modern, http=caller.is_http)
            )
            await caller.guess(each)
        report.expected.update(f"/v1 {kind}" for kind in OF_HOST)
        await caller.host.guess(near.run)
        if place % _LEAD_TRIES == 0:
            report.expected.update(f"page {kind}" for kind in OF_LEAD)
            await caller.lead.guess(far.approval, far.run)

    async def _until_all_watch(self, uri: str) -> None:
        self.uris.append(uri)
        if len(self.uris) == self.watchers:
            change = {"extra": 0, "updated": self.uris}
            (self.place.folder / "legacy-http.change").write_text(json.dumps(change))
            self.all_watch.set()
        await self.all_watch.wait()


async def run(callers: int, folder: Path, *, store: str = "", leaks: bool = False) -> Report:
    """Run gateways and servers, and all callers before them; `store` is a URL."""
    report = Report(callers=callers)
    keys: dict[tuple[str, str, int], str] = {}
    entries: list[Json] = []
    for tenant in TENANTS:
        for transport in TRANSPORTS[:2]:
            for number in range(callers):
                name = f"{transport}{number}"
                key, entry = house.key(f"{tenant}-{name}", tenant, f"canary-{tenant}-{name}")
                keys[tenant, transport, number] = key
                entries.append(entry)
    async with _place(
        folder, report, entries, store or f"sqlite:///{folder}/store.db", leaks
    ) as at:
        lanes = [(a, b, n) for a in TENANTS for b in TRANSPORTS for n in range(callers)]
        flock = Flock(
            place=at,
            callers=callers,
            keys=keys,
            owned={each: [Owned(word="")] * (len(lanes) // 2) for each in TENANTS},
            barrier=asyncio.Barrier(len(lanes)),
            watchers=0,
        )
        flock.watchers = sum(flock.watches(transport, number) for _, transport, number in lanes)
        began = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for lane in lanes:
                tasks.create_task(flock.one(*lane))
        await _look_around(at)
        report.seconds = time.monotonic() - began
    for kind in ("modern-http", "legacy-http"):
        sent = (folder / f"{kind}.calls").read_text().count('"guess-')
        if sent:
            report.wrong.append(f"{sent} guesses were sent on to {kind}")
    report.close()
    return report


async def _look_around(place: Place) -> None:
    """Look at everything once more, as the host, the lead and in the terminal of each tenant."""
    for tenant in TENANTS:
        await place.hosts[tenant].ask("GET", "?limit=500")
        await place.leads[tenant].look_around()
        for words in _LISTS:
            said = await terminal(
                place.gateway, tenant, place.report, *words.split(), "--limit", "100000", "--json"
            )
            place.report.sees(tenant, f"lists of {words.split()[0]}", bool(said.strip()))


@asynccontextmanager
async def _place(
    folder: Path, report: Report, entries: list[Json], store: str, leaks: bool
) -> AsyncGenerator[Place]:
    hosts = {tenant: host_key(tenant) for tenant in TENANTS}
    accounts = [
        {"user": f"canary-{tenant}-lead", "tenant": tenant, "roles": ["lead"]} for tenant in TENANTS
    ]
    inside = folder / "gateway"
    inside.mkdir()
    async with AsyncExitStack() as stack:
        urls = await stack.enter_async_context(all_served(folder, *(["leaks"] if leaks else [])))
        many = max(len(entries), 256)
        gateway = await stack.enter_async_context(
            running(
                inside,
                _config(urls, many, identity={"api_keys": entries}),
                policy=POLICY,
                contracts=_contracts(),
                store=store,
                listen={"max_concurrency": 4 * many},
                admin={"api_keys": [entry for _, entry in hosts.values()], "accounts": accounts},
            )
        )
        session = await stack.enter_async_context(
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, force_close=True),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        )
        admin = await stack.enter_async_context(
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=64, resolver=Here(), force_close=True),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        )
        yield Place(
            gateway=gateway,
            report=report,
            folder=folder,
            hosts={
                tenant: Host(
                    tenant=tenant, report=report, session=admin, url=gateway.admin, key=key
                )
                for tenant, (key, _) in hosts.items()
            },
            leads={
                tenant: await stack.enter_async_context(lead(gateway, tenant, report))
                for tenant in TENANTS
            },
            pipes={
                (tenant, era): await _piped(stack, folder, urls, store, tenant, era)
                for tenant in TENANTS
                for era in ERAS
            },
            session=session,
        )


def _config(urls: dict[str, str], many: int, **more: Json) -> str:
    servers = {
        kind: {"url": url, "protocol": kind.partition("-")[0], "max_calls": 2 * many}
        for kind, url in urls.items()
    }
    return house.unreviewed(
        servers,
        runs={"enabled": True},
        approvals={"hold": {"default": "0s"}, "max_pending": many, "max_requests": 10 * many},
        limits={"ask_timeout": "10m", "call_timeout": "10m"},
        **more,
    )


async def _piped(
    stack: AsyncExitStack, folder: Path, urls: dict[str, str], store: str, tenant: str, era: str
) -> Wire:
    """Start the process of one tenant that an agent host would start, on the same store."""
    inside = folder / f"{tenant}-{era}"
    local = {"user": f"canary-{tenant}-{era}", "tenant": tenant}
    house.prepare(
        inside, _config(urls, 512, identity={"local": local}), policy=POLICY, contracts=_contracts()
    )
    written = inside / "config.yaml"
    head, _, rest = written.read_text().partition("\n")
    assert head.startswith("store:")
    written.write_text(f"store: {store}\n{rest}")
    process = await forked.hosted(
        ["stdio", "--config", str(written)],
        inside / "log.txt",
        {"PATH": "/usr/bin:/bin", "HOME": str(inside)},
    )
    wire = await stack.enter_async_context(
        over_pipes(process, modern=era == "modern", within_s=_LATEST_S)
    )
    async with asyncio.timeout(_LATEST_S):
        while len((await wire.request("tools/list")).result["tools"]) < 2 * len(TOOLS):
            await asyncio.sleep(0.05)
    return wire


def main() -> None:
    """Run, tell, and end with 1 when anything leaked or went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=200, help="of each tenant on each transport")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--leaks", action="store_true", help="have a server leak")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-tenants-"))
        is_postgres = chosen.engine == "postgres"
        store = stack.enter_context(own_postgres()).create("tenants") if is_postgres else ""
        report = asyncio.run(run(chosen.callers, Path(name), store=store, leaks=chosen.leaks))
    print(report)
    sys.exit(report.good is chosen.leaks)


if __name__ == "__main__":
    main()

"""The listener for people on a real socket, a real store behind it, and browsers before it."""

import re
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import aiohttp
import anyio
from multidict import CIMultiDictProxy

from gateway import ids, jsontext
from gateway.admin import errands as long_work
from gateway.admin.entrance import Entrance
from gateway.admin.errands import Errands
from gateway.admin.login import path_of
from gateway.admin.readiness import Readiness
from gateway.clock import Clock, SystemClock
from gateway.config.admin import OWN_HOST
from gateway.config.settings import Settings
from gateway.crossing.deciding import Deciding
from gateway.crossing.people import presented_place
from gateway.crossing.running import Running
from gateway.events.redact import Redactor
from gateway.listen.serve import serve
from gateway.runs.templates import Template
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, ApprovalClause, Factor
from gateway.types.json import JsonObject
from gateway.types.refused import TurnedAway
from gateway.types.tools import Contract
from tests.helpers import forked
from tests.helpers.approvals import asked, state_of
from tests.helpers.cases import a_revision
from tests.helpers.databases import ORIGIN
from tests.helpers.names import resolve_as_browsers_do
from tests.helpers.presenting import a_document

resolve_as_browsers_do()

ANN = {"user": "ann", "tenant": "acme", "roles": ["finance-lead"]}
BEN = {"user": "ben", "tenant": "acme", "roles": ["controller"]}
EVE = {"user": "eve", "tenant": "globex", "roles": ["finance-lead", "controller"]}
SAM = {"user": "sam", "tenant": "acme", "roles": ["finance-lead"]}
PEOPLE = {"admin": {"accounts": [ANN, BEN, EVE, SAM]}}
ARGUMENTS: JsonObject = {"customer_id": "c-1001", "amount": 1250, "currency": "EUR"}
LEADS = ApprovalClause(factors=(Factor(name="leads", roles=("finance-lead",)),))
BOTH = ApprovalClause(
    factors=(
        Factor(name="leads", roles=("finance-lead",)),
        Factor(name="control", roles=("controller",)),
    )
)
_TOKEN = re.compile(r'<form[^>]*action="([^"]+)"[^>]*>.*?name="token" value="([0-9a-f]+)"', re.S)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a browser got."""

    status: int
    text: str
    headers: CIMultiDictProxy[str]

    @property
    def tokens(self) -> dict[str, str]:
        """The tokens of the forms on the page, by where these go."""
        return dict(_TOKEN.findall(self.text))


@dataclass(kw_only=True)
class Browser:
    """Somebody's browser: keeps cookies, and says where its requests come from."""

    url: str
    session: aiohttp.ClientSession

    async def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Open a page, without going on from it."""
        return await self._send(method, path, None, headers)

    async def post(
        self,
        path: str,
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a form as a page of the listener would, unless told otherwise."""
        sent = {"Origin": self.url, **(headers or {})}
        sent = {name: value for name, value in sent.items() if value}
        return await self._send("POST", path, dict(fields or {}), sent)

    async def _send(
        self, method: str, path: str, fields: dict[str, str] | None, headers: dict[str, str]
    ) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(
            method, f"{self.url}{path}", data=fields, headers=sent, allow_redirects=False
        ) as answer:
            return Answer(status=answer.status, text=await answer.text(), headers=answer.headers)


@dataclass(kw_only=True)
class House:
    """A running listener."""

    url: str
    store: Store
    settings: Settings
    turned_away: list[TurnedAway]
    clock: Clock
    errands: Errands
    browsers: list[aiohttp.ClientSession] = field(default_factory=list[aiohttp.ClientSession])

    def browser(self) -> Browser:
        """Return a browser that nobody has used."""
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address
        session = aiohttp.ClientSession(cookie_jar=jar)
        self.browsers.append(session)
        return Browser(url=self.url, session=session)

    async def link(self, user: str = "ann", tenant: str = "acme", account: str = "") -> str:
        """Return the path of a new one-time link, made from his own account or a given one."""
        made = await self.store.logins.new_link(
            tenant=tenant, user=user, account=account or user, lasts_s=600
        )
        return path_of(made)

    async def logged_in(
        self, user: str = "ann", tenant: str = "acme", account: str = ""
    ) -> Browser:
        """Return a browser in which somebody has logged in by a link."""
        browser = self.browser()
        entered = await browser.post(await self.link(user, tenant, account))
        assert (entered.status, entered.headers["Location"]) == (303, "/approvals")
        return browser

    async def ask(self, document: JsonObject | None = None, **changes: Any) -> Approval:
        """Keep a request of Sam's about a document; Ann may decide unless told otherwise."""
        shown = a_document(ARGUMENTS) if document is None else document
        kept, approval_id = jsontext.dump(shown), ids.new("apr")
        vault = Vault(self.store.keys.operations)
        tenant = changes.get("tenant", "acme")
        values: dict[str, Any] = {
            "approval_id": approval_id,
            "user": "sam",
            "clause": LEADS,
            "presented": vault.seal(tenant, presented_place(approval_id), kept),
            "presented_digest": jsontext.digest(kept.decode()),
            "created_at": microseconds(self.clock.now()),
            "decide_by": microseconds(self.clock.now()) + 1_800_000_000,
        }
        return await asked(self.store, **(values | changes))

    async def state(self, approval: Approval) -> str:
        """Return where a request stands."""
        return (await state_of(self.store, approval))[0].value

    async def events(self, action: str) -> list[dict[str, Any]]:
        """Return the bodies of the events with an action."""
        await self.store.events.kept()
        bodies: list[dict[str, Any]] = []
        for each in await self.store.events.query(EventFilter()):
            body: Any = each.json()["body"]
            if body.get("action") == action:
                bodies.append(body)
        return bodies


def faultless(tool: str, arguments: JsonObject) -> Sequence[str]:
    """Take any proposal."""
    del tool, arguments
    return ()


def deciding_at(
    store: Store, clock: Clock, faults: Callable[[str, JsonObject], Sequence[str]] = faultless
) -> Deciding:
    """Return where decisions are made; nobody is told of them."""
    return Deciding(
        approvals=store.approvals,
        redactor=Redactor(store.keys.redaction),
        clock=clock,
        vault=Vault(store.keys.operations),
        targets=lambda tenant, stage: (),
        faults=faults,
    )


# Long work begins in a second less; `test_errands.py` starts it as a gateway does.
_FORKED = SimpleNamespace(Popen=forked.Errand, PIPE=None, DEVNULL=None)


@asynccontextmanager
async def open_house(
    folder: Path,
    settings: Mapping[str, Any] = PEOPLE,
    *,
    clock: Clock | None = None,
    base_url: str = "",
    faults: Callable[[str, JsonObject], Sequence[str]] = faultless,
    templates: Sequence[Template] = (),
    contracts: Sequence[Contract] = (),
) -> AsyncGenerator[House]:
    """Serve the listener on a free port of this machine."""
    in_force = {each.name: each for each in templates}
    revision = replace(a_revision(contracts), templates=in_force)
    store = Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN, clock=clock)
    stop, ready = anyio.Event(), anyio.Event()
    turned_away: list[TurnedAway] = []
    with (
        patch.object(long_work, "subprocess", _FORKED),
        socket.socket() as sock,
        closing(Errands(clock=clock or SystemClock())) as errands,
    ):
        sock.bind(("127.0.0.1", 0))
        url = f"http://{OWN_HOST}:{sock.getsockname()[1]}"
        house = House(
            url=url,
            store=store,
            settings=Settings.model_validate(
                {
                    "store": f"sqlite:///{folder}/store.db",
                    "policies": f"{folder}/policies",
                    **settings,
                }
            ),
            turned_away=turned_away,
            clock=clock or SystemClock(),
            errands=errands,
        )
        entrance = Entrance(
            settings=house.settings,
            base_url=base_url or url,
            store=store,
            deciding=deciding_at(store, clock or SystemClock(), faults),
            running=Running(
                runs=store.runs,
                templates=lambda: revision.templates,
                is_on=lambda: True,
                idle_s=1800.0,
                redactor=Redactor(store.keys.redaction),
                clock=clock or SystemClock(),
            ),
            revision=lambda: revision,
            clock=clock or SystemClock(),
            readiness=lambda: Readiness(ready=True),
            note_turned_away=turned_away.append,
            errands=errands,
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve(entrance.app(), sock, stop=stop, on_ready=ready.set))
            try:
                with anyio.fail_after(5):
                    await ready.wait()
                yield house
            finally:
                for each in house.browsers:
                    await each.close()
                stop.set()
                store.close()

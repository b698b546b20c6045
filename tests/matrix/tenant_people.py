"""Who is beside the agents of a tenant: its host with a key for `/v1`, and a lead at the pages."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway import ids
from gateway.identity.apikeys import ADMIN_PREFIX, hash_key
from tests.helpers import forked
from tests.helpers.gateway import Gateway
from tests.journeys.house import Json
from tests.matrix.tenant_report import Report

# What can be asked of a run over `/v1`; none of it may do anything to the other tenant's.
VERBS: Final[Mapping[str, Json]] = {
    "phase": {"phase": "planning"},
    "fields": {"fields": {"secret": "guessed"}},
    "evidence": {"items": [{"source": "guessed"}]},
    "usage": {"tokens": 1},
    "pause": {"reason": "guessed"},
    "resume": {},
    "finish": {"outcome": "failed"},
    "handoff": {"reason": "guessed"},
    "cancel": {"reason": "guessed"},
}
OF_HOST: Final = ("show", "package", *VERBS, "parent")
OF_LEAD: Final = ("approval page", "decide", "withdraw", "call off", "run page", "run pause")
_VALUE: Final = re.compile(r'value="[^"]*"')
_AWAY: Final = 503  # the store, of a machine that is busy
_PAUSE_S: Final = 0.5
_TURNED_AWAY: Final = frozenset({403, 404, 409, 422})


def host_key(tenant: str) -> tuple[str, Json]:
    """Return a key for `/v1` of one tenant and its entry."""
    key = f"{ADMIN_PREFIX}{tenant}_{tenant.encode().hex().ljust(64, '0')}"
    scopes = ["run:manage", "run:phase"]
    user = f"canary-{tenant}-host"
    return key, {
        "id": tenant,
        "hash": hash_key(key),
        "user": user,
        "tenant": tenant,
        "scopes": scopes,
    }


@dataclass(kw_only=True)
class Host:
    """A program that manages the runs of one tenant."""

    tenant: str
    report: Report
    session: aiohttp.ClientSession
    url: str
    key: str

    async def ask(
        self, method: str, path: str, body: Json | None = None, key: str = ""
    ) -> tuple[int, str]:
        """Send a request until the store is there for it, and search what comes back."""
        headers = {"Authorization": f"Bearer {self.key}"}
        if key:
            headers["Idempotency-Key"] = key
        while True:
            async with self.session.request(
                method, f"{self.url}/v1/runs{path}", json=body, headers=headers
            ) as answer:
                data = await answer.read()
                self.report.hears(self.tenant, data + str(answer.headers).encode())
            if answer.status != _AWAY:
                return answer.status, data.decode()
            self.report.repeats += 1
            await asyncio.sleep(_PAUSE_S)

    async def done(self, method: str, path: str, body: Json | None = None, key: str = "") -> Any:
        """Do what has to work."""
        status, said = await self.ask(method, path, body, key)
        assert status < 300, (method, path, said)
        return json.loads(said)

    async def start(self, user: str, word: str, parent: str = "") -> str:
        """Begin a run for a user, all of it in his tenant's words."""
        begun = await self.done(
            "POST",
            "",
            {
                "on_behalf_of": {"user": user, "roles": [word]},
                "objective": word,
                "task_id": word,
                "fields": {"secret": word},
                "parent": parent,
            },
            key=word,
        )
        run_id = self.report.keeps(self.tenant, "run", begun["run_id"])
        items = [{"source": word, "version": word, "chunk": word}]
        await self.done("POST", f"/{run_id}/evidence", {"items": items})
        # What was not answered since the store was away may have been done.
        await self.ask("POST", f"/{run_id}/phase", {"phase": "acting", "note": word})
        moved = await self.done("GET", f"/{run_id}")
        self.report.sees(self.tenant, "runs begun", moved["phase"] == "acting", moved)
        return run_id

    async def look(self, run_id: str, word: str) -> None:
        """Look at a run of one's own in every way that there is."""
        for path in (f"/{run_id}", f"/{run_id}/package", f"?task_id={word}&limit=500"):
            _, said = await self.ask("GET", path)
            self.report.sees(self.tenant, "answers of /v1", word in said and run_id in said, said)

    async def untouched(self, run_id: str, word: str) -> None:
        """See that nobody else has changed a run."""
        run = await self.done("GET", f"/{run_id}")
        seen = (run["is_paused"], run["stop_reason"], run["fields"]["secret"]["value"])
        self.report.sees(self.tenant, "runs as they were", seen == (False, None, word), run)
        self.report.sees(self.tenant, "usage as it was", run["tokens"] == 0, run["tokens"])

    async def guess(self, theirs: str) -> None:
        """Try all of that with a run of the other tenant's."""
        for verb in OF_HOST:
            await self.report.guesses(
                self.tenant, f"/v1 {verb}", theirs, ids.new("run"), partial(self._try, verb)
            )

    async def _try(self, verb: str, run_id: str) -> tuple[bool, str]:
        status, said = await self._verb(verb, run_id)
        return status in _TURNED_AWAY, f"{status} {said}"

    async def _verb(self, verb: str, run_id: str) -> tuple[int, str]:
        match verb:
            case "show":
                return await self.ask("GET", f"/{run_id}")
            case "package":
                return await self.ask("GET", f"/{run_id}/package")
            case "parent":
                return await self.ask("POST", "", {"parent": run_id})
            case _:
                return await self.ask("POST", f"/{run_id}/{verb}", VERBS[verb])


@dataclass(kw_only=True)
class Lead:
    """Somebody of one tenant who decides, at the pages, in a browser that is logged in."""

    tenant: str
    report: Report
    session: aiohttp.ClientSession

    async def page(self, path: str, data: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Look at a page, or send a form, and search what comes back."""
        method = "GET" if data is None else "POST"
        while True:
            async with self.session.request(method, path, data=data) as answer:
                read = await answer.read()
                self.report.hears(self.tenant, read + str(answer.headers).encode())
            if answer.status != _AWAY:
                return answer.status, read.decode()
            self.report.repeats += 1
            await asyncio.sleep(_PAUSE_S)

    async def decide(self, approval_id: str, word: str, choice: str) -> None:
        """Decide about a request of one's own tenant, which its page shows."""
        path = f"/approvals/{approval_id}"
        _, shown = await self.page(path)
        self.report.sees(self.tenant, "pages of requests", word in shown, shown)
        fields = {**_form(shown, f"{path}/decide"), "choice": choice, "reason": word}
        _, said = await self.page(f"{path}/decide", fields)
        is_done = {"approve": "approved", "deny": "denied"}[choice] in said
        self.report.sees(self.tenant, "decisions", is_done, said)

    async def look(self, run_id: str, word: str) -> None:
        """Look at a run of one's own tenant."""
        _, shown = await self.page(f"/runs/{run_id}")
        self.report.sees(self.tenant, "pages of runs", word in shown, shown)

    async def look_around(self) -> None:
        """Look at all lists."""
        for path in ("/", "/approvals", "/approvals/history", "/runs"):
            await self.page(path)

    async def guess(self, approval: str, run_id: str) -> None:
        """Try to see and to decide what the other tenant's people are asked."""
        _, lists = await self.page("/runs")
        token = dict(re.findall(r'name="(token)" value="([^"]*)"', lists))
        for kind in OF_LEAD:
            theirs = run_id if kind.startswith("run") else approval
            invented = ids.new(theirs.partition("_")[0])
            ask = partial(self._try, kind, token)
            await self.report.guesses(self.tenant, f"page {kind}", theirs, invented, ask)

    async def _try(self, kind: str, token: Mapping[str, str], name: str) -> tuple[bool, str]:
        status, page = await self._guess(kind, name, token)
        # The tokens of forms are always new.
        return status in _TURNED_AWAY, f"{status} {_VALUE.sub('', page)}"

    async def _guess(self, kind: str, name: str, token: Mapping[str, str]) -> tuple[int, str]:
        said = {**token, "binding": "sha256:0", "choice": "deny", "reason": "guessed"}
        match kind:
            case "approval page":
                return await self.page(f"/approvals/{name}")
            case "run page":
                return await self.page(f"/runs/{name}")
            case "run pause":
                return await self.page(f"/runs/{name}/pause", said)
            case "call off":
                return await self.page(f"/approvals/{name}/cancel", said)
            case _:
                return await self.page(f"/approvals/{name}/{kind}", said)


class Here(AbstractResolver):
    """Knows the way to this machine and to no other, as browsers do for `localhost`."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return where every name leads."""
        return [
            ResolveResult(
                hostname=host,
                host="127.0.0.1",
                port=port,
                family=socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    async def close(self) -> None:
        """Have nothing to let go of."""


def _form(page: str, path: str) -> dict[str, str]:
    part = page.partition(f'action="{path}"')[2].partition("</form>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', part))


@asynccontextmanager
async def lead(gateway: Gateway, tenant: str, report: Report) -> AsyncGenerator[Lead]:
    """Log a lead in, by a link from the terminal."""
    words = ["admin", "login", "--json", "--tenant", tenant]
    said = json.loads(await terminal(gateway, tenant, report, *words, filters=False))
    link, port = urlsplit(str(said["url"])), urlsplit(gateway.admin).port
    home = f"http://{link.hostname}:{port}"  # a name of its own, which browsers know the way to
    async with aiohttp.ClientSession(
        home,
        headers={"Origin": home},
        timeout=aiohttp.ClientTimeout(total=900),
        connector=aiohttp.TCPConnector(limit=16, resolver=Here(), force_close=True),
    ) as session:
        found = Lead(tenant=tenant, report=report, session=session)
        status, page = await found.page(link.path, {})
        assert status == 200, page
        yield found


async def terminal(
    gateway: Gateway, tenant: str, report: Report, *words: str, filters: bool = True
) -> str:
    """Run a command as whoever looks after one tenant, and search what it prints."""
    config = ["--config", str(gateway.folder / "config.yaml")]
    more = ["--tenant", tenant] if filters else []
    done = await asyncio.to_thread(forked.ran, [*words, *more, *config])
    assert done.returncode == 0, done.stderr
    report.hears(tenant, f"{done.stdout}{done.stderr}".encode())
    return str(done.stdout)

"""Programs that manage runs, before the listener of a house."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from gateway.identity.apikeys import ADMIN_PREFIX, hash_key
from tests.admin.house import PEOPLE, House, open_house

MANAGE = ["run:manage", "run:phase"]


def admin_key(name: str, scopes: list[str], **more: Any) -> tuple[str, dict[str, Any]]:
    """Return a key for `/v1` and its entry."""
    key = f"{ADMIN_PREFIX}{name}_{name.encode().hex().ljust(64, '0')[:64]}"
    entry = {"id": name, "hash": hash_key(key), "user": "svc", "tenant": "acme", "scopes": scopes}
    return key, {**entry, **more}


HOST, HOST_ENTRY = admin_key("host", MANAGE)
READER, READER_ENTRY = admin_key("reader", ["run:read"], user="sam")
OTHER, OTHER_ENTRY = admin_key("other", [*MANAGE, "run:read"], tenant="globex")
MOVER, MOVER_ENTRY = admin_key("mover", ["run:phase"], user="sam")
KEYS = [HOST_ENTRY, READER_ENTRY, OTHER_ENTRY, MOVER_ENTRY]


@dataclass(frozen=True, kw_only=True)
class Replied:
    """What a program got."""

    status: int
    body: Any
    headers: Any


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A house whose programs can be spoken for."""

    house: House
    session: aiohttp.ClientSession

    async def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = HOST,
        data: bytes | None = None,
        **headers: str,
    ) -> Replied:
        """Send one request; an empty key shows none."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        async with self.session.request(
            method, f"{self.house.url}{path}", data=data, headers=sent, allow_redirects=False
        ) as answer:
            text = await answer.text()
            found = json.loads(text) if "json" in answer.content_type and text else text
            return Replied(status=answer.status, body=found, headers=answer.headers)

    async def post(self, path: str, body: object = None, **more: Any) -> Replied:
        """Send a POST."""
        return await self.send("POST", path, {} if body is None else body, **more)

    async def get(self, path: str, **more: Any) -> Replied:
        """Send a GET."""
        return await self.send("GET", path, **more)

    async def started(self, **body: Any) -> str:
        """Start a run for Sam and return its id."""
        made = await self.post("/v1/runs", {"on_behalf_of": {"user": "sam"}, **body})
        assert made.status == 201, made.body
        return made.body["run_id"]


@asynccontextmanager
async def open_desk(folder: Path, **more: Any) -> AsyncGenerator[Desk]:
    """Open a house with keys for programs."""
    settings = {"admin": {**PEOPLE["admin"], "api_keys": KEYS}}
    async with (
        open_house(folder, settings, **more) as house,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
    ):
        yield Desk(house=house, session=session)

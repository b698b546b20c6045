"""One agent of a tenant: what it makes for itself, and what it tries with what is not its own."""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import aiohttp

from gateway import ids
from gateway.client import meta
from tests.matrix.fixtures import CAPABILITIES, TASKS, Json
from tests.matrix.tenant_people import Host, Lead
from tests.matrix.tenant_report import Report
from tests.matrix.wires import Heard, LegacyHttp, Wire, saying

FREE, ASKED = "modern-http__echo", "legacy-http__echo"
WITH_TASKS: Final[Json] = {**CAPABILITIES, "extensions": {TASKS: {}}}
_BUSY: Final = {429, 503, -32000}
_AWAY: Final = {"busy", "audit_unavailable"}  # the gateway, or the store of a busy machine
_LATEST_S: Final = 900.0
_ROW: Final[Json] = {"inputResponses": {"one": {"action": "accept", "content": {"row": 7}}}}


@dataclass(kw_only=True)
class Owned:
    """Ids and handles that one caller was given; empty where its transport has none."""

    word: str
    run: str = ""
    operation: str = ""
    approval: str = ""
    task: str = ""
    state: str = ""  # of a question that its server has asked
    session: str = ""


def kinds_of(owned: Owned, *, modern: bool, http: bool) -> list[str]:
    """Return what a caller can guess of another one, by what its own transport lets it say."""
    found = ["run status", "run field", "run finish", "run handoff", "run of a call"]
    found += ["wait", "repeat"]
    found += ["run header"] if http else []
    if modern:
        found += ["task get", "task update", "task cancel"] if owned.task else []
        found += ["question"] if owned.state else []
    elif http:
        found += ["session"] if owned.session else []
    return found


@dataclass(kw_only=True)
class Caller:
    """One agent, over whichever transport."""

    tenant: str
    word: str
    user: str
    key: str  # of its own call that is made once; the other tenant has one that uses the same
    wire: Wire
    host: Host
    lead: Lead
    report: Report
    is_http: bool
    owned: Owned = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.owned = Owned(word=self.word)

    # What it makes for itself

    async def make(self) -> None:
        """Make one of everything, with the word of the tenant in all of it."""
        owned, sees = self.owned, self.report.sees
        owned.run = await self.host.start(self.user, self.word)
        heard = await self.call(FREE, mark=self.word)
        sees(self.tenant, "answers", self.word in _json(heard), heard.message)
        notes = await self.call("modern-http__progress", mark=self.word, progressToken=self.word)
        told = [note["params"].get("message") for note in notes.notes]
        sees(self.tenant, "progress", {*told} <= {self.word} or not self.is_http, told)
        uri = f"mem://modern-http/rows/{self.word}"
        read = await self.request("resources/read", {"uri": uri})
        sees(self.tenant, "resources", self.word in _json(read), read.message)
        said = await self.call("run_set_field", name="said", value=self.word, run_id=owned.run)
        sees(self.tenant, "fields", self.word in _json(said), said.message)
        await self._ask_people()
        if self.wire.is_modern:
            await self._begin_task()
            await self._be_asked()
        elif isinstance(self.wire, LegacyHttp):
            owned.session = self._keep("session", self.wire.session)

    async def _ask_people(self) -> None:
        held = _outcome(await self.call(ASKED, mark=self.word, key=self.key))
        holds = held.get("status") == "approval_pending"
        self.report.sees(self.tenant, "requests", holds, held)
        self.owned.approval = self._keep("approval", str(held.get("approval_id")))
        self.owned.operation = self._keep("operation", str(held.get("op_id")))

    async def _begin_task(self) -> None:
        begun = await self.call("modern-http__begin_task", mark=self.word, capable=WITH_TASKS)
        task = begun.message.get("result", {}).get("taskId", "")
        self.report.sees(self.tenant, "tasks begun", bool(task), begun.message)
        self.owned.task = self._keep("task", task)

    async def _be_asked(self) -> None:
        """Be asked something by a server, which is answered later."""
        asked = await self.call("modern-http__ask_form", mark=self.word, capable=CAPABILITIES)
        self.report.sees(self.tenant, "questions", self.word in _json(asked), asked.message)
        state = asked.message.get("result", {}).get("requestState", "")
        self.owned.state = self._keep("state", state)

    def _keep(self, kind: str, secret: str) -> str:
        return self.report.keeps(self.tenant, kind, secret)

    # What comes of it

    async def decided(self) -> None:
        """Have a lead of the tenant decide, and learn of it."""
        choice = "approve" if secrets.randbelow(2) else "deny"
        await self.lead.decide(self.owned.approval, self.word, choice)
        told = await self.call("gateway_wait", approval_id=self.owned.approval, max_seconds=0)
        self.report.sees(self.tenant, "waits", not _is_refused(told), told.message)
        again = await self.call(ASKED, mark=self.word, key=self.key)
        status = _outcome(again).get("status")
        wanted = {"approve": "ok", "deny": "approval_denied"}[choice]
        holds = status == wanted and self.word in _json(again)
        self.report.sees(self.tenant, "decided calls", holds, again.message)

    async def finish(self) -> None:
        """See everything through, and find it as it was left."""
        owned, sees = self.owned, self.report.sees
        if owned.task:
            named = {"taskId": owned.task}
            await self.request("tasks/update", {**named, **_ROW}, capable=WITH_TASKS)
            done = await self.request("tasks/get", named, capable=WITH_TASKS)
            holds = self.word in _json(done) and done.message["result"]["status"] == "completed"
            sees(self.tenant, "tasks done", holds, done.message)
        if owned.state:
            more: Json = {**_ROW, "requestState": owned.state}
            done = await self.call(
                "modern-http__ask_form", mark=self.word, capable=CAPABILITIES, params=more
            )
            sees(self.tenant, "replies", _outcome(done).get("status") == "ok", done.message)
        status = await self.call("run_status", run_id=owned.run)
        sees(self.tenant, "run status", self.word in _json(status), status.message)
        await self.host.untouched(owned.run, self.word)
        await self.host.look(owned.run, self.word)
        await self.lead.look(owned.run, self.word)
        handed = await self.call("run_handoff", reason=self.word, run_id=owned.run)
        sees(self.tenant, "handovers", not _is_refused(handed), handed.message)

    async def watched(self, uri: str, all_watch: Callable[[str], Awaitable[None]]) -> None:
        """Follow a resource and, where it has one, a task of its own."""
        tasks = [self.owned.task] if self.owned.task else []
        self.wire.capabilities = WITH_TASKS if tasks else self.wire.capabilities
        async with self.wire.listening(uri, tasks=tasks):
            await all_watch(uri)
            updated = await self.wire.told("notifications/resources/updated")
            holds = updated["params"]["uri"] == uri
            self.report.sees(self.tenant, "updates", holds, updated)

    # What it tries

    async def guess(self, theirs: Owned) -> None:
        """Try everything with what somebody of the other tenant was given."""
        for kind in kinds_of(theirs, modern=self.wire.is_modern, http=self.is_http):
            named, invented = _named(kind, theirs)
            await self.report.guesses(
                self.tenant, kind, named, invented, partial(self._tried, kind), way=self.way
            )

    async def _tried(self, kind: str, name: str) -> tuple[bool, str]:
        heard = await self._try(kind, name)
        return _is_refused(heard), _json(heard)

    @property
    def way(self) -> str:
        """The transport and era."""
        return type(self.wire).__name__

    async def _try(  # noqa: C901 - a table of guesses
        self, kind: str, name: str
    ) -> Heard:
        guessed = f"guess-{self.word}"
        match kind:
            case "run status":
                return await self.call("run_status", run_id=name, run="")
            case "run field":
                return await self.call("run_set_field", name="a", value=1, run_id=name, run="")
            case "run finish":
                return await self.call("run_finish", outcome="failed", run_id=name, run="")
            case "run handoff":
                return await self.call("run_handoff", reason="guessed", run_id=name, run="")
            case "run of a call":
                return await self.call(FREE, mark=guessed, run=name)
            case "run header":
                return await self.call(FREE, mark=guessed, run="", header=name)
            case "wait":
                return await self.call("gateway_wait", approval_id=name, max_seconds=0, run="")
            case "repeat":
                return await self.call("gateway_repeat", op_id=name, reason="guessed", run="")
            case "question":
                more: Json = {**_ROW, "requestState": name}
                return await self.call(
                    "modern-http__ask_form", mark=guessed, capable=CAPABILITIES, params=more
                )
            case "session":
                assert isinstance(self.wire, LegacyHttp)
                with saying(headers={"Mcp-Session-Id": name}):
                    return await self.wire.request("tools/list")
            case _:
                method = f"tasks/{kind.partition(' ')[2]}"
                more = _ROW if method == "tasks/update" else {}
                return await self.request(method, {"taskId": name, **more}, capable=WITH_TASKS)

    # How it speaks

    async def call(
        self,
        tool: str,
        *,
        run: str | None = None,
        key: str = "",
        header: str = "",
        capable: Json | None = None,
        params: Json | None = None,
        progressToken: str = "",
        **arguments: Any,
    ) -> Heard:
        """Call a tool in a run, its own unless told otherwise, until it is not told to wait."""
        run = self.owned.run if run is None else run
        said: Json = {} if tool.startswith("run_") or not run else dict(meta(run))
        if key:
            said["weighbridge/idempotencyKey"] = key
        if progressToken:
            said["progressToken"] = progressToken
        named: Json = {"name": tool, "arguments": arguments, **(params or {})}
        return await self.request("tools/call", named, capable=capable, header=header, **said)

    async def request(
        self,
        method: str,
        params: Json,
        *,
        capable: Json | None = None,
        header: str = "",
        **said: Any,
    ) -> Heard:
        """Send a request until it is not told to come back."""
        until = time.monotonic() + _LATEST_S
        while time.monotonic() < until:
            try:
                with saying(capable, {"X-Run-Id": header} if header else None):
                    got = await self.wire.request(method, params, **said)
            except aiohttp.ClientOSError:  # too slow to say who it is before the gateway hung up
                self.report.repeats += 1
                continue
            is_busy = got.message.get("error", {}).get("code") in _BUSY
            if not is_busy and _outcome(got).get("status") not in _AWAY:
                return got
            self.report.repeats += 1
            await asyncio.sleep(0.05 + secrets.randbelow(200) / 1000)
        raise TimeoutError(f"{method} was busy for {_LATEST_S} s")


def _named(kind: str, theirs: Owned) -> tuple[str, str]:
    """Return what somebody else was given, and what nobody was, for one kind of guess."""
    match kind:
        case "wait":
            return theirs.approval, ids.new("apr")
        case "repeat":
            return theirs.operation, ids.new("op")
        case "question":
            return theirs.state, _garbled(theirs.state)
        case "session":
            return theirs.session, _garbled(theirs.session)
        case _ if kind.startswith("task"):
            return theirs.task, _garbled(theirs.task)
        case _:
            return theirs.run, ids.new("run")


def _garbled(handle: str) -> str:
    """Return a handle of the same form that was never given to anybody."""
    return handle[:-12] + "".join(reversed(handle[-12:]))


def _json(heard: Heard) -> str:
    return json.dumps([heard.message, heard.notes, heard.asked], ensure_ascii=False)


def _outcome(heard: Heard) -> Json:
    return heard.message.get("result", {}).get("_meta", {}).get("weighbridge/outcome", {})


def _is_refused(heard: Heard) -> bool:
    result = heard.message.get("result", {})
    return "error" in heard.message or result.get("isError") is True

"""The client for asynchronous programs: one session, which its owner closes."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self, TypeVar

import aiohttp

from gateway.client import calls, wire
from gateway.client.calls import Call
from gateway.types.runs import Mode, Phase

T = TypeVar("T", bound=wire.Reply)
_TIMEOUT_S: Final = 30.0


class AsyncClient:
    """Starts and steers runs over `/v1`; an asynchronous context manager, on asyncio.

    `url` is the admin listener's, such as `http://127.0.0.1:8701`; `key` one of `admin.api_keys`.
    Every method raises `RunsError` for what the gateway refuses, and `aiohttp.ClientError` or
    TimeoutError when it can't be reached.
    """

    def __init__(self, url: str, key: str, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, call: Call[T]) -> T:
        """Send one request and read its answer."""
        if self._session is None:
            raise RuntimeError("use it as `async with AsyncClient(...) as client`")
        async with self._session.request(
            call.method,
            f"{self._url}{call.path}",
            data=call.body or None,
            headers=call.headers(self._key),
            allow_redirects=False,
        ) as answer:
            return call.read(answer.status, await answer.read())

    async def start(
        self,
        *,
        objective: str = "",
        template: str = "",
        user: str = "",
        roles: Sequence[str] = (),
        mode: Mode | None = None,
        task_id: str = "",
        parent: str = "",
        scopes: Sequence[str] = (),
        fields: Mapping[str, wire.Json] | None = None,
        key: str = "",
    ) -> wire.RunState:
        """Start a run; on behalf of `user`, or of the key's own user.

        With `parent` it is a sub-agent's, whose calls may use no more than `scopes`.
        With a `key` of your own, the same may be asked again when no answer came: it is one run.
        """
        other = wire.OnBehalfOf(user=user, roles=tuple(roles)) if user else None
        wanted = wire.StartRun(
            objective=objective,
            template=template,
            mode=mode,
            task_id=task_id,
            parent=parent,
            scopes=tuple(scopes),
            fields=dict(fields or {}),
            on_behalf_of=other,
        )
        return await self.send(calls.start(wanted, key))

    async def list_runs(self, wanted: wire.ListRuns | None = None) -> wire.RunPage:
        """Return runs, the newest first."""
        return await self.send(calls.list_runs(wanted or wire.ListRuns()))

    async def show(self, run_id: str) -> wire.RunState:
        """Return one run."""
        return await self.send(calls.show(run_id))

    async def package(self, run_id: str) -> wire.Package:
        """Return what somebody needs to take a run over."""
        return await self.send(calls.package(run_id))

    async def set_phase(
        self, run_id: str, phase: Phase, *, note: str = "", version: int | None = None
    ) -> wire.RunState:
        """Move a run; takes a key with `run:phase`."""
        body = wire.SetPhase(phase=phase, note=note)
        return await self.send(calls.change(run_id, "phase", body, version))

    async def set_fields(
        self,
        run_id: str,
        fields: Mapping[str, wire.Json],
        *,
        said_by_user: bool = False,
        version: int | None = None,
    ) -> wire.RunState:
        """Set what a run collects, on the host's word or on that of the user before it."""
        body = wire.SetFields(fields=dict(fields), source="user" if said_by_user else "host")
        return await self.send(calls.change(run_id, "fields", body, version))

    async def add_evidence(self, run_id: str, items: Sequence[Mapping[str, str]]) -> wire.RunState:
        """Add references to what was read: each with `source`, and `version` and `chunk`."""
        return await self.send(calls.change(run_id, "evidence", calls.evidence(items)))

    async def add_usage(self, run_id: str, *, tokens: int) -> wire.RunState:
        """Add tokens that were spent on a run."""
        return await self.send(calls.change(run_id, "usage", wire.Usage(tokens=tokens)))

    async def add_turn(self, run_id: str, turn: wire.ModelTurn, *, key: str = "") -> wire.RunState:
        """Tell of one turn of the model; its tokens are added to those of the run.

        With a `key` of your own, the same may be told again when no answer came: it counts once.
        """
        return await self.send(calls.turn(run_id, turn, key))

    async def pause(self, run_id: str, reason: str, *, version: int | None = None) -> wire.RunState:
        """Let a run change nothing until it is resumed."""
        return await self.send(calls.change(run_id, "pause", wire.Why(reason=reason), version))

    async def resume(
        self, run_id: str, *, reason: str = "", version: int | None = None
    ) -> wire.RunState:
        """Go on with a run that was paused, stopped or given up."""
        body = wire.ResumeRun(reason=reason)
        return await self.send(calls.change(run_id, "resume", body, version))

    async def complete(
        self, run_id: str, *, note: str = "", version: int | None = None
    ) -> wire.RunState:
        """End a run as completed, if all is there that its template asks for."""
        body = wire.FinishRun(outcome="completed", note=note)
        return await self.send(calls.change(run_id, "finish", body, version))

    async def fail(
        self, run_id: str, *, note: str = "", version: int | None = None
    ) -> wire.RunState:
        """End a run as failed."""
        body = wire.FinishRun(outcome="failed", note=note)
        return await self.send(calls.change(run_id, "finish", body, version))

    async def hand_over(
        self, run_id: str, reason: str, *, to: str = "", version: int | None = None
    ) -> wire.Package:
        """Hand a run over to a person, and return what he needs."""
        body = wire.HandOver(reason=reason, to=to)
        return await self.send(calls.hand_over(run_id, body, version))

    async def cancel(
        self, run_id: str, reason: str, *, version: int | None = None
    ) -> wire.RunState:
        """End a run that is no longer wanted."""
        return await self.send(calls.change(run_id, "cancel", wire.Why(reason=reason), version))

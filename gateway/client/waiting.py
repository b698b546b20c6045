"""The client for programs that wait: one connection a request, nothing kept between them."""

import http.client
import ssl
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

from gateway.client import calls, wire
from gateway.client.calls import Call
from gateway.types.runs import Mode, Phase

T = TypeVar("T", bound=wire.Reply)
_TIMEOUT_S: Final = 30.0


class Client:
    """Starts and steers runs over `/v1`.

    `url` is the admin listener's, such as `http://127.0.0.1:8701`; `key` one of `admin.api_keys`.
    Every method raises `RunsError` for what the gateway refuses, and OSError when it can't be
    reached. Safe to be used by several threads.
    """

    def __init__(self, url: str, key: str, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._url = urlsplit(url.rstrip("/"))
        self._key = key
        self._timeout_s = timeout_s

    def send(self, call: Call[T]) -> T:
        """Send one request and read its answer."""
        connection = self._connection()
        try:
            connection.request(
                call.method,
                f"{self._url.path}{call.path}",
                body=call.body or None,
                headers=call.headers(self._key),
            )
            answer = connection.getresponse()
            return call.read(answer.status, answer.read())
        except http.client.HTTPException as error:
            raise ConnectionError(f"the gateway's answer is none: {error!r}") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(
                host, port, timeout=self._timeout_s, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(host, port, timeout=self._timeout_s)

    def start(
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
        return self.send(calls.start(wanted, key))

    def list_runs(self, wanted: wire.ListRuns | None = None) -> wire.RunPage:
        """Return runs, the newest first."""
        return self.send(calls.list_runs(wanted or wire.ListRuns()))

    def show(self, run_id: str) -> wire.RunState:
        """Return one run."""
        return self.send(calls.show(run_id))

    def package(self, run_id: str) -> wire.Package:
        """Return what somebody needs to take a run over."""
        return self.send(calls.package(run_id))

    def set_phase(
        self, run_id: str, phase: Phase, *, note: str = "", version: int | None = None
    ) -> wire.RunState:
        """Move a run; takes a key with `run:phase`."""
        body = wire.SetPhase(phase=phase, note=note)
        return self.send(calls.change(run_id, "phase", body, version))

    def set_fields(
        self,
        run_id: str,
        fields: Mapping[str, wire.Json],
        *,
        said_by_user: bool = False,
        version: int | None = None,
    ) -> wire.RunState:
        """Set what a run collects, on the host's word or on that of the user before it."""
        body = wire.SetFields(fields=dict(fields), source="user" if said_by_user else "host")
        return self.send(calls.change(run_id, "fields", body, version))

    def add_evidence(self, run_id: str, items: Sequence[Mapping[str, str]]) -> wire.RunState:
        """Add references to what was read: each with `source`, and `version` and `chunk`."""
        return self.send(calls.change(run_id, "evidence", calls.evidence(items)))

    def add_usage(self, run_id: str, *, tokens: int) -> wire.RunState:
        """Add tokens that were spent on a run."""
        return self.send(calls.change(run_id, "usage", wire.Usage(tokens=tokens)))

    def add_turn(self, run_id: str, turn: wire.ModelTurn, *, key: str = "") -> wire.RunState:
        """Tell of one turn of the model; its tokens are added to those of the run.

        With a `key` of your own, the same may be told again when no answer came: it counts once.
        """
        return self.send(calls.turn(run_id, turn, key))

    def pause(self, run_id: str, reason: str, *, version: int | None = None) -> wire.RunState:
        """Let a run change nothing until it is resumed."""
        return self.send(calls.change(run_id, "pause", wire.Why(reason=reason), version))

    def resume(self, run_id: str, *, reason: str = "", version: int | None = None) -> wire.RunState:
        """Go on with a run that was paused, stopped or given up."""
        body = wire.ResumeRun(reason=reason)
        return self.send(calls.change(run_id, "resume", body, version))

    def complete(self, run_id: str, *, note: str = "", version: int | None = None) -> wire.RunState:
        """End a run as completed, if all is there that its template asks for."""
        body = wire.FinishRun(outcome="completed", note=note)
        return self.send(calls.change(run_id, "finish", body, version))

    def fail(self, run_id: str, *, note: str = "", version: int | None = None) -> wire.RunState:
        """End a run as failed."""
        body = wire.FinishRun(outcome="failed", note=note)
        return self.send(calls.change(run_id, "finish", body, version))

    def hand_over(
        self, run_id: str, reason: str, *, to: str = "", version: int | None = None
    ) -> wire.Package:
        """Hand a run over to a person, and return what he needs."""
        body = wire.HandOver(reason=reason, to=to)
        return self.send(calls.hand_over(run_id, body, version))

    def cancel(self, run_id: str, reason: str, *, version: int | None = None) -> wire.RunState:
        """End a run that is no longer wanted."""
        return self.send(calls.change(run_id, "cancel", wire.Why(reason=reason), version))

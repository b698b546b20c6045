"""The requests of `/v1` as values: what is sent, and what an answer is read as."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from gateway.client import wire
from gateway.errors import WeighbridgeError
from gateway.types.json import JsonObject
from gateway.types.runs import Phase

T = TypeVar("T", bound=wire.Reply)
KEY: Final = "weighbridge/run"  # of the `_meta` of an MCP request
_RUNS: Final = "/v1/runs"
_QUOTED, _BEHIND = r'(["\\])', r"\\\1"


class RunsError(WeighbridgeError):
    """The gateway did not do what was asked; `problem` says why (RFC 9457)."""

    def __init__(self, problem: wire.Problem) -> None:
        said = problem.detail or problem.title
        more = [each for each in problem.missing if each not in said]
        more += [f"`{each.pointer}` {each.detail}" for each in problem.errors]
        super().__init__(f"{said}: {'; '.join(more)}" if more else said)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request and the form of its answer."""

    method: str
    path: str
    reply: type[T]
    body: bytes = b""
    version: int | None = None  # that the run has to have
    once: str = ""  # a key of the caller's own, by which a request made again is known

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers; the key is the only credential."""
        found = {"Accept": "application/json", "Authorization": f"Bearer {key}"}
        if self.body:
            found["Content-Type"] = "application/json"
        if self.once:
            found["Idempotency-Key"] = f'"{re.sub(_QUOTED, _BEHIND, self.once)}"'
        if self.version is not None:
            found["If-Match"] = f'"{self.version}"'
        return found

    def read(self, status: int, body: bytes) -> T:
        """Return the answer; raises RunsError for any that is no success."""
        try:
            if status < 400:
                return self.reply.model_validate_json(body)
            problem = wire.Problem.model_validate_json(body)
        except ValidationError:  # another program answered
            problem = wire.Problem(
                type="about:blank",
                title="This is no answer of a gateway",
                status=status,
                detail=f"HTTP {status}, and no JSON of `/v1`; is it the admin listener's address?",
                code="unexpected",
            )
        raise RunsError(problem)


def meta(run_id: str, phase: Phase | None = None) -> JsonObject:
    """Return what a host puts into the `_meta` of `tools/call`, so that the call is of a run.

    With a phase the run is moved there first; that takes the scope `run:phase`.
    """
    named: JsonObject = {"id": run_id}
    if phase is not None:
        named["phase"] = phase.value
    return {KEY: named}


def start(wanted: wire.StartRun, key: str = "") -> Call[wire.RunState]:
    """Start a run: one, however often it is sent with the same key."""
    return Call(method="POST", path=_RUNS, reply=wire.RunState, body=_json(wanted), once=key)


def list_runs(wanted: wire.ListRuns) -> Call[wire.RunPage]:
    """List runs."""
    asked = wanted.model_dump(mode="json", exclude_defaults=True)
    query = urlencode({name: _plain(each) for name, each in asked.items()})
    return Call(method="GET", path=f"{_RUNS}?{query}" if query else _RUNS, reply=wire.RunPage)


def show(run_id: str) -> Call[wire.RunState]:
    """Show one run."""
    return Call(method="GET", path=_path(run_id), reply=wire.RunState)


def package(run_id: str) -> Call[wire.Package]:
    """Show what somebody needs to take a run over."""
    return Call(method="GET", path=f"{_path(run_id)}/package", reply=wire.Package)


def change(
    run_id: str, verb: str, body: wire.Request, version: int | None = None
) -> Call[wire.RunState]:
    """Do something to a run."""
    return Call(
        method="POST",
        path=f"{_path(run_id)}/{verb}",
        reply=wire.RunState,
        body=_json(body),
        version=version,
    )


def turn(run_id: str, body: wire.ModelTurn, key: str = "") -> Call[wire.RunState]:
    """Tell of a model's turn: once, however often it is sent with the same key."""
    return Call(
        method="POST",
        path=f"{_path(run_id)}/turns",
        reply=wire.RunState,
        body=_json(body),
        once=key,
    )


def hand_over(run_id: str, body: wire.HandOver, version: int | None = None) -> Call[wire.Package]:
    """Hand a run over, and get its package."""
    return Call(
        method="POST",
        path=f"{_path(run_id)}/handoff",
        reply=wire.Package,
        body=_json(body),
        version=version,
    )


def evidence(items: Sequence[Mapping[str, str]]) -> wire.AddEvidence:
    """Return references as they are sent."""
    return wire.AddEvidence(items=tuple(wire.EvidenceItem.model_validate(each) for each in items))


def _path(run_id: str) -> str:
    return f"{_RUNS}/{quote(run_id, safe='')}"


def _json(body: wire.Request) -> bytes:
    return body.model_dump_json(exclude_defaults=True).encode()


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

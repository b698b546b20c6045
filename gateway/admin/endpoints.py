"""The table of `/v1`: every operation with its scope, its body and its answer.

Routes and the OpenAPI document are both made of it, so neither knows more than the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gateway.client import wire

Scope = Literal["run:read", "run:phase", "run:manage"]

ROOT: Final = "/v1"
OPENAPI: Final = "/v1/openapi.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One operation."""

    id: str
    method: Literal["GET", "POST"]
    path: str
    scopes: Sequence[Scope]  # one of them is enough
    summary: str
    reply: type[wire.Reply]
    body: type[wire.Request] | None = None
    query: type[wire.Request] | None = None
    status: int = 200
    refuses: Sequence[int] = ()  # beside those of every operation
    takes_key: bool = False  # of its caller's own, by which one that is made again is known
    is_versioned: bool = False  # it changes a run, and may be made to depend on its version

    @property
    def names_run(self) -> bool:
        """Whether it is about one run."""
        return "{run_id}" in self.path


_READS: Final[Sequence[Scope]] = ("run:read", "run:manage")
_MANAGES: Final[Sequence[Scope]] = ("run:manage",)
_ONE: Final = "/v1/runs/{run_id}"


def _verb(
    id: str,
    summary: str,
    body: type[wire.Request],
    *,
    scopes: Sequence[Scope] = _MANAGES,
    reply: type[wire.Reply] = wire.RunState,
    is_versioned: bool = True,
    takes_key: bool = False,
) -> Endpoint:
    """Return an operation that does something to a run."""
    return Endpoint(
        id=id,
        method="POST",
        path=f"{_ONE}/{id}",
        scopes=scopes,
        summary=summary,
        body=body,
        reply=reply,
        refuses=(409, 412) if is_versioned else (409,),
        is_versioned=is_versioned,
        takes_key=takes_key,
    )


ENDPOINTS: Final[Sequence[Endpoint]] = (
    Endpoint(
        id="start",
        method="POST",
        path="/v1/runs",
        scopes=_MANAGES,
        summary="Start a run, for the key's own user or on behalf of another one",
        body=wire.StartRun,
        reply=wire.RunState,
        status=201,
        refuses=(409,),
        takes_key=True,
    ),
    Endpoint(
        id="list",
        method="GET",
        path="/v1/runs",
        scopes=_READS,
        summary="List runs, the newest first",
        query=wire.ListRuns,
        reply=wire.RunPage,
    ),
    Endpoint(
        id="show",
        method="GET",
        path=_ONE,
        scopes=_READS,
        summary="Show one run",
        reply=wire.RunState,
    ),
    Endpoint(
        id="package",
        method="GET",
        path=f"{_ONE}/package",
        scopes=_READS,
        summary="Show what somebody needs to take a run over",
        reply=wire.Package,
    ),
    _verb("phase", "Move a run to another phase", wire.SetPhase, scopes=("run:phase",)),
    _verb("fields", "Set values that a run collects", wire.SetFields),
    _verb(
        "evidence",
        "Add references to what the host has read",
        wire.AddEvidence,
        is_versioned=False,
    ),
    _verb("usage", "Add what was spent on a run", wire.Usage, is_versioned=False),
    _verb(
        "turns",
        "Tell of one turn of the model: who answered and how much, and digests in place of texts",
        wire.ModelTurn,
        is_versioned=False,
        takes_key=True,
    ),
    _verb("pause", "Pause a run: its calls change nothing until it is resumed", wire.Why),
    _verb("resume", "Go on with a run that was paused, stopped or given up", wire.ResumeRun),
    _verb("finish", "End a run as completed or failed", wire.FinishRun),
    _verb(
        "handoff", "Hand a run over to a person, and get its package", wire.HandOver,
        reply=wire.Package,
    ),
    _verb("cancel", "End a run that is no longer wanted, and all requests it has open", wire.Why),
)  # fmt: skip

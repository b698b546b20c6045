"""Every metric there is: names, units, labels, meanings; labels are bounded on purpose."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from gateway.telemetry import attributes as keys

Labels: TypeAlias = Mapping[str, str]
Reading: TypeAlias = "Callable[[], Iterable[tuple[float, Labels]]]"


class Kind(StrEnum):
    """How a metric's values add up."""

    HISTOGRAM = "histogram"
    COUNTER = "counter"
    GAUGE = "gauge"


class Name(StrEnum):
    """The metrics, by name."""

    SERVER_DURATION = "mcp.server.operation.duration"
    CLIENT_DURATION = "mcp.client.operation.duration"
    DECISIONS = "gateway.authorization.decisions"
    AUTHORIZATION = "gateway.authorization.duration"
    LIMIT_REFUSALS = "gateway.limit.refusals"
    POLICY_ERRORS = "gateway.policy.errors"
    POLICY_RELOADS = "gateway.policy.reloads"
    SHADOW_MISMATCHES = "gateway.shadow.mismatches"
    REDACTIONS = "gateway.redaction.replacements"
    SCHEMA_CHANGES = "gateway.upstream.schema_changes"
    APPROVALS_PENDING = "gateway.approval.pending"
    APPROVAL_WAIT = "gateway.approval.wait"
    AUDIT_BACKLOG = "gateway.audit.backlog"
    CHECKPOINT_AGE = "gateway.audit.checkpoint.age"
    DROPPED = "gateway.telemetry.dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One row of the reference: unit (UCUM), labels, meaning."""

    kind: Kind
    unit: str
    labels: tuple[str, ...]
    meaning: str


_TOOL: Final = (keys.TOOL, keys.PROMPT, keys.SERVER)
_OPERATION: Final = (keys.METHOD, keys.OPERATION, *_TOOL, keys.NETWORK, keys.ERROR_TYPE)
SIGNAL: Final = "gateway.telemetry.signal"
OUTCOME: Final = "gateway.policy.reload.outcome"


def _row(kind: Kind, unit: str, labels: tuple[str, ...], meaning: str) -> Metric:
    return Metric(kind=kind, unit=unit, labels=labels, meaning=meaning)


METRICS: Final[Mapping[Name, Metric]] = {
    Name.SERVER_DURATION: _row(
        Kind.HISTOGRAM, "s", (*_OPERATION, keys.STATUS), "a call, from its arrival to its answer"
    ),
    Name.CLIENT_DURATION: _row(
        Kind.HISTOGRAM, "s", _OPERATION, "the downstream's part, from sending to its answer"
    ),
    Name.DECISIONS: _row(
        Kind.COUNTER,
        "{decision}",
        (keys.DECISION, keys.CODE, *_TOOL, keys.ENFORCEMENT),
        "calls judged; `shadow` counts what rules in shadow mode would have decided, `observed` "
        "decisions that were only recorded",
    ),
    Name.AUTHORIZATION: _row(
        Kind.HISTOGRAM, "s", (keys.DECISION,), "from a call's arrival to its verdict"
    ),
    Name.LIMIT_REFUSALS: _row(Kind.COUNTER, "{call}", _TOOL, "calls refused by a limit"),
    Name.POLICY_ERRORS: _row(
        Kind.COUNTER, "{call}", (keys.RULE,), "calls refused because a condition could not decide"
    ),
    Name.POLICY_RELOADS: _row(
        Kind.COUNTER, "{reload}", (OUTCOME,), "policy reloads: `activated` or `refused`"
    ),
    Name.SHADOW_MISMATCHES: _row(
        Kind.COUNTER,
        "{decision}",
        (keys.SHADOW_RULE, keys.DECISION, keys.SHADOW),
        "shadow decisions that differ from what was enforced, from one to the other",
    ),
    Name.REDACTIONS: _row(
        Kind.COUNTER, "{value}", _TOOL, "values taken out of results before they left"
    ),
    Name.SCHEMA_CHANGES: _row(
        Kind.COUNTER, "{change}", (keys.SERVER,), "tool definitions that no longer match their pin"
    ),
    Name.APPROVALS_PENDING: _row(
        Kind.GAUGE,
        "{request}",
        (),
        "requests for approval that wait for a decision in the store, which replicas share",
    ),
    Name.APPROVAL_WAIT: _row(
        Kind.HISTOGRAM,
        "s",
        (keys.APPROVAL_OUTCOME, keys.TOOL, keys.SERVER),
        "from a request for approval to its end, by the gateway that asked: `approved`, `denied`, "
        "`expired`, `cancelled` or `superseded`",
    ),
    Name.AUDIT_BACKLOG: _row(Kind.GAUGE, "{event}", (), "events that wait for the store"),
    Name.CHECKPOINT_AGE: _row(
        Kind.GAUGE, "s", (), "for how long the oldest event that no checkpoint covers has waited"
    ),
    Name.DROPPED: _row(
        Kind.GAUGE, "{call}", (SIGNAL,), "calls whose telemetry was dropped since the start"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Something to count that is no call."""

    name: Name
    labels: Labels


Gauges: TypeAlias = dict[Name, Reading]  # filled in by whoever can read them, at any time

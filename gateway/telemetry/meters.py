"""How finished calls become values of the instruments.

Imports OpenTelemetry, so it is itself imported late: by the export thread only.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, Observation

from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.telemetry.metrics import METRICS, Gauges, Kind, Labels, Name, Tick
from gateway.types import tools
from gateway.types.calls import Method
from gateway.types.outcomes import Status

# Buckets of the GenAI conventions v0.1.0, in seconds.
BUCKETS_S: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
# Judging takes tens of microseconds; the buckets above would put every call into the first.
FINE_BUCKETS_S: Final = (2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 0.05, 0.1, 0.5, 1)
# People take their time; a request waits for a day at most before somebody should hear of it.
WAIT_BUCKETS_S: Final = (
    *(1, 5, 15, 30, 60, 120, 300, 600, 1800),
    *(3600, 7200, 14_400, 28_800, 43_200, 86_400),
)
# A server that keeps inventing tools or error codes must not grow our memory, or the backend's.
MAX_TOOLS: Final = 1000
MAX_CODES: Final = 100
OTHER: Final = "_other"
# The policy engine and the judge give these codes when they refuse because they broke.
POLICY_ERRORS: Final = frozenset({"policy_evaluation_error", "obligation_conflict", "check_failed"})

_Value = TypeVar("_Value")


class Meters:
    """Turns finished calls into values of the instruments; used by one thread."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._tools: set[tuple[str, str, str]] = set()
        self._codes: set[str] = set()
        self._durations = {
            Name.SERVER_DURATION: self._histogram(Name.SERVER_DURATION, BUCKETS_S),
            Name.CLIENT_DURATION: self._histogram(Name.CLIENT_DURATION, BUCKETS_S),
            Name.AUTHORIZATION: self._histogram(Name.AUTHORIZATION, FINE_BUCKETS_S),
            Name.APPROVAL_WAIT: self._histogram(Name.APPROVAL_WAIT, WAIT_BUCKETS_S),
        }
        self._counters: dict[Name, Counter] = {
            name: meter.create_counter(name, row.unit, row.meaning)
            for name, row in METRICS.items()
            if row.kind is Kind.COUNTER
        }

    def watch(self, name: Name, gauges: Gauges) -> None:
        """Read a gauge, if there is a reader for it, whenever metrics are exported."""

        def observe(_: CallbackOptions) -> Iterable[Observation]:
            read = gauges.get(name)
            return [Observation(value, labels) for value, labels in read()] if read else []

        row = METRICS[name]
        self._meter.create_observable_gauge(name, [observe], row.unit, row.meaning)

    def record(self, item: CallFacts | ApprovalFacts | Tick) -> None:
        """Count one thing."""
        if isinstance(item, Tick):
            self._counters[item.name].add(1, item.labels)
            return
        if isinstance(item, ApprovalFacts):
            labels = self._named(keys.TOOL, item.server, item.tool)
            labels[keys.APPROVAL_OUTCOME] = item.outcome
            self._durations[Name.APPROVAL_WAIT].record(item.wait_s, labels)
            return
        tool = self._tool_labels(item)
        self._record_durations(item, tool)
        if item.judged_ns:
            self._record_judgement(item, tool)
        if item.status is Status.LIMIT_EXCEEDED:
            self._counters[Name.LIMIT_REFUSALS].add(1, tool)
        if item.redactions:
            self._counters[Name.REDACTIONS].add(item.redactions, tool)

    def _record_durations(self, facts: CallFacts, tool: Labels) -> None:
        base = {keys.METHOD: facts.method.value, **tool}
        if facts.method is Method.CALL_TOOL:
            base[keys.OPERATION] = "execute_tool"
        labels = base | self._outcome(facts.transport, facts.failure)
        labels[keys.STATUS] = facts.status.value
        duration = _seconds(facts.received_ns, facts.closed_ns)
        self._durations[Name.SERVER_DURATION].record(duration, labels)
        if facts.sent_ns:
            labels = base | self._outcome(facts.downstream_transport, facts.downstream_failure)
            duration = _seconds(facts.sent_ns, facts.answered_ns or facts.closed_ns)
            self._durations[Name.CLIENT_DURATION].record(duration, labels)

    def _record_judgement(self, facts: CallFacts, tool: Labels) -> None:
        verdict = {keys.DECISION: facts.verdict}
        duration = _seconds(facts.received_ns, facts.judged_ns)
        self._durations[Name.AUTHORIZATION].record(duration, verdict)
        decisions = self._counters[Name.DECISIONS]
        labels = {keys.CODE: facts.code, **tool, keys.ENFORCEMENT: facts.enforcement}
        decisions.add(1, verdict | labels)
        for shadow in facts.shadow:
            labels = {keys.CODE: shadow.code, **tool, keys.ENFORCEMENT: "shadow"}
            decisions.add(1, {keys.DECISION: shadow.effect.value} | labels)
            if shadow.effect != facts.verdict:
                labels = {keys.SHADOW_RULE: shadow.rule, keys.SHADOW: shadow.effect.value}
                self._counters[Name.SHADOW_MISMATCHES].add(1, verdict | labels)
        if facts.code in POLICY_ERRORS:
            self._counters[Name.POLICY_ERRORS].add(1, {keys.RULE: facts.rule})

    def _outcome(self, transport: str, failure: str) -> dict[str, str]:
        labels = {keys.NETWORK: "pipe" if transport == "stdio" else "tcp"}
        if failure:
            labels[keys.ERROR_TYPE] = (
                failure if _is_known(failure, self._codes, MAX_CODES) else OTHER
            )
        return labels

    def _tool_labels(self, facts: CallFacts) -> dict[str, str]:
        """Name server and tool or prompt; URIs have no bound and are no labels."""
        if not facts.target:
            return {keys.SERVER: facts.server}
        key = keys.PROMPT if facts.kind is tools.Kind.PROMPT else keys.TOOL
        return self._named(key, facts.server, facts.target)

    def _named(self, key: str, server: str, name: str) -> dict[str, str]:
        known = _is_known((key, server, name), self._tools, MAX_TOOLS)
        return {key: name if known else OTHER, keys.SERVER: server}

    def _histogram(self, name: Name, buckets: tuple[float, ...]) -> Histogram:
        row = METRICS[name]
        return self._meter.create_histogram(
            name, row.unit, row.meaning, explicit_bucket_boundaries_advisory=buckets
        )


def _is_known(value: _Value, known: set[_Value], most: int) -> bool:
    if value not in known:
        if len(known) >= most:
            return False
        known.add(value)
    return True


def _seconds(start_ns: int, end_ns: int) -> float:
    return max(0, end_ns - start_ns) / 1e9

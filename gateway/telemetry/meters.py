"""How finished calls become values of the instruments.

Imports OpenTelemetry, so it is itself imported late: by the export thread only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from opentelemetry.metrics import CallbackOptions, Counter, Meter, Observation

from gateway.telemetry import attributes as keys
from gateway.telemetry.durations import Durations, Series
from gateway.telemetry.facts import CallFacts
from gateway.telemetry.metrics import METRICS, Gauges, Kind, Labels, Name, Tick
from gateway.telemetry.stencils import Measured, Timed
from gateway.types import tools
from gateway.types.calls import Method
from gateway.types.outcomes import Status

# A server that keeps inventing tools or error codes must not grow our memory, or the backend's.
MAX_TOOLS: Final = 1000
MAX_CODES: Final = 100
OTHER: Final = "_other"
MAX_ALIKE: Final = 4096  # sets of labels that are kept at hand; all go when there are more
# The policy engine and the judge give these codes when they refuse because they broke.
POLICY_ERRORS: Final = frozenset({"policy_evaluation_error", "obligation_conflict", "check_failed"})

_Value = TypeVar("_Value")


@dataclass(slots=True, kw_only=True)
class _Alike:
    """Where calls that are alike are counted, and how many are still to be, as decisions."""

    server: Series
    client: Series
    verdict: Series
    decision: Labels
    judged: int = 0


class Meters:
    """Turns finished calls into values of the instruments; used by one thread.

    An instrument takes microseconds to find out what its labels stand for. So that is found out
    once for calls that are alike, and what is only counted is counted here until the batch is
    through.
    """

    def __init__(self, meter: Meter, durations: Durations) -> None:
        self._meter = meter
        self._durations = durations
        self._tools: set[tuple[str, str, str]] = set()
        self._codes: set[str] = set()
        self._alike: dict[tuple[object, ...], _Alike] = {}
        self._judged: list[_Alike] = []
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

    def record(self, items: Iterable[Measured]) -> None:
        """Count what is in a batch."""
        try:
            with self._durations.lock:
                for item in items:
                    self._record(item)
        finally:
            for alike in self._judged:
                self._counters[Name.DECISIONS].add(alike.judged, alike.decision)
                alike.judged = 0
            self._judged.clear()

    def _record(self, item: Measured) -> None:
        if isinstance(item, Timed):
            self._record_alike(item)
        elif isinstance(item, CallFacts):
            self._record_call(item)
        elif isinstance(item, Tick):
            self._counters[item.name].add(1, item.labels)
        else:
            labels = self._named(keys.TOOL, item.server, item.tool)
            labels[keys.APPROVAL_OUTCOME] = item.outcome
            self._durations.of(Name.APPROVAL_WAIT, labels).record(item.wait_s)

    def _record_alike(self, item: Timed) -> None:
        """Count one that was sent and answered, of calls that have nothing else to count."""
        stencil, received, judged, sent, answered, closed = item
        alike = stencil.counted
        if not isinstance(alike, _Alike):
            alike = stencil.counted = self._labels(stencil.facts)
        alike.server.record(_seconds(received, closed))
        alike.client.record(_seconds(sent, answered))
        alike.verdict.record(_seconds(received, judged))
        if not alike.judged:
            self._judged.append(alike)
        alike.judged += 1

    def _record_call(self, facts: CallFacts) -> None:
        alike = self._labels(facts)
        alike.server.record(_seconds(facts.received_ns, facts.closed_ns))
        if facts.sent_ns:
            alike.client.record(_seconds(facts.sent_ns, facts.answered_ns or facts.closed_ns))
        if facts.judged_ns:
            alike.verdict.record(_seconds(facts.received_ns, facts.judged_ns))
            if not alike.judged:
                self._judged.append(alike)
            alike.judged += 1
            if facts.shadow:
                self._record_shadows(facts)
            if facts.code in POLICY_ERRORS:
                self._counters[Name.POLICY_ERRORS].add(1, {keys.RULE: facts.rule})
        if facts.status is Status.LIMIT_EXCEEDED:
            self._counters[Name.LIMIT_REFUSALS].add(1, self._tool_labels(facts))
        if facts.redactions:
            self._counters[Name.REDACTIONS].add(facts.redactions, self._tool_labels(facts))

    def _record_shadows(self, facts: CallFacts) -> None:
        tool = self._tool_labels(facts)
        for shadow in facts.shadow:
            labels = {keys.CODE: shadow.code, **tool, keys.ENFORCEMENT: "shadow"}
            effect = {keys.DECISION: shadow.effect.value}
            self._counters[Name.DECISIONS].add(1, effect | labels)
            if shadow.effect != facts.verdict:
                labels = {keys.SHADOW_RULE: shadow.rule, keys.SHADOW: shadow.effect.value}
                verdict = {keys.DECISION: facts.verdict}
                self._counters[Name.SHADOW_MISMATCHES].add(1, verdict | labels)

    def _labels(self, facts: CallFacts) -> _Alike:
        tool = facts.tool
        # INVARIANT: all that `_made` goes by.
        key = (
            *(facts.method, facts.transport, facts.status, facts.tool_error, facts.error_code),
            *(facts.downstream_transport, facts.answered_ns == 0),
            *(facts.verdict, facts.code, facts.observed == ""),
            *((tool.kind, tool.server, tool.name) if tool is not None else ()),
        )
        found = self._alike.get(key)
        if found is None:
            found = self._made(facts)
            if len(self._alike) >= MAX_ALIKE:
                self._alike.clear()
            self._alike[key] = found
        return found

    def _made(self, facts: CallFacts) -> _Alike:
        tool = self._tool_labels(facts)
        base = {keys.METHOD: facts.method.value, **tool}
        if facts.method is Method.CALL_TOOL:
            base[keys.OPERATION] = "execute_tool"
        server = base | self._outcome(facts.transport, facts.failure)
        verdict = {keys.DECISION: facts.verdict}
        client = base | self._outcome(facts.downstream_transport, facts.downstream_failure)
        series = self._durations.of
        return _Alike(
            server=series(Name.SERVER_DURATION, server | {keys.STATUS: facts.status.value}),
            client=series(Name.CLIENT_DURATION, client),
            verdict=series(Name.AUTHORIZATION, verdict),
            decision={
                **verdict,
                keys.CODE: facts.code,
                **tool,
                keys.ENFORCEMENT: facts.enforcement,
            },
        )

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


def _is_known(value: _Value, known: set[_Value], most: int) -> bool:
    if value not in known:
        if len(known) >= most:
            return False
        known.add(value)
    return True


def _seconds(start_ns: int, end_ns: int) -> float:
    return max(0, end_ns - start_ns) / 1e9

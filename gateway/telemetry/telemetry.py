"""Telemetry as the rest of the gateway sees it: a place in a trace before, a record after.

Nothing in here blocks or raises on the path of a call, whatever the collector does. Without an
exporter there are no threads and no SDK; only trace context passes through.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway import __version__, ids
from gateway.clock import Clock, SystemClock
from gateway.telemetry import context, environment
from gateway.telemetry.context import Trace
from gateway.telemetry.environment import Environment, ExporterKind, Signal
from gateway.telemetry.facts import (
    CallFacts,
    SpanItem,
    approval_facts,
    facts_of,
)
from gateway.telemetry.health import Health, SignalState, silence_sdk
from gateway.telemetry.lane import Lane, Sink
from gateway.telemetry.metrics import OUTCOME, SIGNAL, Gauges, Labels, Name, Tick
from gateway.telemetry.options import IncomingContext, TelemetryOptions
from gateway.telemetry.stencils import Measured, Spanned, Stencil, Timed, Write
from gateway.types.approvals import Approval
from gateway.types.calls import ProposedCall
from gateway.types.records import CallRecord

_LOG: Final = logging.getLogger(__name__)
# The SDK's import takes a third of a second of the interpreter: not while the gateway starts.
_WARM_UP_S: Final = 1.0
_METRICS_QUEUE: Final = 8192
_METRICS_BATCH: Final = 64  # a tenth of a millisecond of the interpreter, in which calls wait
_METRICS_DELAY_S: Final = 1.0
_REGULAR_SHARE: Final = 0.75  # of the time for stopping; then retries are broken off

Early: TypeAlias = Callable[[CallFacts], Sequence[bytes] | None]
EarlyFor: TypeAlias = Callable[[CallFacts], Write | None]
Pseudonym: TypeAlias = Callable[[str, str], str]  # (tenant, user) → keyed hash; any thread
Redacted: TypeAlias = Callable[[CallRecord], str]  # the arguments as they may be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryState:
    """What `weighbridge status` and `doctor` show; `warnings` are lines for people."""

    traces: SignalState
    metrics: SignalState
    warnings: tuple[str, ...]


class Telemetry:
    """Spans and metrics of finished calls; made by `start`, ended by `shutdown`."""

    def __init__(
        self,
        options: TelemetryOptions,
        variables: Environment,
        *,
        pseudonym: Pseudonym | None,
        redacted: Redacted | None,
        clock: Clock,
    ) -> None:
        self._options = options
        self._environment = variables
        self._clock = clock
        self._pseudonym = pseudonym
        self._redacted = redacted if options.capture_content else None
        self._incoming = (
            options.incoming_context if variables.propagates else IncomingContext.IGNORE
        )
        self._value_length = variables.value_length or options.value_length
        self._resource = _resource(options, variables)
        self._gauges: Gauges = {Name.DROPPED: self._read_dropped}
        # Both are set by the export thread, when it has made them.
        self._early: Early | None = None
        self._early_for: EarlyFor | None = None
        self._unrecorded = 0  # records that could not even be read: our own fault
        if variables.exports:
            silence_sdk()
        self._traces_health = _health("traces", variables.traces, clock)
        self._metrics_health = _health("metrics", variables.metrics, clock)
        self._traces = self._open_traces()
        self._metrics = self._open_metrics()

    @classmethod
    def start(
        cls,
        settings: TelemetryOptions,
        environ: Mapping[str, str],
        *,
        pseudonym: Pseudonym | None = None,
        redacted: Redacted | None = None,
        clock: Clock | None = None,
    ) -> "Telemetry":
        """Read `OTEL_*`, say what is wrong with it, and start exporting if something is set.

        Without `pseudonym` no span names a user; without `redacted` none carries arguments.
        """
        variables = environment.read(environ)
        for line in variables.warnings:
            _LOG.warning("%s", line)
        return cls(
            settings,
            variables,
            pseudonym=pseudonym,
            redacted=redacted,
            clock=clock or SystemClock(),
        )

    @property
    def is_traced(self) -> bool:
        """Whether spans are exported."""
        return self._traces is not None

    def trace_for(self, call: ProposedCall) -> Trace:
        """Give a call its place in the caller's trace, or in a new one."""
        return context.begin(call, self._incoming, self._environment.sampler)

    def outgoing(self, trace: Trace) -> str:
        """Return `traceparent` for the downstream; empty when propagation is turned off.

        Neither baggage nor tracestate goes along: tool servers are third parties.
        """
        return context.traceparent(trace) if self._environment.propagates else ""

    def record(self, record: CallRecord) -> None:
        """Take note of a finished call; never blocks, never raises."""
        traces = self._traces if record.sampled else None
        if traces is None and self._metrics is None:
            return
        try:
            content = self._redacted(record) if traces and self._redacted is not None else ""
            facts = facts_of(record, content[: self._value_length])
        except Exception:  # telemetry must not cost a call its answer; the count tells
            self._unrecorded += 1
            return
        if traces is not None:
            traces.put(self._written(facts) or facts)
        if self._metrics is not None:
            self._metrics.put(facts)

    @property
    def has_stencils(self) -> bool:
        """Whether calls that are alike can be recorded as such.

        Not while nobody can write their spans, and not where these show arguments.
        """
        if self._traces is None:
            return True
        return self._early_for is not None and self._redacted is None

    def stencil(self, record: CallRecord) -> Stencil | None:
        """Return what calls like a finished one have in common, for `record_alike`.

        None where it is not all told by ids and times.
        """
        facts = facts_of(record)
        if self._traces is None:
            return Stencil(facts, None)
        write = self._early_for(facts) if self.has_stencils and self._early_for else None
        return Stencil(facts, write) if write is not None else None

    def record_alike(self, call: Spanned, stencil: Stencil, *, sampled: bool) -> None:
        """Take note of a finished call that was sent and answered; never blocks, never raises."""
        if self._traces is not None and sampled and stencil.write is not None:
            try:
                self._traces.put(b"".join(stencil.write(call)))
            except Exception:  # as in `record`
                self._unrecorded += 1
        if self._metrics is not None:
            self._metrics.put(
                Timed(
                    stencil,
                    call.received_ns,
                    call.judged_ns,
                    call.sent_ns,
                    call.answered_ns,
                    call.closed_ns,
                )
            )

    def schema_changed(self, server: str) -> None:
        """Count a tool definition that no longer matches its pin."""
        self._tick(Name.SCHEMA_CHANGES, {"gateway.server.name": server})

    def policy_reloaded(self, *, activated: bool) -> None:
        """Count a policy reload, whether it took effect or was refused."""
        self._tick(Name.POLICY_RELOADS, {OUTCOME: "activated" if activated else "refused"})

    def watch_backlog(self, read: Callable[[], float]) -> None:
        """Export how many events wait for the store; `read` is called from another thread."""
        self._gauges[Name.AUDIT_BACKLOG] = lambda: [(read(), {})]

    def watch_checkpoints(self, read: Callable[[], float]) -> None:
        """Export how long an event has waited for a checkpoint; `read` as above."""
        self._gauges[Name.CHECKPOINT_AGE] = lambda: [(read(), {})]

    def watch_approvals(self, read: Callable[[], float]) -> None:
        """Export how many requests wait for a decision; `read` is called from another thread."""
        self._gauges[Name.APPROVALS_PENDING] = lambda: [(read(), {})]

    def approval_ended(self, approval: Approval, ended_at: int) -> None:
        """Note how a request for approval ended, and when, in microseconds since 1970."""
        asked_by = context.parse(approval.trace)
        facts = approval_facts(
            approval, ended_at=ended_at, asked_by=asked_by, ids=(ids.trace_id(), ids.span_id())
        )
        # Its trace is kept where that of the call that asked is.
        if self._traces is not None and (
            asked_by.sampled
            if asked_by is not None
            else self._environment.sampler.samples(facts.trace_id, None)
        ):
            self._traces.put(facts)
        if self._metrics is not None:
            self._metrics.put(facts)

    def state(self) -> TelemetryState:
        """Return how export fares."""
        return TelemetryState(
            traces=self._signal_state(
                self._environment.traces, self._traces_health, self._traces, self._unrecorded
            ),
            metrics=self._signal_state(
                self._environment.metrics, self._metrics_health, self._metrics, 0
            ),
            warnings=self._environment.warnings,
        )

    def flush(self, timeout_s: float = 2.0) -> bool:
        """Send what there is; False when that took longer than `timeout_s` seconds. Blocks."""
        until = self._clock.monotonic() + timeout_s
        asked = [(lane, lane.ask_flush()) for lane in self._lanes()]
        return all(
            lane.await_flush(ticket, max(0.0, until - self._clock.monotonic()))
            for lane, ticket in asked
        )

    def shutdown(self, timeout_s: float = 2.0) -> bool:
        """Send what there is and end, within `timeout_s` seconds whatever the collector does.

        Blocks; False when a thread hangs in a socket and was left to end with the process.
        """
        start = self._clock.monotonic()
        lanes = self._lanes()
        for lane in lanes:
            lane.stop()
        regular, last = start + timeout_s * _REGULAR_SHARE, start + timeout_s
        for lane in [one for one in lanes if not one.wait(regular - self._clock.monotonic())]:
            lane.abort()
        return all(lane.wait(last - self._clock.monotonic()) for lane in lanes)

    def _written(self, facts: CallFacts) -> bytes:
        """Return the spans of a usual call; nothing for one that has more to say, or is odd.

        That takes less here than in a thread that has to be given the interpreter for it, while a
        call waits; and bytes are nothing for the collector of cycles to go through.
        """
        early = self._early
        if early is None:
            return b""
        try:
            return b"".join(early(facts) or ())
        except Exception:  # the thread finds the same, and tells
            return b""

    def _lanes(
        self,
    ) -> "list[Lane[SpanItem] | Lane[Measured]]":
        return [lane for lane in (self._traces, self._metrics) if lane is not None]

    def _tick(self, name: Name, labels: Labels) -> None:
        if self._metrics is not None:
            self._metrics.put(Tick(name=name, labels=labels))

    def _read_dropped(self) -> Iterable[tuple[float, Labels]]:
        state = self.state()
        return [(one.dropped, {SIGNAL: one.signal}) for one in (state.traces, state.metrics)]

    def _signal_state(
        self,
        signal: Signal,
        health: Health,
        lane: Lane[SpanItem] | Lane[Measured] | None,
        unrecorded: int,
    ) -> SignalState:
        return SignalState(
            signal=health.signal,
            exporter=signal.exporter.value,
            endpoint=signal.destination.host if signal.destination is not None else "",
            exported=health.exported,
            dropped=health.lost + unrecorded + (lane.dropped if lane is not None else 0),
            waiting=lane.waiting if lane is not None else 0,
            last_error=health.last_error,
        )

    def _open_traces(self) -> Lane[SpanItem] | None:
        if self._environment.traces.exporter is ExporterKind.NONE:
            return None

        def open_sink() -> Sink[SpanItem]:
            # Late on purpose, see `_WARM_UP_S`; a broken SDK must not keep the gateway down.
            from gateway.telemetry.exporters import open_spans  # noqa: PLC0415

            sink = open_spans(
                self._environment,
                self._resource,
                self._value_length,
                self._pseudonym,
                self._traces_health,
            )
            if sink.early is not None:
                self._early, self._early_for = sink.early.at_once, sink.early.writer_for
            return sink

        health = self._traces_health
        return Lane(
            "traces",
            open_sink,
            capacity=self._environment.queue,
            batch=self._environment.batch,
            delay_s=self._environment.delay_s,
            warm_up_s=_WARM_UP_S,
            failed=lambda error, count: health.failed(type(error).__name__, lost=count),
        )

    def _open_metrics(self) -> "Lane[Measured] | None":
        if self._environment.metrics.exporter is ExporterKind.NONE:
            return None

        def open_sink() -> Sink[Measured]:
            # Late on purpose, see `_WARM_UP_S`; a broken SDK must not keep the gateway down.
            from gateway.telemetry.exporters import open_metrics  # noqa: PLC0415

            return open_metrics(
                self._environment, self._resource, self._gauges, self._metrics_health
            )

        health = self._metrics_health
        return Lane(
            "metrics",
            open_sink,
            capacity=_METRICS_QUEUE,
            batch=_METRICS_BATCH,
            delay_s=_METRICS_DELAY_S,
            warm_up_s=_WARM_UP_S,
            failed=lambda error, count: health.failed(type(error).__name__, lost=count),
        )


def _health(signal: str, plan: Signal, clock: Clock) -> Health:
    host = plan.destination.host if plan.destination is not None else plan.exporter.value
    return Health(signal, host, clock)


def _resource(options: TelemetryOptions, variables: Environment) -> dict[str, str]:
    return {
        "service.version": __version__,
        "service.instance.id": ids.ulid(),  # keeps the sums of equal replicas apart
        **({"gateway.worker": str(options.worker)} if options.worker is not None else {}),
        **variables.resource,
        "service.name": variables.service_name or options.service_name,
    }

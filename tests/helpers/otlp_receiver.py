"""A small real OTLP/HTTP receiver: it listens on a socket, decodes protobuf, and can misbehave."""

import gzip
import threading
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

WAIT_S = 15.0
KINDS = {0: "UNSPECIFIED", 1: "INTERNAL", 2: "SERVER", 3: "CLIENT"}
STATUSES = {0: "UNSET", 1: "OK", 2: "ERROR"}


@dataclass(frozen=True, kw_only=True)
class Span:
    """A received span, ids as lower-case hex, times in nanoseconds."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    state: str
    status: str
    description: str
    start: int
    end: int
    attributes: dict[str, Any]
    links: list[tuple[str, str]]  # trace id, span id
    events: list[str]
    resource: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A received data point: a sum or gauge's value, or a histogram's count and sum."""

    name: str
    unit: str
    labels: dict[str, Any]
    value: float
    count: int
    bounds: list[float]
    resource: dict[str, Any]
    temporality: int = 0  # as in OTLP: 1 for values since the last export, 2 for those since ever


@dataclass(frozen=True, kw_only=True)
class Request:
    """One HTTP request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes  # decompressed


@dataclass(kw_only=True)
class OtlpReceiver:
    """What was received; `answer` is the status of the next replies, `hang` holds them back."""

    url: str = ""
    answer: int = 200
    hang: bool = False
    requests: list[Request] = field(default_factory=list[Request])
    changed: threading.Condition = field(default_factory=threading.Condition)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def spans(self) -> list[Span]:
        """All spans that were accepted, in order."""
        return [span for body in self._bodies("/v1/traces") for span in _spans(body)]

    @property
    def points(self) -> list[Point]:
        """The points of the last accepted export of metrics."""
        bodies = self._bodies("/v1/metrics")
        return list(_points(bodies[-1])) if bodies else []

    @property
    def log_records(self) -> int:
        """How many log records were accepted."""
        return sum(
            len(scope.log_records)
            for body in self._bodies("/v1/logs")
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
        )

    def named(self, name: str, **labels: str) -> list[Point]:
        """The last points of one metric; label names with `__` for `.`."""
        wanted = {key.replace("__", "."): value for key, value in labels.items()}
        return [
            point
            for point in self.points
            if point.name == name and wanted.items() <= point.labels.items()
        ]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds, looking again at each request; at most 5 seconds."""
        with self.changed:
            assert self.changed.wait_for(condition, WAIT_S), "nothing of the kind was received"

    def wait_for_spans(self, count: int) -> list[Span]:
        """Wait for so many spans."""
        self.wait_for(lambda: len(self.spans) >= count)
        return self.spans

    def take(self, request: Request) -> int:
        """Keep a request and return the status to answer with; waits while `hang` is set."""
        with self.changed:
            self.requests.append(request)
            answer, hang = self.answer, self.hang
            self.changed.notify_all()
        if hang:
            self.released.wait()
        return answer

    def _bodies(self, path: str) -> list[bytes]:
        if self.answer != 200 or self.hang:
            return []
        return [request.body for request in list(self.requests) if request.path == path]


@contextmanager
def otlp_receiver() -> Generator[OtlpReceiver]:
    """Listen on a free port of 127.0.0.1 until the block ends."""
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.take(
                Request(path=self.path, headers=headers, body=_decompressed(body, headers))
            )
            try:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                pass  # the client gave up on us, which is what a hanging receiver is for

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    server = Server(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join(WAIT_S)


def _decompressed(body: bytes, headers: dict[str, str]) -> bytes:
    match headers.get("content-encoding"):
        case "gzip":
            return gzip.decompress(body)
        case "deflate":
            return zlib.decompress(body)
        case _:
            return body


def _spans(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        about = _attributes(resource.resource.attributes)
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            yield Span(
                name=span.name,
                kind=KINDS[span.kind],
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                state=span.trace_state,
                status=STATUSES[span.status.code],
                description=span.status.message,
                start=span.start_time_unix_nano,
                end=span.end_time_unix_nano,
                attributes=_attributes(span.attributes),
                links=[(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                events=[event.name for event in span.events],
                resource=about,
            )


def _points(body: bytes) -> Iterator[Point]:
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        about = _attributes(resource.resource.attributes)
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            for point in metric.histogram.data_points:
                yield Point(
                    name=metric.name,
                    unit=metric.unit,
                    labels=_attributes(point.attributes),
                    value=point.sum,
                    count=point.count,
                    bounds=list(point.explicit_bounds),
                    resource=about,
                    temporality=metric.histogram.aggregation_temporality,
                )
            for number in [*metric.sum.data_points, *metric.gauge.data_points]:
                yield Point(
                    name=metric.name,
                    unit=metric.unit,
                    labels=_attributes(number.attributes),
                    value=number.as_double or float(number.as_int),
                    count=1,
                    bounds=[],
                    resource=about,
                )


def _attributes(pairs: "list[KeyValue] | Any") -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    field_name = value.WhichOneof("value")
    if field_name == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, field_name) if field_name else None

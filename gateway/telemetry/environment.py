"""The `OTEL_*` variables, read once and without the SDK; what is wrong becomes a warning."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import unquote, urlsplit

from gateway.telemetry.sampling import DEFAULT_SAMPLER, SAMPLERS, Sampler, sampler_named

# What is honoured, for the reference page; `…` stands for TRACES and METRICS.
VARIABLES: Final[Mapping[str, str]] = {
    "OTEL_SDK_DISABLED": "`true`: nothing is exported; trace context is still passed on",
    "OTEL_TRACES_EXPORTER": "`otlp`, `console` (to standard error) or `none`",
    "OTEL_METRICS_EXPORTER": "`otlp`, `console` (to standard error) or `none`",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "base URL; `/v1/traces` and `/v1/metrics` are appended",
    "OTEL_EXPORTER_OTLP_…_ENDPOINT": "URL of one signal, taken as it is",
    "OTEL_EXPORTER_OTLP_HEADERS": "`key=value,key=value`, percent-encoded; never logged",
    "OTEL_EXPORTER_OTLP_…_HEADERS": "the same for one signal",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "seconds for one export with its retries, 10 by default",
    "OTEL_EXPORTER_OTLP_…_TIMEOUT": "the same for one signal",
    "OTEL_EXPORTER_OTLP_COMPRESSION": "`none`, `gzip` or `deflate`",
    "OTEL_EXPORTER_OTLP_…_COMPRESSION": "the same for one signal",
    "OTEL_EXPORTER_OTLP_CERTIFICATE": "file of the certificate authorities to trust",
    "OTEL_EXPORTER_OTLP_…_CERTIFICATE": "the same for one signal",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY": "file of our key, for mutual TLS",
    "OTEL_EXPORTER_OTLP_…_CLIENT_KEY": "the same for one signal",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "file of our certificate, for mutual TLS",
    "OTEL_EXPORTER_OTLP_…_CLIENT_CERTIFICATE": "the same for one signal",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "only `http/protobuf`; anything else is warned about",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "`cumulative`, `delta` or `lowmemory`",
    "OTEL_SERVICE_NAME": "name of this service; wins over the configuration",
    "OTEL_RESOURCE_ATTRIBUTES": "`key=value,key=value`, percent-encoded",
    "OTEL_TRACES_SAMPLER": "which traces are exported; `parentbased_always_on` by default",
    "OTEL_TRACES_SAMPLER_ARG": "share from 0 to 1 for the samplers with `traceidratio`",
    "OTEL_PROPAGATORS": "a list without `tracecontext` turns trace context off, both ways",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "longest attribute value in characters",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "the same, and wins",
    "OTEL_BSP_MAX_QUEUE_SIZE": "finished calls that may wait for export, 2048 by default",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "calls in one export, 512 by default",
    "OTEL_BSP_SCHEDULE_DELAY": "milliseconds between exports, 5000 by default",
    "OTEL_METRIC_EXPORT_INTERVAL": "milliseconds between exports, 60000 by default",
}
_DEFAULT_ENDPOINT: Final = "http://localhost:4318"
_DEFAULT_TIMEOUT_S: Final = 10.0
_COMPRESSIONS: Final = frozenset({"none", "gzip", "deflate"})
_PORTS: Final = {"http": 80, "https": 443}


class ExporterKind(StrEnum):
    """Where one signal goes."""

    NONE = "none"
    OTLP = "otlp"
    CONSOLE = "console"


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """An OTLP/HTTP receiver for one signal; `headers` may hold credentials."""

    endpoint: str = field(repr=False)  # may hold a credential in its user part or query
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout_s: float = _DEFAULT_TIMEOUT_S
    compression: str = "none"
    certificate: str | None = None
    client_key: str | None = None
    client_certificate: str | None = None

    @property
    def host(self) -> str:
        """Return `host:port`, all that people need to see of an endpoint."""
        parts = urlsplit(self.endpoint)
        name = parts.hostname or ""
        name = f"[{name}]" if ":" in name else name
        return f"{name}:{parts.port or _PORTS.get(parts.scheme, 0)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What happens to traces or to metrics."""

    exporter: ExporterKind = ExporterKind.NONE
    destination: Destination | None = None  # for OTLP


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """All variables as values, and one line for each that could not be used."""

    traces: Signal
    metrics: Signal
    sampler: Sampler
    propagates: bool
    service_name: str  # empty: the configuration's
    resource: Mapping[str, str]
    queue: int
    batch: int
    delay_s: float
    metric_interval_s: float
    sums_from_start: bool  # histograms are exported as they mostly are: summed up, in fixed buckets
    value_length: int | None
    warnings: tuple[str, ...]

    @property
    def exports(self) -> bool:
        """Return whether anything leaves this process."""
        return any(
            signal.exporter is not ExporterKind.NONE for signal in (self.traces, self.metrics)
        )


class _Reader:
    """Reads single variables out of the mapping and collects what was wrong with them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.warnings: list[str] = []

    def text(self, name: str) -> str:
        """Return the value without outer blanks; empty counts as unset (OpenTelemetry's rule)."""
        return self._environ.get(name, "").strip()

    def of_signal(self, signal: str, name: str) -> str:
        """Return the signal's own OTLP variable, else the common one."""
        own = self.text(f"OTEL_EXPORTER_OTLP_{signal}_{name}")
        return own or self.text(f"OTEL_EXPORTER_OTLP_{name}")

    def number(self, name: str, default: float, *, low: float, high: float) -> float:
        """Return a number between the bounds; anything else is warned about and not used."""
        text = self.text(name)
        if not text:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            return value
        self.warn(f"`{name}={text}` is not a number from {low:g} to {high:g}; using {default:g}")
        return default

    def pairs(self, name: str, text: str) -> dict[str, str]:
        """Return `key=value,key=value`, percent-decoded; values are never quoted in a warning."""
        found: dict[str, str] = {}
        for item in filter(None, (part.strip() for part in text.split(","))):
            key, equals, value = item.partition("=")
            if not equals or not key.strip():
                self.warn(f"`{name}` has an entry that is not `key=value`; the entry is left out")
                continue
            found[unquote(key.strip())] = unquote(value.strip())
        return found

    def warn(self, line: str) -> None:
        """Keep one line for people."""
        self.warnings.append(line)


def read(environ: Mapping[str, str]) -> Environment:
    """Read every honoured variable; nothing set means that nothing is exported."""
    reader = _Reader(environ)
    off = reader.text("OTEL_SDK_DISABLED").lower() == "true"
    none = Signal()
    traces = none if off else _signal(reader, "TRACES")
    metrics = none if off else _signal(reader, "METRICS")
    resource = reader.pairs("OTEL_RESOURCE_ATTRIBUTES", reader.text("OTEL_RESOURCE_ATTRIBUTES"))
    queue = int(reader.number("OTEL_BSP_MAX_QUEUE_SIZE", 2048, low=1, high=1_000_000))
    batch = int(reader.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, low=1, high=100_000))
    for name in ("OTEL_CONFIG_FILE", "OTEL_LOGS_EXPORTER"):
        if reader.text(name) not in {"", "none"}:
            reader.warn(f"`{name}` is not supported and has no effect")
    propagators = reader.text("OTEL_PROPAGATORS")
    return Environment(
        traces=traces,
        metrics=metrics,
        sampler=_sampler(reader),
        propagates=not propagators or "tracecontext" in propagators.replace(" ", "").split(","),
        service_name=reader.text("OTEL_SERVICE_NAME") or resource.get("service.name", ""),
        resource=resource,
        queue=queue,
        batch=min(batch, queue),
        delay_s=reader.number("OTEL_BSP_SCHEDULE_DELAY", 5000, low=1, high=3_600_000) / 1e3,
        metric_interval_s=reader.number(
            "OTEL_METRIC_EXPORT_INTERVAL", 60_000, low=1, high=86_400_000
        )
        / 1e3,
        sums_from_start=_sums_from_start(reader),
        value_length=_value_length(reader),
        warnings=tuple(reader.warnings),
    )


def _sums_from_start(reader: _Reader) -> bool:
    """Say whether the SDK's exporter, which reads the two for itself, is told nothing else."""
    temporality = reader.text("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE").lower()
    form = reader.text("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION").lower()
    return temporality in {"", "cumulative"} and form in {"", "explicit_bucket_histogram"}


def _signal(reader: _Reader, signal: str) -> Signal:
    name = f"OTEL_{signal}_EXPORTER"
    chosen = reader.text(name).lower()
    if not chosen:
        chosen = "otlp" if reader.of_signal(signal, "ENDPOINT") else "none"
    match chosen:
        case "none":
            return Signal()
        case "console":
            return Signal(exporter=ExporterKind.CONSOLE)
        case "otlp":
            destination = _destination(reader, signal)
            if destination is None:
                return Signal()
            return Signal(exporter=ExporterKind.OTLP, destination=destination)
        case _:
            reader.warn(f"`{name}={chosen}` is not `otlp`, `console` or `none`; nothing is sent")
            return Signal()


def _destination(reader: _Reader, signal: str) -> Destination | None:
    endpoint = reader.text(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    base = reader.text("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT_ENDPOINT
    if not _is_url(endpoint or base):
        reader.warn(f"the OTLP endpoint for {signal.lower()} is not an http or https URL")
        return None
    endpoint = endpoint or f"{base.removesuffix('/')}/v1/{signal.lower()}"
    protocol = reader.of_signal(signal, "PROTOCOL")
    if protocol not in {"", "http/protobuf"}:
        reader.warn(
            f"OTLP protocol `{protocol}` is not supported; {signal.lower()} go as http/protobuf"
        )
    compression = reader.of_signal(signal, "COMPRESSION").lower() or "none"
    if compression not in _COMPRESSIONS:
        reader.warn(f"OTLP compression `{compression}` is not supported; using `none`")
        compression = "none"
    timeout_name = f"OTEL_EXPORTER_OTLP_{signal}_TIMEOUT"
    if not reader.text(timeout_name):
        timeout_name = "OTEL_EXPORTER_OTLP_TIMEOUT"
    return Destination(
        endpoint=endpoint,
        headers=reader.pairs("OTEL_EXPORTER_OTLP_HEADERS", reader.of_signal(signal, "HEADERS")),
        timeout_s=reader.number(timeout_name, _DEFAULT_TIMEOUT_S, low=0.001, high=600),
        compression=compression,
        certificate=reader.of_signal(signal, "CERTIFICATE") or None,
        client_key=reader.of_signal(signal, "CLIENT_KEY") or None,
        client_certificate=reader.of_signal(signal, "CLIENT_CERTIFICATE") or None,
    )


def _is_url(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        return parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


def _sampler(reader: _Reader) -> Sampler:
    name = reader.text("OTEL_TRACES_SAMPLER").lower() or DEFAULT_SAMPLER
    ratio = reader.number("OTEL_TRACES_SAMPLER_ARG", 1.0, low=0, high=1)
    sampler = sampler_named(name, ratio)
    if sampler is None:
        known = ", ".join(f"`{known}`" for known in SAMPLERS)
        reader.warn(f"`OTEL_TRACES_SAMPLER={name}` is not one of {known}; using the default")
        return Sampler()
    return sampler


def _value_length(reader: _Reader) -> int | None:
    for name in ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        if reader.text(name):
            length = int(reader.number(name, -1, low=1, high=1_000_000))
            return length if length > 0 else None
    return None

import pytest

from gateway.telemetry import environment
from gateway.telemetry.environment import VARIABLES, Destination, ExporterKind
from gateway.telemetry.sampling import Sampler
from tests.telemetry.reference import rows

BASE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"}


def test_nothing_set_exports_nothing() -> None:
    """case: OBS-02"""
    read = environment.read({})
    assert not read.exports
    assert read.warnings == ()
    assert read.sampler == Sampler()
    assert (read.queue, read.batch, read.delay_s, read.metric_interval_s) == (2048, 512, 5, 60)
    assert read.value_length is None
    assert read.propagates


def test_one_endpoint_turns_both_signals_on() -> None:
    read = environment.read(BASE)
    assert read.traces.destination == Destination(endpoint="http://collector:4318/v1/traces")
    assert read.metrics.destination == Destination(endpoint="http://collector:4318/v1/metrics")


def test_an_exporter_without_an_endpoint_goes_to_this_machine() -> None:
    read = environment.read({"OTEL_TRACES_EXPORTER": "otlp"})
    assert read.traces.destination == Destination(endpoint="http://localhost:4318/v1/traces")
    assert read.metrics.exporter is ExporterKind.NONE


def test_a_signal_has_its_own_variables() -> None:
    read = environment.read(
        BASE
        | {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t/as/is",
            "OTEL_EXPORTER_OTLP_HEADERS": "a=1, b=x%2Cy ,,",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "c=3",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "3",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "4",
            "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "GZIP",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": "ca.pem",
            "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": "key.pem",
            "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": "cert.pem",
        }
    )
    assert read.traces.destination == Destination(
        endpoint="https://t/as/is",
        headers={"c": "3"},
        timeout_s=4,
        compression="gzip",
        certificate="ca.pem",
        client_key="key.pem",
        client_certificate="cert.pem",
    )
    metrics = read.metrics.destination
    assert metrics is not None
    assert metrics.headers == {"a": "1", "b": "x,y"}
    assert (metrics.timeout_s, metrics.compression, metrics.certificate) == (3, "none", "ca.pem")


@pytest.mark.parametrize(
    "more",
    [
        {"OTEL_SDK_DISABLED": "TRUE"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
    ],
)
def test_export_can_be_turned_off(more: dict[str, str]) -> None:
    assert not environment.read(BASE | more).exports


def test_only_true_disables() -> None:
    assert environment.read(BASE | {"OTEL_SDK_DISABLED": "1"}).exports


def test_empty_counts_as_unset() -> None:
    assert not environment.read({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}).exports


def test_the_service_name_comes_from_its_variable_first() -> None:
    resource = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=r,deployment.environment=x"}
    assert environment.read(resource).service_name == "r"
    assert environment.read(resource | {"OTEL_SERVICE_NAME": "s"}).service_name == "s"
    assert environment.read(resource).resource["deployment.environment"] == "x"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin", "`OTEL_TRACES_EXPORTER=zipkin`"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "`grpc`"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "`zstd`"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "`OTEL_EXPORTER_OTLP_TIMEOUT=soon`"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "nan", "`OTEL_EXPORTER_OTLP_TIMEOUT=nan`"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "`OTEL_BSP_MAX_QUEUE_SIZE=0`"),
        ("OTEL_TRACES_SAMPLER", "xray", "`OTEL_TRACES_SAMPLER=xray`"),
        ("OTEL_TRACES_SAMPLER_ARG", "2", "`OTEL_TRACES_SAMPLER_ARG=2`"),
        ("OTEL_CONFIG_FILE", "otel.yaml", "`OTEL_CONFIG_FILE`"),
        ("OTEL_LOGS_EXPORTER", "otlp", "`OTEL_LOGS_EXPORTER`"),
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "-5", "`OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=-5`"),
    ],
)
def test_a_value_that_is_not_used_is_told_of(name: str, value: str, said: str) -> None:
    """case: OBS-07"""
    warnings = environment.read(BASE | {name: value}).warnings
    assert any(said in line for line in warnings)


@pytest.mark.parametrize("url", ["collector:4318", "ftp://c", "http://", "http://c:port", "/x"])
def test_an_endpoint_that_is_no_url_exports_nothing_and_is_told_of(url: str) -> None:
    read = environment.read({"OTEL_EXPORTER_OTLP_ENDPOINT": url})
    assert not read.exports
    assert "endpoint for traces" in read.warnings[0]


def test_no_warning_or_repr_shows_a_header_or_an_endpoint() -> None:
    """case: OBS-01"""
    read = environment.read(
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://u:MARK1@c:1/MARK2",
            "OTEL_EXPORTER_OTLP_HEADERS": "MARK3,a=MARK4",
        }
    )
    assert read.warnings
    assert "MARK" not in repr(read)


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [
        ("http://u:p@c:4318/v1/traces?k=v", "c:4318"),
        ("https://c/x", "c:443"),
        ("http://[::1]:9/x", "[::1]:9"),
    ],
)
def test_people_see_host_and_port_of_an_endpoint(endpoint: str, host: str) -> None:
    assert Destination(endpoint=endpoint).host == host


def test_a_batch_is_never_larger_than_the_queue() -> None:
    read = environment.read({"OTEL_BSP_MAX_QUEUE_SIZE": "10"})
    assert (read.queue, read.batch) == (10, 10)


@pytest.mark.parametrize(
    ("value", "propagates"),
    [("tracecontext,baggage", True), ("b3", False), ("none", False), ("", True)],
)
def test_context_is_passed_on_when_the_propagators_say_so(value: str, propagates: bool) -> None:
    assert environment.read({"OTEL_PROPAGATORS": value}).propagates is propagates


def test_the_limit_for_spans_wins_over_the_common_one() -> None:
    common = {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "100"}
    assert environment.read(common).value_length == 100
    own = common | {"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "50"}
    assert environment.read(own).value_length == 50


def test_the_reference_names_every_variable() -> None:
    assert rows("Environment variables") == {
        (f"`{name}`", meaning) for name, meaning in VARIABLES.items()
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("TEMPORALITY_PREFERENCE", "", True),
        ("TEMPORALITY_PREFERENCE", " Cumulative ", True),
        ("TEMPORALITY_PREFERENCE", "delta", False),
        ("TEMPORALITY_PREFERENCE", "lowmemory", False),
        ("DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram", True),
        ("DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram", False),
    ],
)
def test_whether_histograms_are_sums_in_fixed_buckets(name: str, text: str, expected: bool) -> None:
    variables = environment.read({f"OTEL_EXPORTER_OTLP_METRICS_{name}": text})
    assert variables.sums_from_start is expected

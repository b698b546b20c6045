import pytest

from gateway import ids
from gateway.telemetry.sampling import SAMPLERS, Sampler, sampler_named
from tests.telemetry.builders import a_context


@pytest.mark.parametrize("name", [name for name in SAMPLERS if name.startswith("parentbased")])
@pytest.mark.parametrize("sampled", [True, False])
def test_parent_based_samplers_follow_the_caller(name: str, sampled: bool) -> None:
    sampler = sampler_named(name, 0.5)
    assert sampler is not None
    assert sampler.samples("f" * 32, a_context(sampled=sampled)) is sampled


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("always_on", True),
        ("always_off", False),
        ("parentbased_always_on", True),
        ("parentbased_always_off", False),
    ],
)
def test_a_trace_without_a_parent_goes_by_the_name(name: str, root: bool) -> None:
    sampler = sampler_named(name, 0.5)
    assert sampler is not None
    assert sampler.samples(ids.trace_id(), None) is root


def test_the_others_do_not_ask_the_caller() -> None:
    sampler = sampler_named("always_off", 1)
    assert sampler is not None
    assert not sampler.samples("f" * 32, a_context(sampled=True))


@pytest.mark.parametrize(("ratio", "kept"), [(0.0, 0), (0.5, 128), (1.0, 256)])
def test_a_ratio_keeps_its_share_by_trace_id(ratio: float, kept: int) -> None:
    sampler = sampler_named("traceidratio", ratio)
    assert sampler is not None
    trace_ids = [f"{'9' * 16}{first:02x}{'0' * 14}" for first in range(256)]
    assert sum(sampler.samples(trace_id, None) for trace_id in trace_ids) == kept


def test_we_agree_with_the_sdk_on_every_trace() -> None:
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased  # noqa: PLC0415

    ours, theirs = Sampler(follows_parent=False, ratio=0.3), TraceIdRatioBased(0.3)
    for _ in range(300):
        trace_id = ids.trace_id()
        decision = theirs.should_sample(None, int(trace_id, 16), "x").decision
        assert ours.samples(trace_id, None) is decision.is_sampled()


def test_an_unknown_name_is_no_sampler() -> None:
    assert sampler_named("jaeger_remote", 1.0) is None

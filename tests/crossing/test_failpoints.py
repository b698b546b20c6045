"""The points of a write, in the order in which they are passed, and what is there at each."""

from dataclasses import replace

import pytest

from gateway.crossing.failpoints import Failpoint, Reached, go_on
from gateway.pipeline import Pipeline
from gateway.store.store import Store
from gateway.types.outcomes import Status
from tests.helpers.writes import Counting, outcome_of, writes


def with_points(pipeline: Pipeline, reached: Reached) -> Pipeline:
    """Return the pipeline, with somebody told of each point."""
    patience = replace(pipeline.dispatch.patience, reached=reached)
    return replace(
        pipeline,
        claim=replace(pipeline.claim, reached=reached),
        operate=replace(pipeline.operate, reached=reached),
        dispatch=replace(pipeline.dispatch, patience=patience),
    )


async def test_a_write_passes_every_point_once_and_a_repeated_one_the_first_alone(
    store: Store,
) -> None:
    passed: list[Failpoint] = []
    alpha = writes(store, window_s=5, change=lambda each: with_points(each, passed.append))
    assert (await alpha.call()).status is Status.OK
    assert passed == list(Failpoint)
    assert outcome_of(await alpha.call())["replayed"]
    assert passed == [*Failpoint, Failpoint.BEFORE_INTENT]


@pytest.mark.parametrize(
    ("point", "sent"),
    [(Failpoint.BEFORE_INTENT, 0), (Failpoint.AFTER_INTENT, 0), (Failpoint.BEFORE_SETTLE, 1)],
)
async def test_a_fault_at_a_point_is_found_before_the_next_thing_happens(
    store: Store, point: Failpoint, sent: int
) -> None:
    def fail(reached: Failpoint) -> None:
        if reached is point:
            raise RuntimeError

    server = Counting()
    alpha = writes(store, server, window_s=5, change=lambda each: with_points(each, fail))
    assert (await alpha.call()).status is Status.INTERNAL
    assert server.count == sent


def test_a_gateway_goes_on_at_every_point() -> None:
    for point in Failpoint:
        go_on(point)

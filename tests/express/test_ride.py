"""What a call on the short way says of itself: as much as its record would on the long way."""

import dataclasses
from typing import Any

import pytest

from gateway.express.ride import Ride
from gateway.express.track import Track
from gateway.telemetry.facts import facts_of
from gateway.telemetry.stencils import Spanned
from gateway.types.operations import Delivered
from gateway.types.records import CallRecord, Told
from tests.helpers.expressed import Both, Side, read


async def a_ride(call: Any = None) -> tuple[Ride, Side]:
    """Return a ride as it stands once its call was answered, and what it is on."""
    both, rides = await Both().taught(), list[Ride]()
    side = both.short
    record = side.telemetry.record_alike

    def noting(ride: Any, stencil: Any, *, sampled: bool) -> None:
        rides.append(ride)
        record(ride, stencil, sampled=sampled)

    side.telemetry.record_alike = noting  # type: ignore[method-assign]
    await side.take(call or read({"text": "y"}))
    (ride,) = rides
    return ride, side


async def test_it_has_all_that_events_and_spans_are_made_of() -> None:
    ride, _ = await a_ride()
    names = set[str]()
    for protocol in (Told, Spanned):
        names |= {
            name
            for name in (*vars(protocol), *vars(protocol).get("__annotations__", {}))
            if not name.startswith("_")
        }
    assert {"call", "judged_ns", "digest", "peer"} <= names
    for name in names:
        assert getattr(ride, name, None) is not None or name == "parent", name


@pytest.mark.parametrize("said", [{}, {"request_id": "9" * 99, "peer": "p" * 999}])
async def test_it_shows_in_spans_what_a_record_does(said: dict[str, Any]) -> None:
    ride, _ = await a_ride(read({"text": "y"}, **said))
    facts = facts_of(ride.ticket.record)
    for name in ("request_id", "peer", "call_id", "run_id", "digest", "trace_id", "server_span"):
        assert getattr(ride, name) == getattr(facts, name), name


async def test_its_ticket_is_as_if_it_had_been_opened_in_the_beginning() -> None:
    ride, side = await a_ride()
    ticket = ride.ticket
    assert ride.ticket is ticket
    assert side.pipeline.record.under_way.calls == 0, "it was counted when it began"
    other = side.pipeline.record.open(ride.call, ride.received_ns).record
    mine = ticket.record
    own = {"judged_ns", "sent_ns", "arguments_digest", "tool", "contract", "actor", "decision"}
    own |= {"trace_id", "server_span", "authorize_span", "client_span", "phase", "effect", "risk"}
    own |= {"revision"}
    for field in dataclasses.fields(CallRecord):
        if field.name not in own:
            assert getattr(mine, field.name) == getattr(other, field.name), field.name
    assert (mine.judged_ns, mine.sent_ns) == (ride.judged_ns, ride.sent_ns)
    assert mine.decision is ride.track.case.decision
    assert mine.arguments_digest == ride.digest


async def test_its_case_has_its_own_arguments_and_time() -> None:
    ride, _ = await a_ride()
    assert ride.case.call is ride.call
    assert ride.case.arguments == {"text": "y"}
    assert ride.case.facts.now == ride.call.received_at
    assert ride.track.case.arguments is None


async def test_a_decision_that_is_made_before_its_call_is_sent_is_told_once() -> None:
    """Where the log makes at once what was to be made later, and the arguments are not clean."""
    both = await Both(is_at_once=True).taught()
    both.answers(Delivered(result={"content": [], "isError": True}, size=9))
    for side in both.sides:
        seen = await side.take(read({"text": "ann@example.org"}))
        assert [row.stage for row in seen.rows] == ["decided", "failed"]


async def test_a_ride_keeps_to_its_track() -> None:
    ride, _ = await a_ride()
    assert isinstance(ride.track, Track)
    outbound = ride.sends("00-1-2-01")
    assert (outbound.deadline_s, outbound.traceparent) == (ride.track.deadline_s, "00-1-2-01")
    assert outbound.params == {"name": "find", "arguments": {"text": "y"}}

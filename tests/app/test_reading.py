import asyncio
from typing import Any

import pytest

from gateway.app.reading import Reading
from gateway.clock import SystemClock
from gateway.crossing.reads import NotRead
from gateway.operations.templates import Known
from gateway.types.calls import ProposedCall
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery, Rejected
from gateway.types.outcomes import Finished, Status
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_case, a_contract, a_principal

GET = CallTemplate(tool="crm.get", args={"id": "$args.id"})


def a_reading(status: Status, delivery: Delivery | None, seen: list[ProposedCall]) -> Reading:
    async def look(call: ProposedCall) -> tuple[Finished, Delivery | None]:
        seen.append(call)
        return Finished(result={}, status=status), delivery

    return Reading(
        exposed=lambda key: "crm__get" if key == "crm.get" else None,
        clock=SystemClock(),
        look=look,
    )


async def read(reading: Reading, call: CallTemplate = GET) -> Any:
    known = Known(args={"id": 7})
    return await reading.read(a_case(), call, known, deadline_s=15, cause=Cause.VERIFICATION)


def came(**result: Any) -> Delivered:
    return Delivered(result=result, size=1)


async def test_a_read_is_a_call_of_the_same_principal_for_another_calls_sake() -> None:
    seen: list[ProposedCall] = []
    data: JsonObject = {"id": 7}
    assert await read(a_reading(Status.OK, came(structuredContent=data), seen)) == data
    [call] = seen
    assert (call.name, call.arguments, call.cause, call.parent) == (
        "crm__get",
        {"id": 7},
        "verification",
        "call_1",
    )
    assert call.principal == a_principal()


@pytest.mark.parametrize(
    ("status", "delivery", "not_found", "for_now"),
    [
        (Status.TOOL_FAILED, came(isError=True), True, False),
        (Status.TOOL_FAILED, Rejected(code=-1, message="no"), True, False),
        (Status.BUSY, None, False, True),
        (Status.UNKNOWN_TOOL, None, False, True),
        (Status.DENIED, None, False, False),
        (Status.RESULT_INVALID, came(content=[]), False, False),
    ],
)
async def test_a_read_that_shows_nothing_says_why(
    status: Status, delivery: Delivery | None, not_found: bool, for_now: bool
) -> None:
    got = await read(a_reading(status, delivery, []))
    assert isinstance(got, NotRead)
    assert (got.not_found, got.for_now) == (not_found, for_now)


async def test_a_tool_that_is_not_there_is_not_asked() -> None:
    seen: list[ProposedCall] = []
    got = await read(a_reading(Status.OK, None, seen), CallTemplate(tool="crm.gone"))
    assert isinstance(got, NotRead)
    assert (got.for_now, seen) == (True, [])


async def test_a_read_has_its_own_deadline() -> None:
    async def look(call: ProposedCall) -> tuple[Finished, Delivery | None]:
        await asyncio.sleep(60)
        raise AssertionError(call)

    reading = Reading(exposed=lambda key: key, clock=SystemClock(), look=look)
    got = await reading.read(
        a_case(), GET, Known(args={"id": 7}), deadline_s=0.05, cause=Cause.LOOKUP
    )
    assert isinstance(got, NotRead)
    assert got.for_now


async def test_before_there_is_a_pipeline_nothing_is_read() -> None:
    reading = Reading(exposed=lambda key: key, clock=SystemClock())
    with pytest.raises(RuntimeError):
        await read(reading)


async def test_a_read_is_linked_to_the_call_that_it_is_about() -> None:
    seen: list[ProposedCall] = []

    async def origin(call_id: str) -> str:
        return f"trace of {call_id}"

    reading = a_reading(Status.OK, came(structuredContent={"id": 7}), seen)
    reading.origin = origin
    await read(reading)
    assert [call.trace_header for call in seen] == ["trace of call_1"]


async def test_a_read_knows_what_must_not_be_kept_of_the_values_that_it_is_filled_with() -> None:
    seen: list[ProposedCall] = []
    tags = {"/token": Sensitivity.SECRET}
    case = a_case(contract=a_contract(sensitive=tags, sensitive_results={"/mail": tags["/token"]}))
    known = Known(args={"id": 7, "token": "hyacinth"}, result={"mail": "a@b.example"})
    reading = a_reading(Status.OK, came(structuredContent={"id": 7}), seen)
    await reading.read(case, GET, known, deadline_s=15, cause=Cause.VERIFICATION)
    assert seen[0].concealed == {"hyacinth": "secret", "a@b.example": "secret"}

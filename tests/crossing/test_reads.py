"""Reads that the gateway makes by itself."""

import pytest

from gateway.crossing.reads import NotRead, take
from gateway.operations.templates import Known
from gateway.types.guarantees import CallTemplate
from gateway.types.json import Json
from tests.helpers.cases import a_case
from tests.helpers.reads import DENIED, Scripted

CALL = CallTemplate(tool="crm.get", args={"id": "$args.id"})
KNOWN = Known(args={"id": 7})


async def taken(answer: Json | NotRead | Exception, known: Known = KNOWN) -> Json | NotRead:
    return await take(Scripted([answer]), a_case(), CALL, known, deadline_s=1)


async def test_a_read_gives_its_data() -> None:
    reads = Scripted([{"id": 7}])
    assert await take(reads, a_case(), CALL, KNOWN, deadline_s=1.5) == {"id": 7}
    assert (reads.asked, reads.deadlines) == ([("crm.get", {"id": 7})], [1.5])


async def test_why_nothing_was_read_is_passed_on() -> None:
    assert await taken(DENIED) is DENIED


async def test_an_answer_without_data_shows_nothing() -> None:
    assert await taken(None) == NotRead(reason="`crm.get` answered without data")


@pytest.mark.parametrize("data", [False, 0, "", [], {}])
async def test_data_that_is_empty_is_data(data: Json) -> None:
    assert await taken(data) == data


async def test_a_reference_to_nothing_is_a_reason() -> None:
    found = await taken({}, Known(args={}))
    assert found == NotRead(reason="`crm.get` can't be asked: there is no `$args.id`")


async def test_a_fault_is_a_reason_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    found = await taken(RuntimeError("secret"))
    assert found == NotRead(reason="`crm.get` could not be asked")
    assert "crm.get" in caplog.text

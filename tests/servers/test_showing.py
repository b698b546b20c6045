"""Which clients a server may show more to, and how that is found out."""

from pathlib import Path

import pytest

from gateway.servers.connection import Spoken
from gateway.servers.showing import showing
from gateway.types.calls import Era
from gateway.types.json import JsonObject
from tests.helpers.fake_server import Script, record_of, tool, until_async
from tests.helpers.fleets import running, stdio_entry

CAN: JsonObject = {"elicitation": {}}
STATELESS = Spoken(era=Era.MODERN, version="2026-07-28")


@pytest.mark.parametrize(("spoken", "can"), [(None, CAN), (STATELESS, CAN), (STATELESS, {})])
async def test_where_all_are_shown_the_same_there_is_no_other_way(
    spoken: Spoken | None, can: JsonObject
) -> None:
    async with showing(None, spoken, can) as way:
        assert way is None


async def test_what_is_shown_only_to_who_can_be_asked_is_listed_by_a_passing_lane(
    tmp_path: Path,
) -> None:
    script = Script(eras=["legacy"], able_tools=[tool("able")])
    async with running(stdio_entry(script, tmp_path), asks=lambda _: CAN) as servers:
        alpha, record = servers.server("alpha"), record_of(tmp_path, "alpha")
        assert alpha is not None
        assert [each.name for each in servers.catalog.tools()] == ["able", "echo"]
        assert record.calls("initialize")[-1]["params"]["capabilities"] == CAN
        await until_async(lambda: alpha.state.lanes == 0)

"""Attempts to get a connection."""

from pathlib import Path

from tests.helpers.fake_server import Script, record_of, until_async
from tests.helpers.fleets import running, stdio_entry


async def test_the_way_of_greeting_changes_when_a_server_ends_on_it(tmp_path: Path) -> None:
    script = Script(on_discover=[{"exit": 1}], on_initialize=[{"exit": 1}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        record = record_of(tmp_path, "alpha")
        await until_async(lambda: len(record.messages()) >= 3)
        assert servers.states()[0].status == "failed"
    methods = [message["method"] for message in record.messages()][:3]
    assert methods == ["server/discover", "initialize", "server/discover"]

"""What operators see of a server."""

from pathlib import Path

from tests.helpers.fake_server import Script
from tests.helpers.fleets import running, stdio_entry


async def test_a_state_tells_what_a_server_is_and_none_of_its_secrets(tmp_path: Path) -> None:
    script = Script(on_start=[{"stderr": "starting with S3CRET"}, {"exit": 2}])
    entry = stdio_entry(script, tmp_path, env={"TOKEN": "S3CRET"}, required=True)
    async with running(entry) as servers:
        (state,) = servers.states()
    assert (state.name, state.status, state.transport) == ("alpha", "failed", "stdio")
    assert state.required
    assert state.since.tzinfo is not None
    assert state.reason == "`alpha` exited with code 2; stderr: starting with [secret]"
    assert "S3CRET" not in repr(state)

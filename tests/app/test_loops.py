"""What runs beside the calls of a whole gateway."""

import os
import signal
from pathlib import Path

from tests.helpers.fake_server import until_async
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

DENY = "rules: []\n"


async def test_a_hangup_signal_reloads(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # before the gateway listens for it
    place = a_workspace(tmp_path)
    try:
        async with place.opened() as gateway:
            first = gateway.activation.current().id
            (tmp_path / "policies/policy.yaml").write_text(DENY)

            def has_changed() -> bool:
                os.kill(os.getpid(), signal.SIGHUP)
                return gateway.activation.current().id != first

            await until_async(has_changed)
            place.config.write_text("mode: observe\n" + place.config.read_text())
            os.kill(os.getpid(), signal.SIGHUP)
            await until_async(lambda: gateway.stance.observes)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert [event["body"]["by"] for event in house.events(tmp_path, action="policy_activated")] == [
        "start",
        "told to",
    ]

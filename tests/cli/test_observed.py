"""What would have become of calls, counted from the log."""

from pathlib import Path
from typing import Any

import anyio

from gateway.clock import SystemClock
from gateway.types.events import EventKind, Stage
from tests.helpers.events import an_event
from tests.helpers.workspaces import a_workspace

DENIED: dict[str, Any] = {
    "tool": "crm.ban",
    "decision": "deny",
    "observed": {"would": "deny", "rule": "no-bans"},
}


def test_it_is_counted_by_tool_and_rule(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)

    def judged(body: dict[str, Any], **more: Any) -> Any:
        fields = {"at": SystemClock().now(), "stage": Stage.DECIDED, "body": body, **more}
        return an_event(kind=EventKind.AUTHORIZATION, **fields)

    with place.store() as store:
        masked = {"tool": "crm.find", "status": "ok", "observed": {"would": "mask"}}
        passed = {"tool": "crm.find", "decision": "allow", "observed": {"would": "pass"}}
        enforced = {"tool": "crm.find", "decision": "deny"}
        store.events.append(
            [
                judged(DENIED),
                judged(DENIED, tenant="other"),
                judged(passed),
                judged(enforced),
                an_event(at=SystemClock().now(), body=masked),
            ]
        )
        anyio.run(store.events.kept)
    code, told = place.json("observed")
    assert code == 0
    assert (told["calls"], told["sums"]) == (3, {"deny": 2, "mask": 1})
    assert told["would"][0] == {
        "would": "deny",
        "rule": "no-bans",
        "tool": "crm.ban",
        "calls": 2,
    }
    done = place.run("observed", "--tenant", "other")
    assert "1 call passed; 1 would have been denied" in done.stdout
    assert "crm.ban  no-bans  1" in " ".join(done.stdout.split()).replace(" ", "  ")
    done = place.run("observed", "--until", "1h")
    assert "no call was observed" in done.stdout


def test_without_a_store_it_says_so(tmp_path: Path) -> None:
    done = a_workspace(tmp_path).run("observed")
    assert done.exit_code == 2
    assert "start the gateway once" in done.stderr

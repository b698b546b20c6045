"""What events tell of calls that passed because decisions were only recorded, and of that mode."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from gateway.events.envelope import timestamp
from gateway.events.forms import COUNT, TEXT, TIME, about, an_action, an_object, one_of
from gateway.types.decisions import Mode
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.observed import Observed, Would
from gateway.types.outcomes import Status

SCHEMA: Final[JsonObject] = about(
    an_object(
        {
            "would": one_of(Would),
            "status": one_of(Status),
            "code": TEXT,
            "rule": TEXT,
            "reason": TEXT,
            "op": about(TEXT, "the earlier operation that would have answered"),
        },
        frozenset({"status", "code", "rule", "reason", "op"}),
    ),
    "what would have become of the call, or of its answer; it passed, since `mode` was `observe`",
)

CHANGED: Final = "mode_changed"
TOLD: Final = "calls_observed"
_LISTED: Final = 200
ACTIONS: Final[tuple[JsonObject, ...]] = (
    an_action(
        CHANGED,
        {"mode": one_of(Mode), "from": one_of(Mode), "by": about(TEXT, "what it was taken from")},
    ),
    an_action(
        TOLD,
        {
            "since": TIME,
            "until": TIME,
            "calls": about(COUNT, "that passed in that time, through this gateway process"),
            "would": about(
                {
                    "type": "array",
                    "items": an_object(
                        {
                            "would": one_of(Would),
                            "rule": about(TEXT, "the one that would have decided, or a code"),
                            "tool": TEXT,
                            "calls": COUNT,
                        }
                    ),
                },
                "what would have become of them: the most frequent first, 200 at most",
            ),
        },
    ),
)


def mode_changed(*, id: str, at: datetime, mode: Mode, before: Mode, by: str) -> Event:
    """Say that decisions are enforced from now on, or only recorded."""
    body: JsonObject = {"action": CHANGED, "mode": str(mode), "from": str(before), "by": by}
    return Event(id=id, at=at, kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body)


def calls_observed(
    *, id: str, at: datetime, since: datetime, calls: int, would: Sequence[JsonObject]
) -> Event:
    """Say what would have become of the calls of one gateway process since a time."""
    listed: list[Json] = [*would[:_LISTED]]
    body: JsonObject = {
        "action": TOLD,
        "since": timestamp(since),
        "until": timestamp(at),
        "calls": calls,
        "would": listed,
    }
    return Event(id=id, at=at, kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body)


def described(observed: Observed | None, *, text: Callable[[str], str]) -> JsonObject:
    """Return the member of an event's body, if there is one; `text` is what keeps a reason safe."""
    if observed is None:
        return {}
    texts = {
        "status": observed.status,
        "code": observed.code,
        "rule": observed.rule,
        "reason": text(observed.reason) if observed.reason else "",
        "op": observed.op_id,
    }
    told: JsonObject = {"would": str(observed.would)}
    return {"observed": told | {name: said for name, said in texts.items() if said}}

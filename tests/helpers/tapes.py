"""Recorded calls as they can be played, for tests of playback."""

from typing import Any

from gateway.replay.takes import Take
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer
from gateway.types.tools import Kind
from gateway.types.values import replaced
from tests.helpers.replays import a_known_case, a_law, a_secret_note, policy, recorded, rule

LAW = a_law(policy(rule()), a_secret_note())


def digest_of(arguments: JsonObject) -> str:
    """Return what stands for the digest of arguments here."""
    return repr(sorted(arguments.items()))


def a_take(
    call: str = "call_1", seq: int = 1, arguments: JsonObject | None = None, **changes: Any
) -> Take:
    """Return a call of `crm.find` with its answer; the log never holds its `note`."""
    sent: JsonObject = {"id": "i-1"} if arguments is None else arguments
    take = Take(
        call=call,
        seq=seq,
        at="2026-11-30T09:00:00Z",
        method=Method.CALL_TOOL,
        tool="crm.find",
        name="crm__find",
        digest=digest_of(sent),
        asked=recorded(a_known_case(LAW, dict(sent))),
        outcome=Answer(result={"content": [{"type": "text", "text": call}]}),
    )
    return replaced(take, **changes)


def a_take_of(method: Method, name: str, **changes: Any) -> Take:
    """Return a call of another method."""
    kind = Kind.PROMPT if method is Method.GET_PROMPT else Kind.RESOURCE
    tool = f"crm.{name}" if kind is Kind.PROMPT else name
    take = a_take(method=method, tool=tool, name=name, **changes)
    assert take.asked is not None
    return replaced(take, asked=replaced(take.asked, kind=kind, method=method, tool=tool))

"""The calls of one run as they can be played again: what was asked for, and what came of it.

A refusal is in the log whole, as far as its caller acted on it. A result is, where the level of its
tool has it kept; the results of writes are kept for calls that repeat them, for as long as those
get them. What is kept is redacted.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final

from gateway.events import markers
from gateway.replay import reading, unknown
from gateway.replay.history import Log
from gateway.replay.reading import Told
from gateway.replay.types import Recorded
from gateway.store.events import EventFilter
from gateway.types.calls import Method
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, ApprovalTold, Refusal, Status, WireError
from gateway.types.values import replaced, value

Kept = Callable[[str], Awaitable[Answer | Refusal | None]]
"""What an operation keeps of how it ended, by its id, if it is kept."""

_PAGE: Final = 1_000
_MOST_EVENTS: Final = 1_000  # of one call
_BY_DEFAULT: Final = "request"  # level that no event names
_BLOCKS: Final = ("content", "contents", "messages")  # members of results that hold blocks
_HIDDEN: Final = "[redacted]"
_GONE: Final[JsonObject] = {"type": "text", "text": _HIDDEN}
_TOO_LARGE: Final = "its result was too large to be kept"
_NO_END: Final = "how it ended is not in the log"


@value
class Take:
    """One call that was made, as it can be played."""

    call: str
    seq: int  # of its last event; calls that were the same are played in this order
    at: str  # when it ended, as the log says it
    method: Method
    tool: str  # `server.name` of a tool or prompt; empty where there was no such thing
    name: str  # as its caller named it, redacted
    digest: str  # keyed, over what was asked for
    asked: Recorded | None = None  # how it was judged, if it came to that
    outcome: Answer | Refusal | None = None
    lack: str = ""  # why there is no outcome

    @property
    def key(self) -> str:
        """What it was about, whatever the name it was called by."""
        return self.tool or self.name


async def takes(log: Log, run: str, kept: Kept) -> tuple[Take, ...]:
    """Return the calls that were made in a run, in the order in which they ended.

    Those that the gateway made by itself are none of the host's. Raises StoreUnavailable.
    """
    stories: dict[str, list[Told]] = {}
    async for event in _events(log, run):
        if event.call:
            stories.setdefault(event.call, []).append(event)
    for call, story in stories.items():
        if not any(each.is_end for each in story):  # of the gateway's own tools only runs tell
            page = await log.query(EventFilter(call=call, limit=_MOST_EVENTS))
            stories[call] = [reading.told(each.json()) for each in page] or story
    found = [take for story in stories.values() if (take := _take(story)) is not None]
    whole = [await _completed(take, stories[take.call], kept) for take in found]
    return _shared(sorted(whole, key=lambda take: take.seq), stories)


async def _events(log: Log, run: str) -> AsyncIterator[Told]:
    after = 0
    while page := await log.query(EventFilter(run=run, after=after, limit=_PAGE)):
        for each in page:
            after = each.seq
            yield reading.told(each.json())


def _take(story: list[Told]) -> Take | None:
    """Return a call as its events tell it, or None for what no host asked for."""
    decision = next((each for each in story if each.is_decision), None)
    end = next((each for each in story if each.is_end and "method" in each.body), None)
    told = end or decision
    if told is None or told.body.get("cause"):
        return None
    if told.body.get("code") == "not_json":  # nobody knows what it said: its digest is of nothing
        return None
    level = _text(decision.body.get("level")) if decision is not None else ""
    outcome, lack = _outcome(end.body, story, level) if end is not None else (None, _NO_END)
    return Take(
        call=told.call,
        seq=told.seq,
        at=_text(told.whole.get("ts")),
        method=Method(_text(told.body.get("method"))),
        tool=_text(told.body.get("tool")),
        name=_text(told.body.get("name")),
        digest=_text(told.body.get("arguments_digest")),
        asked=reading.recorded(decision) if decision is not None else None,
        outcome=outcome,
        lack=lack,
    )


def _outcome(
    body: JsonObject, story: list[Told], level: str
) -> tuple[Answer | Refusal | None, str]:
    status = Status(_text(body.get("status")))
    if body.get("result_digest"):  # of a server's result, also of one that says that it failed
        result = body.get("result")
        if not isinstance(result, dict):
            return None, _not_kept(_text(body.get("tool")), level)
        if _is_cut(result):
            return None, _TOO_LARGE
        redactions = body.get("redactions")
        count = redactions if isinstance(redactions, int) else 0
        return Answer(result=_playable(result), status=status, redactions=count), ""
    reason, code = _text(body.get("reason")), body.get("error_code")
    original = body.get("original")
    is_whole = isinstance(original, dict) and not _is_cut(original)
    return Refusal(
        status=status,
        reason=reason,
        code=_text(body.get("code")),
        rule=_text(body.get("rule")),
        executed=Execution(_text(body.get("executed"))),
        next=_text(body.get("next")),
        original=_playable(original) if isinstance(original, dict) and is_whole else None,
        error=WireError(code=code, message=reason) if isinstance(code, int) else None,
        approval=_approval(story),
    ), ""


def _not_kept(tool: str, level: str) -> str:
    if not tool:
        return "its result was not kept: `events.level` was not `full`"
    known = level or _BY_DEFAULT
    return f"its result was not kept: the audit level of `{tool}` was `{known}`"


def _playable(result: JsonObject) -> JsonObject:
    """Return a result whose blocks are those of MCP, with texts in the place of what was redacted.

    Its data may hold markers: no client asks for more of data than that it fits its schema.
    """
    shown = {name: _shown(result[name]) for name in _BLOCKS if name in result}
    return {
        **result,
        **{name: [_GONE] if each == _HIDDEN else each for name, each in shown.items()},
    }


def _shown(value: Json) -> Json:
    if markers.is_marker(value):
        return _HIDDEN
    if isinstance(value, dict):
        return {name: _shown(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_GONE if markers.is_marker(item) else _shown(item) for item in value]
    return value


def _approval(story: list[Told]) -> ApprovalTold | None:
    """Return the request that a call made of people, as its caller learned of it."""
    for each in story:
        approval = _text(each.body.get("approval"))
        if each.kind == EventKind.APPROVAL and approval:
            return ApprovalTold(approval_id=approval)
    return None


async def _completed(take: Take, story: list[Told], kept: Kept) -> Take:
    """Return a call with the answer that its operation keeps, where the log has none."""
    if take.outcome is not None:
        return take
    for op in {_text(each.body.get("op")) for each in story if each.kind == EventKind.SIDE_EFFECT}:
        found = await kept(op) if op else None
        if found is not None and found.status == _ended(story):
            return replaced(take, outcome=found, lack="")
    return take


def _shared(found: Iterable[Take], stories: dict[str, list[Told]]) -> tuple[Take, ...]:
    """Give calls that were told one and the same result what is kept of any of them."""
    calls, known = tuple(found), dict[str, Answer | Refusal]()
    for take in calls:
        digest = _result_digest(stories[take.call])
        if digest and take.outcome is not None:
            known.setdefault(digest, take.outcome)
    return tuple(
        replaced(take, outcome=same, lack="")
        if take.outcome is None
        and (same := known.get(_result_digest(stories[take.call]))) is not None
        else take
        for take in calls
    )


def _ended(story: list[Told]) -> str:
    return next((_text(each.body.get("status")) for each in story if each.is_end), "")


def _result_digest(story: list[Told]) -> str:
    return next((_text(each.body.get("result_digest")) for each in story if each.is_end), "")


def _is_cut(result: JsonObject) -> bool:
    return "" in unknown.places(result)


def _text(said: Json) -> str:
    return said if isinstance(said, str) else ""

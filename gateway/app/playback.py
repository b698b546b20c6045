"""A gateway that answers from the record of one run: it judges nothing, and sends nothing.

It holds all that it needs in memory before the first host comes, and has neither servers nor a
store. So nothing that a host does here reaches anything, and nothing of the run changes.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from gateway.app.programme import Programme
from gateway.clock import Clock
from gateway.listing import Listing, Page
from gateway.replay.takes import Take
from gateway.replay.tape import Miss, Tape, Wanted, near_as_json
from gateway.results import envelope
from gateway.types.calls import Caller, Method, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Answer, Finished, Refusal, Status
from gateway.types.refused import TurnedAway
from gateway.types.relay import Told
from gateway.types.tools import Kind, Listed

PLAYED: Final = "weighbridge/playback"  # key in `_meta`, and in the data of an error
RULE: Final = "gateway.playback"
_log = logging.getLogger("weighbridge")


@dataclass(slots=True, kw_only=True)
class Playback:
    """What the fronts see of a run on tape.

    Only callers of its tenant are shown anything: to all others there is no such run.
    """

    tape: Tape
    programme: Programme
    clock: Clock
    digest: Callable[[ProposedCall], str]  # as the log has it of what a call asks for
    spelled: Callable[[ProposedCall], str]  # the name in a call, as the log has it
    is_open: bool = False  # whoever can start this process may read the log as well
    _listing: Listing = field(init=False)

    def __post_init__(self) -> None:
        """Make the lists as the actor of the run saw them."""
        self._listing = self.programme.listing(self.clock)

    async def handle(self, call: ProposedCall) -> Finished:
        """Answer a call as it was answered in the run, or say that it is not in it."""
        if not self._is_welcome(call.principal):
            return envelope.refuse(
                replace(envelope.missing(call.name, call.method), hidden=True),
                envelope.Subject(call_id=call.call_id, method=call.method, tool=call.name),
            )
        if call.input_error:  # what can't be read is like nothing, least of all like no arguments
            return self._unreadable(call)
        name = self.spelled(call)
        wanted = Wanted(
            method=call.method,
            key=self.programme.key_of(call.method, name),
            name=name,
            digest=self.digest(call),
            arguments=call.arguments,
        )
        found = self.tape.play(wanted)
        if isinstance(found, Miss):
            _log.warning("%s", found.reason)
            return self._missed(call, found)
        return self._played(call, found)

    async def watch(
        self, call: ProposedCall, told: Callable[[], None]
    ) -> Callable[[], None] | Finished:
        """Answer a subscription as it was answered; nothing is ever told of it."""
        del told
        finished = await self.handle(call)
        return _leave if finished.error is None else finished

    async def follow(self, call: ProposedCall, told: Told) -> Callable[[], None] | Finished:
        """Answer that the task is not there: tasks are not on tape."""
        del told
        return await self.handle(call)

    async def list_items(
        self, kind: Listed, principal: Principal, caller: Caller, *, cursor: str | None
    ) -> Page:
        """Return a page of what the actor of the run saw; raises BadCursor."""
        del caller
        if not self._is_welcome(principal):
            return Page(items=[])
        return self._listing.page(kind, self.programme.actor, cursor)

    def offers(self) -> JsonObject:
        """Return the capabilities of whatever was used in the run."""
        offered: JsonObject = {"tools": {}}
        methods = {take.method for take in self.tape.takes}
        if methods & {Method.READ_RESOURCE, Method.SUBSCRIBE}:
            offered["resources"] = {"subscribe": Method.SUBSCRIBE in methods}
        if Method.GET_PROMPT in methods:
            offered["prompts"] = {}
        if Method.COMPLETE in methods:
            offered["completions"] = {}
        return offered

    def tool_schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema of a tool as it was then."""
        if not self._is_welcome(principal):
            return None
        return self._listing.schema(self.programme.actor, name)

    def on_changed(self, callback: Callable[[Kind], None]) -> Callable[[], None]:
        """Never call back: what was can't change."""
        del callback
        return _leave

    def roots_changed(self, principal: Principal, session: str) -> None:
        """Tell nobody."""
        del principal, session

    def turned_away(self, what: TurnedAway) -> None:
        """Say so in the log of the process."""
        _log.warning("a request was turned away: %s", what.reason)

    def _is_welcome(self, principal: Principal) -> bool:
        return self.is_open or principal.tenant == self.programme.actor.tenant

    def _played(self, call: ProposedCall, take: Take) -> Finished:
        said: JsonObject = {"run": self.tape.run, "call": take.call, "at": take.at}
        match take.outcome:
            case Answer() as answer:
                return _marked(envelope.answer(answer, self._subject(call, take)), said)
            case Refusal() as refusal:
                hidden = replace(refusal, hidden=self._is_hidden(take))
                return _marked(envelope.refuse(hidden, self._subject(call, take)), said)
            case None:  # the tape hands out no such call
                raise ValueError(take.call)

    def _is_hidden(self, take: Take) -> bool:
        """Whether its caller was told that there is no such tool, as of all that isn't listed."""
        is_tool = take.method is Method.CALL_TOOL
        return is_tool and self._listing.schema(self.programme.actor, take.name) is None

    def _subject(self, call: ProposedCall, take: Take) -> envelope.Subject:
        return envelope.Subject(
            call_id=take.call,
            run_id=self.tape.run,
            method=call.method,
            era=call.caller.era,
            tool=call.name,
            rule=take.asked.judged.rule if take.asked is not None else "",
            has_output_schema=self.programme.has_output_schema(take.key),
        )

    def _unreadable(self, call: ProposedCall) -> Finished:
        refusal = Refusal(
            status=Status.INVALID_ARGUMENTS, code="not_json", reason=call.input_error, rule=RULE
        )
        subject = envelope.Subject(call_id=call.call_id, method=call.method, tool=call.name)
        return _marked(envelope.refuse(refusal, subject), {"run": self.tape.run, "missed": True})

    def _missed(self, call: ProposedCall, miss: Miss) -> Finished:
        refusal = Refusal(
            status=Status.NOT_RECORDED,
            code=miss.code,
            rule=RULE,
            reason=miss.reason,
            details=tuple(near_as_json(near) for near in miss.near),
        )
        subject = envelope.Subject(
            call_id=call.call_id,
            run_id=self.tape.run,
            method=call.method,
            era=call.caller.era,
            tool=call.name,
            has_output_schema=self.programme.has_output_schema(miss.wanted.key),
        )
        return _marked(envelope.refuse(refusal, subject), {"run": self.tape.run, "missed": True})


def _marked(finished: Finished, said: JsonObject) -> Finished:
    """Say in the answer itself that it is played."""
    if finished.error is not None:
        data: Json = finished.error.data
        known = data if isinstance(data, dict) else {}
        error = replace(finished.error, data={**known, PLAYED: said})
        return replace(finished, error=error)
    meta = finished.result.get("_meta")
    marked: JsonObject = {**(meta if isinstance(meta, dict) else {}), PLAYED: said}
    return replace(finished, result={**finished.result, "_meta": marked})


def _leave() -> None:
    """Leave nothing: nothing was joined."""

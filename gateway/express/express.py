"""Takes reads that are like earlier ones from their proposal to their answer, in few steps.

Most calls that an agent makes are reads that differ from the last one in ids, times and arguments.
The first ones of each kind go all the way (`pipeline`), and lay a track: what of all that was
looked at holds for each further one. On a track its arguments are held against the schema and the
rules, its events are kept, it is sent, its result is checked and marked, and nothing else is asked.
INVARIANT: whoever looks from outside sees no difference: answers, events, spans and metrics are
those of the long way; tests hold one against the other. Whatever is not as it was goes the long
way from the beginning, or from where it turned out to be different.
"""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from gateway import jsontext
from gateway.case import Case
from gateway.errors import JsonError, StoreUnavailable
from gateway.express import track as tracks
from gateway.express.ride import Ride
from gateway.express.track import Inside, Key, Track
from gateway.precedents import Precedents
from gateway.relay.outbound import OWN_MEMBERS, USUAL_KEYS
from gateway.results import envelope, marks, shape
from gateway.revision import Revision
from gateway.steps.dispatch import Downstream, unrecorded
from gateway.steps.record import Record
from gateway.steps.resolve import Resolve
from gateway.types.actors import Actor
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery
from gateway.types.outcomes import Answer, Finished, Status
from gateway.types.records import CallRecord
from gateway.types.values import maker, replaced

_log = logging.getLogger("weighbridge")
_finished = maker(Finished)
_MOST: Final = 1024  # tracks; all go when there are more
_TRIES: Final = 8  # calls of a kind that are looked at; the first ones fill what tracks are made of
_META: Final = USUAL_KEYS - {"progressToken"}
# Names of the module for what every call asks: to find a member takes longer than to compare it.
_CALL_TOOL: Final = Method.CALL_TOOL
_OK: Final = Status.OK
_NOTHING: Final[JsonObject] = {}  # told from anything that a server sent by being this one


@dataclass(slots=True, kw_only=True)
class Express:
    """The tracks, and the calls on them; for one event loop."""

    resolve: Resolve
    record: Record
    precedents: Precedents
    server: Callable[[str], Downstream | None]
    is_own: Callable[[str], bool]
    """Whether a name may come to be that of a tool of the gateway's own."""
    hears_logs: Callable[[Case], bool]
    deadline_s: Callable[[Case], float]
    max_result_bytes: int
    at_length: Callable[[ProposedCall, int], Coroutine[Any, Any, Finished]]
    """Takes a call all the way, that came at a time in nanoseconds since the epoch."""
    taken_up: Callable[[Ride, Downstream, Delivery], Coroutine[Any, Any, Finished]]
    """Takes a call from its server's word on, as on the long way."""
    _tracks: dict[Key, Track] = field(default_factory=dict[Key, Track])
    _inside: dict[Inside, Track] = field(default_factory=dict[Inside, Track])
    # How many of each were looked at; the actor is held, so that its id is nobody else's.
    _tried: dict[Inside, tuple[int, Actor]] = field(default_factory=dict[Inside, tuple[int, Actor]])
    _revision: Revision | None = None

    def taken(self, call: ProposedCall) -> Coroutine[Any, Any, Finished] | None:
        """Return the way of a call that is like earlier ones; None for any other."""
        track = self._tracks.get(tracks.key_of(call))
        if track is None or not self._fits(call, track):
            return None
        received_ns = self.record.clock.time_ns()
        if track.is_placed:
            return self._in_place(call, track, received_ns)
        case, arguments = track.case, call.arguments
        if not track.admission.admits(arguments):
            return None
        if track.decides is not None:
            asked = replaced(track.request, arguments=arguments, now=call.received_at)
            if track.decides(asked) is not case.decision:
                return None
        return self._begun(call, track, received_ns)

    def learn(self, case: Case, record: CallRecord) -> None:
        """Lay the track of a call that went all the way, if others like it may be taken on one.

        Raises nothing: what is learned of a call must not cost it its answer.
        """
        try:
            self._learn(case, record)
        except Exception as error:
            _log.error("%s: nothing was learned of it: %s", case.call.call_id, type(error).__name__)

    def _learn(self, case: Case, record: CallRecord) -> None:
        if case.revision is not self._revision:
            self._revision = case.revision
            self._forget()
        usual, telemetry = self.record.usual, self.record.telemetry
        # A result that passes as it is, of whatever type, may be an error and still no failure.
        if record.status is not _OK or record.tool_error or self.is_own(case.call.name):
            return
        if usual is None or not telemetry.has_stencils:
            return
        key = tracks.key_of(case.call)
        inside = key, case.phase, case.run is None
        tried, actor = self._tried.get(inside, (0, case.call.principal.actor))
        if tried >= _TRIES:
            return
        if not tried and len(self._tried) >= _MOST:
            self._forget()
        self._tried[inside] = tried + 1, actor
        forms = usual.forms(record, case)
        if forms is None or not forms.are_known:
            return
        stencil = telemetry.stencil(record)
        if stencil is None or not tracks.is_usual(case, hears_logs=self.hears_logs):
            return
        is_placed = self.resolve.belonging.places(case)
        track = tracks.laid(
            case,
            usual,
            forms,
            stencil,
            is_placed=is_placed,
            deadline_s=self.deadline_s(case),
            maximum=case.contract.max_result_bytes or self.max_result_bytes,
        )
        if track is not None:
            self._tracks[key] = track
            if is_placed:
                self._inside[inside] = track

    def _forget(self) -> None:
        self._tracks.clear()
        self._inside.clear()
        self._tried.clear()

    def _is_current(self, track: Track, case: Case) -> bool:
        return track.case.revision is case.revision and track.case.tool is case.tool

    def _fits(self, call: ProposedCall, track: Track) -> bool:
        """Whether a call is like those of a track, but for its arguments and its run."""
        caller, case = call.caller, track.case
        return (
            case.revision is self.resolve.revision()
            and self.resolve.catalogue.find(call.name) is case.tool
            and call.method is _CALL_TOOL
            and not (caller.capabilities or caller.log_level or caller.wants_progress)
            and not (call.input_error or call.cause or call.continues)
            and call.run is None
            and call.operation is None
            and call.meta.keys() <= _META
            and call.params.keys() <= OWN_MEMBERS
        )

    async def _in_place(self, call: ProposedCall, track: Track, received_ns: int) -> Finished:
        """Take a call whose run is to be looked for."""
        try:
            case = self.resolve.case_for(call, track.case.tool)
            placed = await self.resolve.belonging.placed(case) if case is not None else None
        except Exception as error:
            return self.record.open(call, received_ns).closed(self.record.fault(call, error))
        except BaseException:  # the caller went away; the call still gets its final event
            self.record.open(call, received_ns).abandoned()
            raise
        if not isinstance(placed, Case):
            return await self.at_length(call, received_ns)
        verdict = self.precedents.judged(placed)
        judged = verdict.case
        found = self._inside.get((tracks.key_of(call), judged.phase, judged.run is None))
        is_moved = judged.passage is not None and judged.passage.move_to is not None
        if (
            found is None
            or verdict.refusal is not None
            or is_moved
            or judged.decision is not found.case.decision
            or not self._is_current(found, judged)
        ):
            return await self.at_length(call, received_ns)
        going = self._begun(call, found, received_ns, judged)
        if going is None:
            return await self.at_length(call, received_ns)  # which notes it by itself
        self.resolve.belonging.noted(judged.run_id, call.received_at)
        return await going

    def _begun(
        self, call: ProposedCall, track: Track, received_ns: int, case: Case | None = None
    ) -> Coroutine[Any, Any, Finished] | None:
        """Return the way of a call that is judged; `case` is that of one whose run was found."""
        books = self.record
        server = self.server(track.case.tool.server)
        trace = books.telemetry.trace_for(call)
        parent = trace.parent
        if trace.link is not None or (parent is not None and parent.state):
            return None  # its spans say more than is said of others
        if server is None or (books.reads_wait_for_log and books.journal.failing):
            return None
        try:
            written = jsontext.dump(call.arguments)
        except JsonError:
            return None
        times = received_ns, books.clock.time_ns()
        ride = Ride(track, call, trace, times, books, written=written, case=case)
        return self._ridden(ride, server)

    async def _ridden(self, ride: Ride, server: Downstream) -> Finished:
        """Keep what was decided, send, and return what leaves."""
        books = self.record
        journal, clock, under_way = books.journal, books.clock, books.under_way
        under_way.calls += 1
        try:
            ride.sent_at = clock.now()
            try:
                journal.append_later(ride.decided, 1)
            except StoreUnavailable as error:
                return ride.ticket.closed(unrecorded(error))
            if under_way.calls == 1:  # its server is waited for, and nobody waits
                journal.catch_up()
            ride.sent_ns = clock.time_ns()
            request = ride.sends(books.telemetry.outgoing(ride.trace))
            delivery = await server.request(request, None)
            ride.answered_ns = clock.time_ns()
            if isinstance(delivery, Delivered):
                texts = _texts_of(ride.track, delivery)
                finished = None if texts is None else self._finished(ride, delivery, texts)
                if finished is not None:
                    return finished
            return await self.taken_up(ride, server, delivery)
        except Exception as error:
            return ride.ticket.closed(books.fault(ride.call, error))
        except BaseException:  # the caller went away; the call still gets its final event
            ride.ticket.abandoned()
            raise

    def _finished(self, ride: Ride, delivered: Delivered, texts: list[str]) -> Finished | None:
        """End a call whose result is like others; None, with nothing done, while the log fails."""
        books, case = self.record, ride.track.case
        if books.journal.failing:
            return None
        result = delivered.result
        if not case.contract.trusted_text:
            result = _with(result, envelope.UNTRUSTED, _mark(case.tool.server, texts))
        ride.result, ride.result_size = result, delivered.size
        ride.closed_ns = books.clock.time_ns()
        ride.ended_at = books.clock.now()
        try:
            books.journal.append_later(ride.ended, 2, owed=True)
        except StoreUnavailable as error:
            ride.ticket.answered(delivered)
            return ride.ticket.unkept(Answer(result=result), error)
        books.under_way.calls -= 1
        return _finished(result=_with(result, envelope.OUTCOME, _outcome(ride)), status=_OK)


def _texts_of(track: Track, delivered: Delivered) -> list[str] | None:
    """Return the texts of a result that is what most are, and leaves as it came; else None."""
    result, output = delivered.result, track.output
    if delivered.redactions or delivered.size > track.maximum or not shape.is_complete(result):
        return None
    if "isError" in result and result["isError"] is not False:
        return None
    structured = result.get("structuredContent", _NOTHING)
    if output is not None and (structured is _NOTHING or not output.is_valid(structured)):
        return None
    content = result.get("content")
    if not content or not isinstance(content, list):
        return None
    texts: list[str] = []
    # As `shape.fault` and `marks.texts` see it where there are plain texts, as mostly.
    for block in content:
        if not isinstance(block, dict) or block.get("type") != "text" or "content" in block:
            break
        text = block.get("text")
        if not isinstance(text, str):
            break
        texts.append(text)
    if len(texts) == len(content) and not ("contents" in result or "messages" in result):
        return texts
    return marks.texts(result) if shape.fault(result, _CALL_TOOL) is None else None


def _mark(server: str, texts: list[str]) -> JsonObject:
    """Say that the text comes from a server, and whether it hides characters from people."""
    found = sum(map(marks.hidden, texts))
    return {"server": server, "hidden_characters": found} if found else {"server": server}


def _outcome(ride: Ride) -> JsonObject:
    """Return what the envelope says of a call that was carried out."""
    said: JsonObject = {"call_id": ride.call.call_id, "status": "ok"}
    if ride.run_id:
        said["run_id"] = ride.run_id
    rule = ride.track.case.decision.rule
    if rule:
        said["rule"] = rule
    said["verification"] = "not_declared"
    return said


def _with(result: JsonObject, key: str, told: JsonObject) -> JsonObject:
    """Return a result with one more member in its `_meta`."""
    meta = result.get("_meta")
    return {**result, "_meta": {**meta, key: told} if isinstance(meta, dict) else {key: told}}

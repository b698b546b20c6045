"""Both directions between a caller and the server of its call, as dispatch uses them."""

from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case
from gateway.relay.ears import CallerEar
from gateway.relay.outbound import Outbounds
from gateway.relay.questions import CAPABILITY_OF, Questions
from gateway.relay.rounds import Rounds, Send, brought
from gateway.types.calls import Era, Method
from gateway.types.operations import Delivered, Rejected
from gateway.types.outcomes import Answer, Refusal
from gateway.types.relay import Ear, Outbound, Turns, Underway, lane_of

_ASKED: Final = frozenset(CAPABILITY_OF.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """Shows a server as much of the caller as policy allows, and the caller what it says."""

    outbounds: Outbounds
    questions: Questions
    rounds: Rounds
    ask_s: float  # how long a person has to answer one question
    ask_bytes: int = 256 * 1024  # the largest question that reaches a caller

    def outbound(self, case: Case, traceparent: str) -> Outbound:
        """Return the request to the server."""
        outbound = self.outbounds(case, traceparent)
        if case.call.method.is_task:
            outbound = self.rounds.tasks.unsealed(case.call, outbound)
        shared = self.questions.shared(case)
        level = self.questions.log_level(case)
        # A subscription is told of what happens in any lane of its caller.
        if not shared and not level and case.call.method is not Method.SUBSCRIBE:
            return outbound
        principal = case.call.principal
        return replace(
            outbound,
            capabilities=shared,
            log_level=level,
            lane=lane_of(principal, case.call.caller.session),
            owner=lane_of(principal, ""),
        )

    def ear(self, case: Case, outbound: Outbound, turns: Turns) -> Ear | None:
        """Return who hears what the server says, or None when nobody wants to."""
        caller = case.call.caller
        # A server asks what it was not told to as well: that is refused by the rule, and recorded.
        can_be_asked = not _ASKED.isdisjoint(caller.capabilities)
        listens = caller.wants_progress or can_be_asked or outbound.log_level
        # Clients of the handshake era get log messages without having set a level.
        if not listens and not (caller.era is Era.LEGACY and self.questions.hears_logs(case)):
            return None
        return CallerEar(
            case=case,
            outbound=outbound,
            questions=self.questions,
            turns=turns,
            ask_s=self.ask_s,
            ask_bytes=self.ask_bytes,
        )

    def keep_answers(self, case: Case, turns: Turns) -> None:
        """Keep what became of questions that a stateless caller brings answers to."""
        brought(case, turns)

    async def settle(
        self, case: Case, underway: Underway, delivered: Delivered, send: Send
    ) -> Delivered | Answer | Refusal:
        """See a request through until its result is one."""
        if "resultType" not in delivered.result and not case.call.method.is_task:
            return delivered
        return await self.rounds.settle(case, underway, delivered, send)

    def visits(self, case: Case, turns: Turns, wanted: Rejected) -> Rejected | Delivered | Refusal:
        """Say what becomes of the URLs that a server wants visited first."""
        return self.rounds.visits(case, turns, wanted)

    def may_be_asked(self, case: Case) -> bool:
        """Say whether a stateless caller may be asked in the middle of its call."""
        caller = case.call.caller
        if caller.era is not Era.MODERN or case.call.method is Method.COMPLETE:
            return False
        return self.questions.asks_any(case)

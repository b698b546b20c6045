"""Both directions between a caller and the server of its call, as dispatch uses them."""

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case
from gateway.relay.ears import CallerEar
from gateway.relay.outbound import Outbounds
from gateway.relay.questions import CAPABILITY_OF, Questions
from gateway.relay.rounds import Rounds, Send, brought
from gateway.relay.states import RESPONSES
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
        outbound, call = self.outbounds(case, traceparent), case.call
        caller = call.caller
        if call.method is Method.CALL_TOOL and not caller.capabilities and not caller.log_level:
            return outbound  # there is nothing to share
        if call.method.is_task:
            outbound = self.rounds.tasks.unsealed(call, outbound)
        shared = self.questions.shared(case)
        level = self.questions.log_level(case)
        # A subscription is told of what happens in any lane of its caller.
        if not shared and not level and call.method is not Method.SUBSCRIBE:
            return outbound
        principal = call.principal
        return replace(
            outbound,
            capabilities=shared,
            log_level=level,
            lane=lane_of(principal, caller.session),
            owner=lane_of(principal, ""),
        )

    def ear(self, case: Case, outbound: Outbound, turns: Turns) -> Ear | None:
        """Return who hears what the server says, or None when nobody wants to."""
        caller = case.call.caller
        # A server asks what it was not told to as well: that is refused by the rule, and recorded.
        declared = caller.capabilities
        if not (
            caller.wants_progress
            or (declared and not _ASKED.isdisjoint(declared))
            or outbound.log_level
            # Clients of the handshake era get log messages without having set a level.
            or (caller.era is Era.LEGACY and self.questions.hears_logs(case))
        ):
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
        if RESPONSES in case.call.params:
            brought(case, turns)

    def is_settled(self, case: Case, delivered: Delivered) -> bool:
        """Say whether a result is one, as most are; else `settle` has to look."""
        return "resultType" not in delivered.result and not case.call.method.is_task

    def settle(
        self, case: Case, underway: Underway, delivered: Delivered, send: Send
    ) -> Awaitable[Delivered | Answer | Refusal]:
        """See a request through until its result is one."""
        return self.rounds.settle(case, underway, delivered, send)

    def visits(self, case: Case, turns: Turns, wanted: Rejected) -> Rejected | Delivered | Refusal:
        """Say what becomes of the URLs that a server wants visited first."""
        return self.rounds.visits(case, turns, wanted)

    def may_be_asked(self, case: Case) -> bool:
        """Say whether a stateless caller may be asked in the middle of its call."""
        caller = case.call.caller
        if not caller.capabilities or caller.era is not Era.MODERN:
            return False
        if case.call.method is Method.COMPLETE:
            return False
        return self.questions.asks_any(case)

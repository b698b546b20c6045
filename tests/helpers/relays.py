"""Relays for tests: real parts, with questions that are allowed or not."""

from collections.abc import Callable, Mapping

from gateway.case import Case
from gateway.clock import Clock, SystemClock
from gateway.relay.outbound import Outbounds
from gateway.relay.questions import Questions
from gateway.relay.relay import Relay
from gateway.relay.rounds import Rounds
from gateway.relay.seals import Seals
from gateway.relay.states import States
from gateway.relay.tasks import Tasks
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject

EVERYTHING = frozenset({Method.ELICIT, Method.SAMPLE, Method.LIST_ROOTS, Method.LOG})
KEY = b"k" * 32


def some_questions(
    allowed: frozenset[Method] = EVERYTHING,
    decide: Callable[[Method, JsonObject], bool] = lambda method, params: True,
) -> Questions:
    """Return questions of the allowed kinds, each of which passes when `decide` says so."""

    def decided(case: Case, method: Method, params: JsonObject) -> Decision:
        passes = method in allowed and decide(method, params)
        return Decision(effect=DecisionEffect.ALLOW if passes else DecisionEffect.DENY)

    return Questions(allowed=lambda case: allowed, decide=decided)


def some_states(clock: Clock | None = None, for_s: float = 60.0) -> States:
    """Return states under a known key."""
    return States(seals=Seals(KEY, clock or SystemClock()), for_s=for_s)


def a_relay(
    questions: Questions | None = None,
    *,
    states: States | None = None,
    server_timeouts_s: Mapping[str, float] | None = None,
    ask_s: float = 5.0,
) -> Relay:
    """Return a relay that gives calls 30 seconds."""
    questions = questions or some_questions(frozenset())
    states = states or some_states()
    return Relay(
        outbounds=Outbounds(timeout_s=30, server_timeouts_s=server_timeouts_s or {}),
        questions=questions,
        rounds=Rounds(questions=questions, states=states, tasks=Tasks(seals=states.seals)),
        ask_s=ask_s,
    )

"""The way of a call while decisions are only recorded: judged as always, and sent as it came.

What would have become of it goes into its events (`observed`). docs/how-to/observe.md says what is
enforced even so, ADR-0019 why.
"""

import logging
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.app.stance import Stance, Way
from gateway.case import Case, Verdict
from gateway.crossing.belonging import Stale
from gateway.crossing.operate import Work
from gateway.crossing.ticket import Ticket
from gateway.listing import Listing, published
from gateway.operations import refusals
from gateway.pipeline import Pipeline
from gateway.relay.relay import Relay
from gateway.steps import dispatch, risk
from gateway.store.requests import Held
from gateway.types import repeats
from gateway.types.calls import ProposedCall
from gateway.types.decisions import Decision, DecisionEffect, Mode
from gateway.types.guarantees import Repeat
from gateway.types.json import JsonObject
from gateway.types.observed import PASSED, Observed, Would, instead
from gateway.types.operations import Delivered, Delivery, Execution, Operation, Rejected
from gateway.types.outcomes import Answer, Finished, Refusal, Status, WireError
from gateway.types.relay import URL_REQUIRED
from gateway.types.tools import Kind, Listed, Tool
from gateway.types.values import replaced

_log = logging.getLogger("weighbridge")

_PASSING: Final = Decision(effect=DecisionEffect.ALLOW, code="observed")
_UNREVIEWED: Final = "unreviewed"
_MOST_CHANGES: Final = 8  # of a run, while one call is judged


def observing(pipeline: Pipeline, stance: Stance) -> "Observing":
    """Return the same pipeline with that way through it; `stance` has the count of its calls."""
    relay = _asking(pipeline.relay)
    return Observing(
        resolve=pipeline.resolve,
        # Nothing waits for the same call under way, and the gateway asks no server by itself.
        claim=replace(pipeline.claim, patience_s=_no_patience, resolve=_nothing_known),
        dispatch=replace(pipeline.dispatch, relay=relay),
        normalise=pipeline.normalise,
        record=pipeline.record,
        owner=pipeline.owner,
        operate=pipeline.operate,
        checks=pipeline.checks,
        relay=relay,
        states=pipeline.states,
        parking=pipeline.parking,
        holding=pipeline.holding,
        own_tools=pipeline.own_tools,
        belonging=pipeline.belonging,
        stance=stance,
        enforcing=pipeline,
    )


def _no_patience(case: Case) -> float:
    del case
    return 0.0


def _asking(relay: Relay) -> Relay:
    """Return the relay by which servers may ask their callers anything."""
    questions = replace(relay.questions, observes=True)
    return replace(relay, questions=questions, rounds=replace(relay.rounds, questions=questions))


async def _nothing_known(case: Case, operation: Operation) -> bool:
    del case, operation
    return False


def ways(pipeline: Pipeline, listing: Listing, stance: Stance) -> dict[Mode, Way]:
    """Return how calls are handled in each mode, from how they are when decisions are enforced."""
    everything = Everything(
        catalogue=listing.catalogue,
        resolve=listing.resolve,
        revision=listing.revision,
        clock=listing.clock,
        own=listing.own,
        page_size=listing.page_size,
    )
    return {
        Mode.ENFORCE: Way(pipeline=pipeline, listing=listing),
        Mode.OBSERVE: Way(pipeline=observing(pipeline, stance), listing=everything),
    }


class Everything(Listing):
    """Lists whatever servers offer, as they publish it under its exposed name."""

    __slots__ = ()

    def _definition(self, kind: Listed, call: ProposedCall, tool: Tool) -> JsonObject | None:
        del call
        return published(kind, tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing(Pipeline):
    """Judges like the pipeline that it is, and lets pass."""

    stance: Stance
    enforcing: Pipeline

    def _weighed(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        if not self.stance.observes:  # what was begun before it was over, such as a subscription
            now = self.enforcing
            dispatch = replace(now.dispatch, server=self.dispatch.server)
            return replace(now, dispatch=dispatch).handle(call)
        return self._crossed(call, self._observed, self._passed)

    def _is_held(self, case: Case) -> bool:
        del case
        return False  # nobody is asked, whatever would be

    async def _observed(self, call: ProposedCall, ticket: Ticket) -> Case | Answer | Refusal:
        """Return what is sent, once it is noted what would have been; or what can't be sent."""
        judged = await self._would(call, ticket)
        if self.own_tools.has(call):
            return _unnamed(call) if isinstance(judged, Case) else judged
        if isinstance(judged, Case) and judged.operation is not None:
            return _as_it_came(judged)
        known = ticket.judged_case or self.resolve.observed(call)
        if known is None or call.input_error or known.tool.away is not None:
            # Nothing has the name, what it is given has two readings, or its server is not there.
            return _unnamed(call) if isinstance(judged, Case) else judged
        if ticket.judged_case is None and isinstance(judged, Refusal):
            if judged.code == _UNREVIEWED:  # callers are told that it doesn't exist
                judged = replace(judged, reason="nobody has reviewed this tool")
            ticket.judged(Verdict(case=known, refusal=judged, findings=()))
        if not isinstance(judged, Case):
            ticket.passes(instead(judged))
        return _as_it_came(known)

    async def _would(self, call: ProposedCall, ticket: Ticket) -> Case | Answer | Refusal:
        """Judge a call, and take what it takes if it would have been sent."""
        for _ in range(_MOST_CHANGES):
            try:
                judged = await self._judged(call, ticket)
            except Exception as error:  # such as a store that is away: nobody can tell
                return self.record.fault(call, error)
            taken = await self._allowed(judged, ticket) if isinstance(judged, Case) else judged
            if not isinstance(taken, Stale):
                return taken
        return refusals.run_changing()

    async def _allowed(self, case: Case, ticket: Ticket) -> Case | Answer | Refusal | Stale:
        """Note what would have become of a judged call, and take what it takes if it is sent."""
        decision = case.decision
        if decision.effect is DecisionEffect.REQUIRE_APPROVAL or _repeats_by_approval(case):
            refused = self.claim.unaskable(case, is_held=True, repeats=False)
            ticket.passes(_held(decision) if refused is None else instead(refused))
            return case
        changes = bool(decision.constraints) and case.arguments != case.call.arguments
        ticket.passes(_changed(decision) if changes else PASSED)
        if case.is_plain_read:
            return case
        # What is kept of an operation is what is really sent.
        sent = replaced(case, arguments=case.call.arguments)
        taken = await self.claim(sent, ticket)
        return sent if isinstance(taken, Held) else taken

    async def _passed(self, case: Case, ticket: Ticket) -> Finished:
        try:
            if case.operation is not None:
                work = Work(
                    answered=lambda: self._through(case, ticket),
                    shaped=lambda delivery: self._late_answer(case, ticket, delivery),
                )
                finished = await self.operate.carry(case, ticket, work)
            else:
                finished = ticket.closed(await self._through(case, ticket))
        except Exception as error:
            return ticket.closed(self.record.fault(case.call, error))
        except BaseException:
            ticket.abandoned()
            raise
        record = ticket.record
        self.stance.tally.count(_counted(case.tool), record.observed, record.observed_result)
        return _with_error(finished, ticket.delivery)

    async def _through(self, case: Case, ticket: Ticket) -> Answer | Refusal:
        delivered = await self.dispatch(case, ticket)
        if not isinstance(delivered, Delivered):
            is_free = isinstance(delivered, Answer) or delivered.executed is Execution.NO
            if is_free and case.operation is None and ticket.judged_case is not None:
                await self.claim.give_back(ticket.judged_case)  # which knows what it took
            return delivered
        return await self._whole(case, ticket, delivered)

    async def _late_answer(
        self, case: Case, ticket: Ticket, delivery: Delivery
    ) -> Answer | Refusal:
        delivered = dispatch.classify(case, delivery)
        if isinstance(delivered, Refusal):
            return delivered
        return await self._whole(case, ticket, delivered)

    async def _whole(self, case: Case, ticket: Ticket, delivered: Delivered) -> Answer:
        """Return an answer as it came; what would have left of it is what later calls go by."""
        judged, answer = ticket.judged_case, self.normalise.whole(case, delivered)
        if judged is None:
            return answer
        try:
            left = self.shaping.shaped(judged, delivered)
            if judged.leaves_traces:
                await self.record.seen(judged, left)
        except Exception as error:  # such as a definition whose schema can't be compiled
            _log.debug("%s: its answer was not looked at: %s", case.call.call_id, error)
            return answer
        ticket.record.observed_result = _of_result(left, delivered)
        return answer


def _as_it_came(judged: Case) -> Case:
    """Return what is sent of a judged call: what its caller sent, as if nobody had decided."""
    effect = judged.effect
    if not judged.is_classified and judged.tool.pin == judged.contract.pin:
        classified = risk.classify_tool(judged)
        effect = classified.effect if isinstance(classified, Case) else effect
    return replaced(
        judged,
        arguments=judged.call.arguments,
        effect=effect,
        decision=_PASSING,
        injected=None,
        contract=replace(
            judged.contract,
            timeout_s=None,
            readback=None,
            ensure=(),
            # Whoever gives a call up is told on to its server, as without a gateway.
            idempotency=replace(
                judged.contract.idempotency, lookup=None, inject=None, is_cancel_safe=True
            ),
        ),
    )


def _repeats_by_approval(case: Case) -> bool:
    """Whether its host wants a call once more that people would have to agree to."""
    if case.contract.idempotency.repeat is not Repeat.APPROVE or case.is_plain_read:
        return False
    try:
        return repeats.asked(case.call.meta) is not None
    except repeats.BadRepeat:
        return False


def _held(decision: Decision) -> Observed:
    return Observed(
        would=Would.HOLD,
        status=str(Status.APPROVAL_PENDING),
        code=decision.code,
        rule=decision.rule,
        reason=decision.reason,
    )


def _changed(decision: Decision) -> Observed:
    rules = [each.rule for each in decision.constraints]
    places = ", ".join(f"`{each.pointer}`" for each in decision.constraints)
    return Observed(would=Would.CHANGE, rule=rules[0], reason=f"written by policy: {places}")


def _of_result(left: Answer | Refusal, delivered: Delivered) -> Observed | None:
    """Say what would have become of an answer; None where it would have left as it is."""
    if isinstance(left, Refusal):
        return replaced(instead(left), would=Would.WITHHOLD)
    if left.redactions > delivered.redactions or left.rows.removed:
        return Observed(would=Would.MASK, status=str(left.status))
    cut = [note for note in left.notes if note.startswith("cut from ")]
    if cut:
        return Observed(would=Would.MASK, status=str(left.status), reason=cut[0])
    return None


def _counted(tool: Tool) -> str:
    """Return what a call is counted under; URIs have no bound, and callers make them up."""
    return tool.key if tool.kind is not Kind.RESOURCE else f"{tool.server} (resources)"


def _with_error(finished: Finished, delivery: Delivery | None) -> Finished:
    """Return an error of a server as it came, with nothing of ours in its data."""
    if finished.error is None or not isinstance(delivery, Rejected):
        return finished
    if delivery.code == URL_REQUIRED:  # whose ids are sealed for the caller
        return finished
    error = WireError(code=delivery.code, message=delivery.message, data=delivery.data)
    return replace(finished, error=error)


def _unnamed(call: ProposedCall) -> Refusal:
    return Refusal(status=Status.INTERNAL, reason=f"`{call.name}` can't be passed on")

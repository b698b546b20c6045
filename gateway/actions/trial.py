"""Judging calls that nobody makes: policy tests and explanations use the checks of real calls."""

from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from gateway import jsontext
from gateway.case import Case, Facts, Verdict
from gateway.contracts.draft import draft
from gateway.crossing.conditions import NOT_DECLARED
from gateway.judging import CHECKS_FOR, judge, sees
from gateway.policy.cases import CallUnderTest
from gateway.policy.methods import USE
from gateway.policy.testing import Decide, Leaves, Left, Validate
from gateway.revision import Revision
from gateway.steps import policy, risk
from gateway.steps.normalise import Normalise
from gateway.steps.resolve import contract_of
from gateway.steps.verify import Verified
from gateway.types.actors import Actor
from gateway.types.calls import Method, Nobody, ProposedCall, principal_of
from gateway.types.causes import Cause
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.outcomes import Refusal
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect, Kind, Risk, Tool
from gateway.types.values import replaced

_NO_CAP: Final = 1 << 30  # bytes: a test is about what leaves, not about how much of it


def verdict(call: CallUnderTest, revision: Revision) -> Verdict:
    """Judge one call by all the checks; the origin of arguments counts as shown.

    A question that a server asks is judged alone, as if the call it belongs to went through.
    """
    return _verdict(call, revision, explained=True)


def _verdict(call: CallUnderTest, revision: Revision, *, explained: bool) -> Verdict:
    case = _case(call, revision)
    if call.method.is_ask:
        return _asked(case, call)
    # Whom a tool is hidden from is told by nothing that tries calls by the thousand.
    return judge(case, CHECKS_FOR[call.method], explained=explained, hides=explained)


def is_listed(tool: Tool, actor: Actor, phase: Phase, revision: Revision, now: datetime) -> bool:
    """Say whether a caller would find a tool, resource or prompt in its list."""
    contract = contract_of(tool, revision, lambda unknown: draft(unknown).contract)
    if contract is None:
        return False
    return sees(
        Case(
            call=_proposed_by(actor, tool, USE[tool.kind], {}, now),
            tool=tool,
            contract=contract,
            actor=actor,
            phase=phase,
            facts=Facts(now=now),
            revision=revision,
            run_id="",
        )
    )


def _asked(case: Case, call: CallUnderTest) -> Verdict:
    classified = risk.classify_tool(case)
    if isinstance(classified, Refusal):
        return Verdict(case=case, refusal=classified, findings=())
    decision = policy.decide_ask(classified, call.method, call.arguments)
    case = replaced(classified, decision=decision)
    denied = decision.effect is DecisionEffect.DENY
    return Verdict(case=case, refusal=policy.refusal(case) if denied else None, findings=())


def _case(call: CallUnderTest, revision: Revision) -> Case:
    contract = _as_tried(_Same(call.contract), call.effect, call.risk)
    tool = _tool(_Same(call.contract), call.server_name, call.pin, call.kind)
    return Case(
        call=_proposed(call, tool),
        tool=tool,
        contract=contract,
        actor=call.actor,
        phase=call.phase,
        facts=Facts(now=call.now),
        revision=revision,
        run_id=call.run_id,
        run=call.bound.run if call.bound is not None else None,
        bound_by=call.bound.kind if call.bound is not None else None,
    )


class _Same:
    """A contract as a key: the very same object, which can't be compared by its hash."""

    __slots__ = ("contract",)

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.contract is self.contract

    def __hash__(self) -> int:
        return id(self.contract)


@lru_cache(maxsize=1024)  # thousands of calls are tried under each contract
def _as_tried(same: _Same, effect: Effect, risk: Risk) -> Contract:
    return replace(same.contract, provenance=(), effect=effect, risk=risk, reviewed=True)


@lru_cache(maxsize=1024)
def _tool(same: _Same, server: str, pin: str, kind: Kind) -> Tool:
    key = same.contract.tool
    return Tool(
        server=server,
        name=key if kind is Kind.RESOURCE else key.removeprefix(f"{server}."),
        exposed_name=key,
        definition=same.contract.definition,
        pin=pin,
        kind=kind,
    )


def _proposed(call: CallUnderTest, tool: Tool) -> ProposedCall:
    method = USE[call.kind] if call.method.is_ask else call.method
    proposed = _proposed_by(call.actor, tool, method, call.arguments, call.now)
    return proposed if call.cause is Cause.CALLER else replaced(proposed, cause=call.cause.value)


def _proposed_by(
    actor: Actor, tool: Tool, method: Method, arguments: JsonObject, now: datetime
) -> ProposedCall:
    return ProposedCall(
        call_id="trial",
        name=tool.exposed_name,
        arguments=arguments,
        meta={},
        principal=principal_of(actor),
        caller=Nobody(),
        received_at=now,
        method=method,
    )


def decide(revision: Revision) -> Decide:
    """Return the decision of the whole pipeline: a check that refuses is a denial with its code."""

    def decision(call: CallUnderTest) -> Decision:
        found = _verdict(call, revision, explained=False)
        refusal, decided = found.refusal, found.case.decision
        if refusal is None or (decided.effect is DecisionEffect.DENY and decided.rule):
            return replaced(decided, risk=found.case.risk)
        return replaced(
            decided,
            risk=found.case.risk,
            effect=DecisionEffect.DENY,
            code=refusal.code or refusal.status.value,
            reason=refusal.reason,
            rule=refusal.rule,
        )

    return decision


def validate(revision: Revision) -> Validate:
    """Return a check of a test's arguments, so that tests can't drift from the schemas."""

    def problem(call: CallUnderTest) -> str:
        if call.method is not Method.CALL_TOOL:
            return ""
        schema = revision.schemas_for(call.contract).input
        if schema.is_valid(call.arguments):
            return ""
        found = schema.violations(call.arguments)
        return "; ".join(f"`{each.pointer or '/'}`: expected {each.expected}" for each in found)

    return problem


def leaves(revision: Revision) -> Leaves:
    """Return what of a test's result would leave, by the step that shapes real ones.

    A digest is told as `[hash]`, since its key is the store's.
    """
    shape = Normalise(max_result_bytes=_NO_CAP, digest=lambda tenant, value: "[hash]")

    def left(call: CallUnderTest) -> Left:
        schema, result = revision.schemas_for(call.contract).output, call.result
        if schema is not None and not call.contract.lenient_output:
            found = schema.violations(result) if not schema.is_valid(result) else ()
            if found:
                told = "; ".join(f"`{e.pointer or '/'}`: expected {e.expected}" for e in found)
                return Left(problem=f"it does not match the tool's output schema: {told}")
        said: JsonObject = {"content": [], "structuredContent": result}
        delivered = Delivered(result=said, size=len(jsontext.dump(said)))
        case = verdict(call, revision).case
        shaped = shape(case, Verified(delivered=delivered, verification=NOT_DECLARED))
        if isinstance(shaped, Refusal):
            return Left(problem=shaped.reason)
        return Left(value=shaped.result.get("structuredContent"))

    return left

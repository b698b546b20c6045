"""Judging calls that nobody makes: policy tests and explanations use the checks of real calls."""

from dataclasses import replace
from datetime import datetime

from gateway.case import Case, Facts, Verdict
from gateway.contracts.draft import draft
from gateway.pipeline import CHECKS_FOR, judge, sees
from gateway.policy.cases import CallUnderTest
from gateway.policy.methods import USE
from gateway.policy.testing import Decide, Validate
from gateway.revision import Revision
from gateway.steps import policy, risk
from gateway.steps.resolve import contract_of
from gateway.types.actors import Actor
from gateway.types.calls import AuthMethod, Method, Nobody, Principal, ProposedCall
from gateway.types.causes import Cause
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal
from gateway.types.runs import Phase
from gateway.types.tools import Kind, Tool


def verdict(call: CallUnderTest, revision: Revision) -> Verdict:
    """Judge one call by all the checks; the origin of arguments counts as shown.

    A question that a server asks is judged alone, as if the call it belongs to went through.
    """
    case = _case(call, revision)
    return _asked(case, call) if call.method.is_ask else judge(case, CHECKS_FOR[call.method])


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
    case = replace(classified, decision=decision)
    denied = decision.effect is DecisionEffect.DENY
    return Verdict(case=case, refusal=policy.refusal(case) if denied else None, findings=())


def _case(call: CallUnderTest, revision: Revision) -> Case:
    contract = replace(
        call.contract, provenance=(), effect=call.effect, risk=call.risk, reviewed=True
    )
    tool = _tool(call)
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


def _tool(call: CallUnderTest) -> Tool:
    key, server = call.contract.tool, call.server_name
    return Tool(
        server=server,
        name=key if call.kind is Kind.RESOURCE else key.removeprefix(f"{server}."),
        exposed_name=key,
        definition=call.contract.definition,
        pin=call.pin,
        kind=call.kind,
    )


def _proposed(call: CallUnderTest, tool: Tool) -> ProposedCall:
    method = USE[call.kind] if call.method.is_ask else call.method
    proposed = _proposed_by(call.actor, tool, method, call.arguments, call.now)
    return proposed if call.cause is Cause.CALLER else replace(proposed, cause=call.cause.value)


def _proposed_by(
    actor: Actor, tool: Tool, method: Method, arguments: JsonObject, now: datetime
) -> ProposedCall:
    return ProposedCall(
        call_id="trial",
        name=tool.exposed_name,
        arguments=arguments,
        meta={},
        principal=Principal(
            issuer=actor.issuer,
            subject=actor.user,
            client=actor.client,
            tenant=actor.tenant,
            user=actor.user,
            roles=actor.roles,
            scopes=actor.scopes,
            method=AuthMethod.LOCAL,
        ),
        caller=Nobody(),
        received_at=now,
        method=method,
    )


def decide(revision: Revision) -> Decide:
    """Return the decision of the whole pipeline: a check that refuses is a denial with its code."""

    def decision(call: CallUnderTest) -> Decision:
        found = verdict(call, revision)
        refusal, decided = found.refusal, found.case.decision
        if refusal is None or (decided.effect is DecisionEffect.DENY and decided.rule):
            return replace(decided, risk=found.case.risk)
        return replace(
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

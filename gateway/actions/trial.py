"""Judging calls that nobody makes: policy tests and explanations use the checks of real calls."""

from dataclasses import replace

from gateway.case import Case, Facts, Verdict
from gateway.pipeline import judge
from gateway.policy.cases import CallUnderTest
from gateway.policy.testing import Decide, Validate
from gateway.revision import Revision
from gateway.types.calls import AuthMethod, Nobody, Principal, ProposedCall
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.tools import Tool


def verdict(call: CallUnderTest, revision: Revision) -> Verdict:
    """Judge one call by all the checks; the origin of arguments counts as shown."""
    contract = replace(
        call.contract, provenance=(), effect=call.effect, risk=call.risk, reviewed=True
    )
    server, _, name = contract.tool.partition(".")
    tool = Tool(
        server=server,
        name=name,
        exposed_name=contract.tool,
        definition=contract.definition,
        pin=call.pin,
    )
    actor = call.actor
    principal = Principal(
        issuer=actor.issuer,
        subject=actor.user,
        client=actor.client,
        tenant=actor.tenant,
        user=actor.user,
        roles=actor.roles,
        scopes=actor.scopes,
        method=AuthMethod.LOCAL,
    )
    proposed = ProposedCall(
        call_id="trial",
        name=tool.exposed_name,
        arguments=call.arguments,
        meta={},
        principal=principal,
        caller=Nobody(),
        received_at=call.now,
    )
    return judge(
        Case(
            call=proposed,
            tool=tool,
            contract=contract,
            actor=actor,
            phase=call.phase,
            facts=Facts(now=call.now),
            revision=revision,
            run_id=call.run_id,
        )
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
        schema = revision.schemas_for(call.contract).input
        if schema.is_valid(call.arguments):
            return ""
        found = schema.violations(call.arguments)
        return "; ".join(f"`{each.pointer or '/'}`: expected {each.expected}" for each in found)

    return problem

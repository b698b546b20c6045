"""A draft of the narrowest rules from what was allowed, tried on the very calls it is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gateway.actions import templates
from gateway.policy import suggesting
from gateway.policy.cases import read_only
from gateway.policy.compile import compile_policy
from gateway.policy.compiled import CompiledRule
from gateway.policy.engine import CompiledPolicy
from gateway.policy.files import load
from gateway.policy.past import Past
from gateway.policy.request import PolicyRequest
from gateway.policy.run_cases import RUN_ID, RunUnderTest
from gateway.policy.suggesting import Suggestion
from gateway.policy.survey import tool_target
from gateway.policy.unused import unused
from gateway.revision import Revision
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Contract, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A file of rules in shadow mode, and which of the calls that it was made from it misses."""

    text: str
    rules: tuple[Suggestion, ...]
    unused: tuple[str, ...]
    calls: int
    missed: tuple[Past, ...]  # allowed then, and not by the draft


def drafted(pasts: Sequence[Past], revision: Revision, *, of: str, tool: str = "") -> Draft:
    """Draft rules from calls of the log; `of` says which, and `revision` has their contracts.

    With `tool`, they are all of one, and only what is granted of that can be unused.
    """
    allowed = [past for past in pasts if past.decided is DecisionEffect.ALLOW]
    rules = suggesting.suggest(allowed, revision.contracts, _scopes(revision.policy.rules))
    granted = unused(*_granting(revision, tool), pasts)
    text = suggesting.draft(rules, of=of, unused=granted)
    enforced = compile_policy([load(text.replace("mode: shadow\n", "", 1), file="draft.yaml")])
    return Draft(
        text=text,
        rules=rules,
        unused=granted,
        calls=len(allowed),
        missed=tuple(past for past in allowed if not _allows(enforced, past, revision)),
    )


def _scopes(rules: Sequence[CompiledRule]) -> Mapping[str, frozenset[str]]:
    """Return the scopes that rules ask for, all or some of them, by rule."""
    return {
        rule.id: rule.matcher.scopes_all | (rule.matcher.scopes_any or frozenset())
        for rule in rules
    }


def _granting(revision: Revision, tool: str) -> tuple[Sequence[CompiledRule], Sequence[Contract]]:
    contracts = [each for each in revision.contracts.values() if tool in ("", each.tool)]
    if not tool:
        return revision.policy.rules, contracts
    targets = [tool_target(each) for each in contracts]
    rules = revision.policy.rules
    return [
        rule for rule in rules if any(rule.matcher.selects_target(each) for each in targets)
    ], contracts


def _allows(policy: CompiledPolicy, past: Past, revision: Revision) -> bool:
    return policy.decide(request(past, revision)).effect is DecisionEffect.ALLOW


def request(past: Past, revision: Revision) -> PolicyRequest:
    """Return what a call of the log asks of rules, as far as the log has it."""
    contract = _contract(past, revision)
    bound = None
    if past.run is not None:
        run = RunUnderTest.model_validate(past.run)
        known = templates.known(revision.templates)
        bound = run.bound(past.actor, past.phase, known, past.at)
    return PolicyRequest(
        tool=past.key,
        server=past.server,
        effect=past.does or contract.effect,
        risk=past.risk or contract.risk,
        pin=past.pin or contract.pin,
        pinned=contract.pin,
        actor=past.actor,
        phase=past.phase,
        arguments=past.arguments,
        now=past.at,
        run_id=bound.run.run_id if bound is not None else RUN_ID,
        method=past.method,
        kind=past.kind,
        cause=past.cause,
        run=bound.run if bound is not None else None,
    )


def _contract(past: Past, revision: Revision) -> Contract:
    known = revision.contracts.get(past.key) if past.kind is Kind.TOOL else None
    return known or _nobodys(past.key)


@lru_cache(maxsize=1024)
def _nobodys(key: str) -> Contract:
    return replace(read_only(key), place="nobody's")

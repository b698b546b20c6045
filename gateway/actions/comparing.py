"""What a change of the policy folder does: both revisions judge the same made-up requests."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from gateway.actions import templates, trial
from gateway.contracts.changes import ContractChange, changes
from gateway.contracts.draft import draft
from gateway.policy import writing
from gateway.policy.axes import Side, axes
from gateway.policy.cases import CallUnderTest, read_only
from gateway.policy.impact import Ask, Both, Group, Impact, Word
from gateway.policy.methods import Target
from gateway.policy.probes import Probe
from gateway.policy.run_cases import RUN_ID, Known
from gateway.policy.search import Budget, Found, Search
from gateway.policy.targets import targets
from gateway.policy.testing import Decide
from gateway.revision import Revision
from gateway.runs.templates import Template
from gateway.steps.resolve import contract_of
from gateway.types.actors import Actor
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.leans import Lean
from gateway.types.tools import Contract, Kind, Risk, Tool

MOST: Final = 20_000  # requests that both sides are asked about
_INVALID: Final = "schema"  # the code of arguments that a tool doesn't take (`steps.contract`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that two revisions differ in: for calls, in contracts, and as texts."""

    before: Revision
    after: Revision
    impact: Impact
    contracts: tuple[ContractChange, ...]

    def has(self, lean: Lean | None) -> bool:
        """Whether something goes one way, or with None anywhere."""
        leans = (
            *(group.cause.lean for group in self.impact.groups),
            *(change.lean for change in self.contracts),
        )
        return bool(leans) if lean is None else lean in leans


def compare(
    before: Revision,
    after: Revision,
    *,
    servers: Iterable[str] = (),
    seed: int = 0,
    most: int = MOST,
) -> Comparison:
    """Ask both revisions about requests made of what they speak of; the same each time for a seed.

    `servers` are the configured ones, for resources of which no rule says where they are.
    """
    both = (_Bench(before), _Bench(after))
    rules = (*before.policy.rules, *after.policy.rules)
    every = targets(rules, {*before.contracts, *after.contracts}, servers)
    asks = {target: _asking(both, target) for target in every}
    found, budget, untried, is_cut = Found(), Budget(most), list[str](), False
    # Where the sides say different things is looked at first, each such place as closely.
    for left, (target, sides, is_alike) in _in_turn(every, both):
        budget.share(left)
        search = Search(axes(target, sides), sides, asks[target], found, budget)
        search.run(seed)
        is_cut = is_cut or (budget.is_cut and not is_alike)
        if not search.answered and not budget.is_cut:
            untried.append(target.key)
    impact = Impact(
        groups=tuple(
            _placed(group, before, after)
            for group in found.groups.all(lambda probe: asks[probe.target](probe))
        ),
        requests=budget.spent,
        differing=found.differing,
        unmet=_unmet(found),
        untried=tuple(dict.fromkeys(untried)),
        is_cut=is_cut,
    )
    return Comparison(
        before=before,
        after=after,
        impact=impact,
        contracts=changes(before.contracts, after.contracts),
    )


def _in_turn(
    every: Sequence[Target], both: "tuple[_Bench, _Bench]"
) -> Iterator[tuple[int, tuple[Target, Sequence[Side], bool]]]:
    """Yield targets with what both say, those of which they say the same last.

    Before each stands how many of its kind are still to come, itself included.
    """
    told = [(target, [bench.side(target) for bench in both]) for target in every]
    alike = [
        (target, sides, writing.about(sides[0], target) == writing.about(sides[1], target))
        for target, sides in told
    ]
    for kind in (False, True):
        some = [each for each in alike if each[2] is kind]
        for at, each in enumerate(some):
            yield len(some) - at, each


def _placed(group: Group, before: Revision, after: Revision) -> Group:
    """Name both sides' places: of the rule that decides, else of the one that does on the other."""
    rules = (group.cause.before_rule, group.cause.after_rule)
    return replace(
        group,
        before_place=_place(before, rules),
        after_place=_place(after, rules[::-1]),
    )


def _place(revision: Revision, rules: Sequence[str]) -> str:
    places = {rule.id: rule.place for rule in revision.policy.rules}
    return next((places[rule] for rule in rules if rule in places), "")


class _Bench:
    """One revision, ready to be asked."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.decide: Decide = trial.decide(revision)
        self.known: Known = templates.known(revision.templates)
        self._guards = {name: _guards(each) for name, each in revision.templates.items()}
        self._terms = {name: _terms(each) for name, each in revision.templates.items()}

    def side(self, target: Target) -> Side:
        """Return what requests about a target are made of."""
        return Side(
            rules=self.revision.policy.rules,
            sets=self.revision.policy.sets,
            guards=self._guards,
            terms=self._terms,
            contract=self.contract(target) if target.kind is Kind.TOOL else None,
        )

    def contract(self, target: Target) -> Contract | None:
        """Return what calls of a target go by, or None where nobody reviewed it."""
        if target.kind is not Kind.TOOL:
            return read_only(target.key)
        written = self.revision.contracts.get(target.key)
        if written is None:
            return None
        tool = Tool(
            server=target.server,
            name=target.key.removeprefix(f"{target.server}."),
            exposed_name=target.key,
            definition=written.definition,
            pin=written.pin,
        )
        return contract_of(tool, self.revision, lambda each: draft(each).contract)


def _asking(both: tuple[_Bench, _Bench], target: Target) -> Ask:
    """Return what both sides say of requests about one target."""
    contracts = [bench.contract(target) for bench in both]

    def ask(probe: Probe) -> Both | None:
        old, new = (
            _word(bench, contract, probe) for bench, contract in zip(both, contracts, strict=True)
        )
        return None if _is_moot(old) and _is_moot(new) else (old, new)

    return ask


def _is_moot(word: Word) -> bool:
    """Whether nothing was decided: there is no contract, or the arguments aren't what it takes."""
    decision = word.decision
    return word is _UNREVIEWED or (decision.code == _INVALID and not decision.matched)


_UNREVIEWED: Final = Word(
    decision=Decision(effect=DecisionEffect.DENY, code="unreviewed"), risk=Risk.CRITICAL
)


def _word(bench: _Bench, contract: Contract | None, probe: Probe) -> Word:
    if contract is None:
        return _UNREVIEWED
    call = call_of(probe, contract, bench.known)
    decision = bench.decide(call)
    return Word(decision=decision, risk=decision.risk or call.risk)


def call_of(probe: Probe, contract: Contract, known: Known) -> CallUnderTest:
    """Return a probe as a call under a contract; `known` are the templates of runs."""
    actor = _actor(
        (probe.user, probe.tenant, probe.client, probe.authenticated_by.value),
        probe.roles,
        probe.scopes,
    )
    bound = None
    if probe.run is not None:
        bound = probe.run.bound(actor, probe.phase, known, probe.now)
    return CallUnderTest(
        contract=contract,
        actor=actor,
        phase=probe.phase,
        arguments=probe.arguments,
        now=probe.now,
        pin=contract.pin,
        run_id=RUN_ID,
        effect=contract.effect,
        risk=contract.risk,
        method=probe.target.method,
        kind=probe.target.kind,
        server=probe.target.server,
        cause=probe.cause,
        bound=bound,
    )


@lru_cache(maxsize=8192)
def _actor(
    who: tuple[str, str, str, str], roles: tuple[str, ...], scopes: tuple[str, ...]
) -> Actor:
    user, tenant, client, method = who
    return Actor(
        user=user,
        tenant=tenant,
        roles=frozenset(roles),
        scopes=frozenset(scopes),
        client=client,
        method=method,
        issuer="policy-diff",
    )


def _unmet(found: Found) -> tuple[str, ...]:
    """Return the rules that requests were made for and none met, whichever side they stand on."""
    met = {rule for _, rule in found.met}
    return tuple(sorted({rule for _, rule in found.sought} - met))


def _guards(template: Template) -> str:
    every = (*template.completed_when, *(e for some in template.enter_when.values() for e in some))
    return "\n".join(guard.text for guard in every)


def _terms(template: Template) -> str:
    """Return all that a template says, wherever it stands."""
    guards = {phase: [each.text for each in some] for phase, some in template.enter_when.items()}
    plain = replace(template, place="", enter_when={}, completed_when=())
    named = {phase: None if some is None else sorted(some) for phase, some in plain.tools.items()}
    without_sets = replace(
        plain,
        tools={},
        finalizers=frozenset(),
        during_wait=frozenset(),
        explicit_for=frozenset(),
    )
    sets = [sorted(some) for some in (plain.finalizers, plain.during_wait, plain.explicit_for)]
    return repr(
        (without_sets, named, sets, guards, [each.text for each in template.completed_when])
    )

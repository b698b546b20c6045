"""What was judged of earlier calls, for calls that are like them in all but their arguments.

Calls of one tool by one caller hardly differ in anything else, and most checks look at nothing that
differs: who it is, what the contract says, what the phase allows. So that is told once. Of each
further call only its arguments are held against the schema, and the rules are asked if one of them
has a condition. Whatever can't be told so, each refusal among it, is judged by all the checks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.case import Case, Check, Verdict
from gateway.contracts import spelling
from gateway.contracts.schemas import Schema
from gateway.revision import Revision
from gateway.steps import constrain, phase, policy, risk
from gateway.steps.contract import injected
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.guarantees import InjectPlace
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Tool
from gateway.types.values import maker, replaced

_MOST: Final = 4096  # precedents; all go when there are more
_CALL: Final = (
    Method.CALL_TOOL
)  # a name of the module: each look at a member costs more than a call
_verdict = maker(Verdict)
# What is left to ask where a rule has a condition; the checks before these say the same again.
BY_RULES: Final[tuple[Check, ...]] = (policy.decide, constrain.apply)
# In a run, whose state is another for each call, its phase is asked as well, and always the rules.
BY_RUN: Final[tuple[Check, ...]] = (phase.check, *BY_RULES)
_Key = tuple[int, int, int, Phase, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What arguments of one tool have to be, looked up once."""

    schema: Schema
    names: frozenset[str]  # of arguments, as the schema has them at the top
    source: Json  # the schema as it is written

    def admits(self, arguments: JsonObject) -> bool:
        """Whether arguments are what `contract.check` lets in."""
        if not self.schema.is_valid(arguments):
            return False
        # Of nearly all calls, and told in C: no other name, and nothing below the top.
        if self.names.issuperset(arguments) and spelling.are_flat(arguments.values()):
            return True
        return spelling.misspelt(self.source, arguments) is None


def admission(case: Case) -> Admission:
    """Return what the arguments of calls like this one have to be."""
    schema = case.revision.schemas_for(case.contract).input
    properties = schema.source.get("properties")
    return Admission(
        schema=schema,
        names=frozenset(properties) if isinstance(properties, dict) else frozenset(),
        source=case.contract.input_schema,
    )


@dataclass(slots=True, kw_only=True)
class _Precedent:
    """What the checks said of one call, as far as it holds for all that are alike."""

    tool: Tool  # this one and the two below are held, so that their ids are nobody else's
    contract: Contract
    actor: Actor
    admission: Admission
    said: Mapping[str, object]  # what they wrote into the case, beside its arguments
    is_settled: bool  # else a rule has to be asked


@dataclass(slots=True, kw_only=True)
class Precedents:
    """Judges calls like earlier ones where they are alike, and by all the checks where not.

    INVARIANT: it says of every case what `judge` would; tests hold one against the other.
    """

    judge: Callable[[Case, tuple[Check, ...]], Verdict]
    checks: Mapping[Method, tuple[Check, ...]]
    _revision: Revision | None = None
    _known: dict[_Key, _Precedent] = field(default_factory=dict[_Key, _Precedent])

    def judged(self, case: Case) -> Verdict:
        """Return what the checks say of a case."""
        call = case.call
        run = case.run
        # Rules tell apart what the gateway calls by itself; and who works in a run for another one
        # is made anew for each call.
        if call.method is not _CALL or call.cause or (run is not None and run.parent):
            return self.judge(case, self.checks[call.method])
        if case.revision is not self._revision:
            self._revision = case.revision
            self._known.clear()
        key = (id(case.tool), id(case.contract), id(case.actor), case.phase, run is not None)
        found = self._known.get(key)
        if found is None:
            return self._first(case, key)
        arguments = call.arguments
        if call.input_error or not found.admission.admits(arguments):
            return self.judge(case, self.checks[_CALL])
        like = replaced(case, arguments=arguments, **found.said)
        if run is not None:
            return self.judge(like, BY_RUN)
        if not found.is_settled:
            return self.judge(like, BY_RULES)
        return _verdict(case=like, refusal=None, findings=())

    def _first(self, case: Case, key: _Key) -> Verdict:
        """Judge a case by all the checks, and keep what holds for others like it."""
        verdict = self.judge(case, self.checks[_CALL])
        if verdict.refusal is None and not reads_arguments(case.contract):
            classified = risk.classify(case)
            if isinstance(classified, Case):
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[key] = _precedent(case, classified)
        return verdict


def reads_arguments(contract: Contract) -> bool:
    """Whether checks before the policy do more with arguments than to hold them to the schema."""
    injection = injected(contract)
    is_filled = injection is not None and injection.place is InjectPlace.ARGUMENT
    return is_filled or bool(contract.raises) or contract.asks_origins


def _precedent(case: Case, classified: Case) -> _Precedent:
    rules, asked = case.revision.policy, policy.request(classified)
    said: dict[str, object] = {
        "effect": classified.effect,
        "risk": classified.risk,
        "risk_reason": classified.risk_reason,
    }
    is_settled = case.run is None and rules.is_settled(asked)
    if is_settled:
        said["decision"] = rules.decide(asked)
    return _Precedent(
        tool=case.tool,
        contract=case.contract,
        actor=case.actor,
        admission=admission(case),
        said=said,
        is_settled=is_settled,
    )

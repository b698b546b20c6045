"""One recorded call judged again: by `pipeline.judge`, the function that live calls go through."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gateway.case import Case
from gateway.judging import CHECKS_FOR, judge
from gateway.policy.engine import CompiledPolicy
from gateway.replay import judgements, origins
from gateway.replay.cases import Definitions, Offered, Parting, Rebuild, Rebuilt, Unkept
from gateway.replay.oracle import Answer, Decided, Oracle, Undecided, explored
from gateway.replay.then import Then
from gateway.replay.types import Gone, Judgement, Missing, Recorded
from gateway.replay.unsure import Unsure
from gateway.revision import Revision
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind
from gateway.types.values import maker, replaced

_UNREVIEWED = Judgement(
    effect=DecisionEffect.DENY,
    status=Status.UNKNOWN_TOOL,
    code="unreviewed",
    reason="nobody has reviewed this tool",
)
_GONE = Judgement(
    effect=DecisionEffect.DENY,
    status=Status.UNKNOWN_TOOL,
    code="gone",
    reason="its server does not publish this tool any more",
)
_PUBLISHED = Offered(definition={}, pin="")
_rebuilt, _then, _unsure, _decided = maker(Rebuilt), maker(Then), maker(Unsure), maker(Decided)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """Judges calls under one revision, by what is known of how they were judged under theirs."""

    revision: Revision
    definitions: Definitions
    offered: Mapping[str, Offered | None] = field(default_factory=dict[str, "Offered | None"])
    """What servers publish in place of what they did; None for what is gone."""
    parting: Parting = field(default_factory=Parting)
    _rebuild: Rebuild = field(init=False)

    def __post_init__(self) -> None:
        """Prepare what cases are made by: it remembers tools."""
        rebuild = Rebuild(
            revision=self.revision,
            definitions=self.definitions,
            offered=self.offered,
            parting=self.parting,
        )
        object.__setattr__(self, "_rebuild", rebuild)

    def then(self, call: Recorded) -> Then | None:
        """Return a call with the case it was, where this revision is the one it was judged by."""
        try:
            rebuilt = self._rebuild(call)
        except Unkept:
            return None
        return _then(call=call, case=rebuilt.case) if rebuilt is not None else None

    def __call__(self, call: Recorded, then: Then | None) -> Answer:
        """Say what a call is told under this revision; `then` is None where its own is not kept."""
        try:
            rebuilt = self._of(call, then) or self._rebuild(call)
        except Unkept as error:
            return Undecided(missing=(error.missing,))
        if rebuilt is None:
            is_gone = self.offered.get(call.tool, _PUBLISHED) is None
            return Decided(judgement=_GONE if is_gone else _UNREVIEWED)
        case = rebuilt.case
        if _is_known(call, rebuilt, then):
            verdict = judge(case, CHECKS_FOR[call.method], hides=False)
            return _decided(judgement=judgements.judgement(verdict))
        if call.snapshot.get("hides_uri") is True:
            return _of_hidden(call, case, then)
        return explored(lambda oracle: self._judged(call, rebuilt, then, oracle))

    def _of(self, call: Recorded, then: Then | None) -> Rebuilt | None:
        """Return what was made for `then`, where that was under this very revision."""
        if then is None or then.call is not call or then.case.revision is not self.revision:
            return None
        return _rebuilt(case=then.case, fields=self.parting(call).fields)

    def _judged(
        self, call: Recorded, rebuilt: Rebuilt, then: Then | None, oracle: Oracle
    ) -> Judgement:
        unsure = _unsure(
            call=call, then=then, fields=rebuilt.fields, oracle=oracle, revision=self.revision
        )
        verdict = judge(rebuilt.case, unsure.checks(CHECKS_FOR[call.method]), hides=False)
        return _opaque(judgements.judgement(verdict), oracle)


def _is_known(call: Recorded, rebuilt: Rebuilt, then: Then | None) -> bool:
    """Whether the log holds all that the case may depend on."""
    case = rebuilt.case
    if call.unknown or rebuilt.fields or call.snapshot.get("hides_uri") is True:
        return False
    minds_taint = case.contract.when_tainted is not None or case.revision.reads_taint
    if minds_taint and not case.is_tainted and (then is None or not then.knows_taint):
        return False
    if case.contract.provenance and (then is None or not origins.looks_alike(case, then)):
        return False
    return case.run is None or _is_run_known(call, case, then)


def _is_run_known(call: Recorded, case: Case, then: Then | None) -> bool:
    run = call.snapshot.get("run")
    told = run if isinstance(run, dict) else {}
    has_objective = "objective" in told and not _has_marks(told)
    if case.revision.names_objective and not has_objective:
        return False
    may_write = case.contract.effect is not Effect.READ or bool(case.contract.raises)
    return not may_write or then is None or then.has_counted


def _has_marks(run: JsonObject) -> bool:
    return any("[redacted" in str(run.get(name)) for name in ("objective", "task"))


def _of_hidden(call: Recorded, case: Case, then: Then | None) -> Answer:
    """Answer for a resource whose URI is not kept: as then, where no rule about it is another."""
    missing = Missing(place="resource.uri", why=Gone.REDACTED, readers=("match",))
    if then is None or not _ruled_alike(
        case.revision.policy, then.case.revision.policy, call.method
    ):
        return Undecided(missing=(missing,))
    return Decided(judgement=call.judged)


@lru_cache(maxsize=64)
def _ruled_alike(one: CompiledPolicy, other: CompiledPolicy, method: Method) -> bool:
    return _rules(one, method) == _rules(other, method)


def _rules(policy: CompiledPolicy, method: Method) -> Mapping[str, object]:
    """Return all that may be about a resource, in a form that is equal to its like."""
    rules = {
        rule.id: replace(
            rule, place="", reason="", matcher=replace(rule.matcher, selects=_anything)
        )
        for rule in policy.rules
        if method in rule.matcher.methods and rule.matcher.kind in (None, Kind.RESOURCE)
    }
    return {"rules": rules, "order": [*rules], "sets": {**policy.sets}}


def _anything(key: str) -> bool:
    del key
    return True


def _opaque(judgement: Judgement, oracle: Oracle) -> Judgement:
    """Say of what could not be computed that it isn't known."""
    if not oracle.opaque:
        return judgement
    constraints = tuple(
        replaced(each, value=None, is_known=False)
        if (each.rule, each.pointer, each.kind) in oracle.opaque
        else each
        for each in judgement.constraints
    )
    limits = tuple(
        replaced(each, amount=None) if (each.rule, each.id, "limit") in oracle.opaque else each
        for each in judgement.limits
    )
    return replaced(judgement, constraints=constraints, limits=limits)

"""The checks of a call of which not all is known: each asks the oracle where it depends on that.

They are put in place of the checks of `pipeline.CHECKS_FOR`, one for one, and use the same code as
far as what they look at is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import Final

from gateway import jsontext
from gateway.case import Case, Check
from gateway.operations import keys
from gateway.policy import cel
from gateway.policy.cel import ConditionError
from gateway.replay import constraining, fixing, guarding, origins, reads, validity
from gateway.replay.oracle import Oracle
from gateway.replay.reads import Path
from gateway.replay.then import Then
from gateway.replay.types import Gone, Missing, Recorded
from gateway.replay.unknown import Unknown
from gateway.revision import Revision
from gateway.steps import constrain, contract, phase, policy, provenance, risk
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Contract, RiskRaise
from gateway.types.values import replaced, value

_EITHER: Final = (True, False)
_AS_SENT: Final = "schema"  # who reads arguments before policy has written into them
# What of the checks may meet something unknown, and what stands for it here.
_MINE: Final[Mapping[Check, str]] = {
    contract.check: "contract",
    contract.admit: "admit",
    provenance.check: "provenance",
    risk.classify: "classify",
    phase.check: "phase",
    policy.decide: "policy",
    constrain.apply: "constrain",
}


def missing_argument(pointer: JsonPointer, why: Gone, reader: str) -> Missing:
    """Name an argument that the log does not hold, and who reads it."""
    return Missing(place=f"/arguments{pointer}", why=why, readers=(reader,))


@value
class Unsure:
    """What is unknown of one call, and what is known of it nevertheless."""

    call: Recorded
    then: Then | None  # None: its revision is not kept
    fields: Mapping[str, tuple[JsonPointer, ...]]  # of its run, the unknown places in each
    oracle: Oracle
    revision: Revision
    _paths: list[dict[Path, Missing]] = field(default_factory=list[dict[Path, Missing]])

    def checks(self, checks: tuple[Check, ...]) -> tuple[Check, ...]:
        """Return the checks in the same order, with those that may meet what is unknown as here."""
        return tuple(
            [each if mine is None else getattr(self, mine) for each, mine in _mine(checks)]
        )

    @property
    def unknown(self) -> Unknown:
        """Places in the arguments."""
        return self.call.unknown

    def paths(self, case: Case) -> dict[Path, Missing]:
        """Return what expressions can't read, by how they name it."""
        if not self._paths:
            self._paths.append(self._unreadable(case))
        return self._paths[0]

    def _unreadable(self, case: Case) -> dict[Path, Missing]:
        found: dict[Path, Missing] = {
            ("args", *jsontext.tokens(pointer)): Missing(place=f"/arguments{pointer}", why=why)
            for pointer, why in self.unknown.items()
        }
        for name, places in self.fields.items():
            for place in places:
                gone = Missing(place=f"run.fields.{name}{place}", why=Gone.REDACTED)
                for root in ("fields", "said"):
                    found["run", root, name, *jsontext.tokens(place)] = gone
        if case.run is not None and not self._knows_objective():
            for name in ("objective", "task"):
                found["run", name] = Missing(place=f"run.{name}", why=Gone.NOT_ASKED)
        return found

    def _knows_objective(self) -> bool:
        run = self.call.snapshot.get("run")
        told = run.get("objective") if isinstance(run, dict) else None
        return isinstance(told, str) and "[redacted" not in told

    def contract(self, case: Case) -> Case | Refusal:
        """Judge arguments by the schema, as far as they are known."""
        injection = contract.injected(case.contract)
        if not self.unknown or case.call.input_error:
            return contract.check(case)
        unusable = contract.check_definition(case)
        if isinstance(unusable, Refusal):
            return unusable
        arguments = keys.own(case.call.arguments, injection)
        try:
            judged = keys.filled(arguments, injection)
        except keys.KeyRefused:
            return contract.check(case)
        if not self.valid(case, judged, self.unknown, readers=_AS_SENT):
            return contract.invalid(())
        return replaced(case, arguments=arguments)

    def valid(self, case: Case, judged: JsonObject, unknown: Unknown, *, readers: str) -> bool:
        """Say whether arguments match the schema; the oracle is asked where that is not known."""
        then = self.then
        found = validity.valid(
            judged,
            unknown,
            case.revision.schemas_for(case.contract).input,
            then.schema if then is not None else None,
            was=then.was_valid if then is not None else None,
            as_sent=readers == _AS_SENT,
        )
        if found is not None:
            return found
        missing = [missing_argument(each, why, readers) for each, why in unknown.items()]
        return self.oracle.ask((readers,), _EITHER, missing)

    def admit(self, case: Case) -> Case | Refusal:
        """Let arguments in that no contract speaks of: nothing of this is another one now."""
        if not self.unknown:
            return contract.admit(case)
        known: JsonObject = {
            name: each
            for name, each in case.call.arguments.items()
            if f"/{jsontext.escape(name)}" not in self.unknown
        }
        admitted = contract.admit(replaced(case, call=replaced(case.call, arguments=known)))
        if isinstance(admitted, Refusal):
            return admitted
        if self.call.judged.code == "schema":
            return contract.invalid((), "what prompts take")
        return replaced(admitted, call=case.call, arguments=case.call.arguments)

    def provenance(self, case: Case) -> Case | Refusal:
        """Judge origins as they were looked up then."""
        case = self._tainted(case)
        then = self.then
        if then is None or not then.was_traced or not _traces_alike(case.contract, then.case):
            return origins.check(case, self.call, then, self.fields, self.oracle)
        if self.call.judged.status is Status.PROVENANCE_FAILED:
            judged = self.call.judged
            return Refusal(status=judged.status, code=judged.code, reason=judged.reason)
        held = self.call.snapshot.get("held")
        return replaced(case, held=held) if isinstance(held, str) else case

    def _tainted(self, case: Case) -> Case:
        minds = case.contract.when_tainted is not None or case.revision.reads_taint
        if case.is_tainted or not minds or (self.then is not None and self.then.knows_taint):
            return case
        missing = Missing(place="run.tainted", why=Gone.NOT_ASKED, readers=("taint",))
        is_tainted = self.oracle.ask(("tainted",), _EITHER, [missing])
        return replaced(case, facts=replaced(case.facts, is_tainted=is_tainted))

    def classify(self, case: Case) -> Case | Refusal:
        """Raise effect and class by the conditions of the contract, as far as they are known."""
        paths = self.paths(case)
        if not any(reads.read(each.when, paths) for each in case.contract.raises):
            return risk.classify(case)
        then = self.then
        known = then.classified if then is not None else None
        if then is not None and known is not None and _raises_alike(case, then.case):
            return replaced(case, effect=known[0], risk=known[1], risk_reason="as then")
        raises = tuple(each for each in case.contract.raises if self._raises(each, case, paths))
        always = tuple(replace(each, when="true") for each in raises)
        judged = risk.classify(replaced(case, contract=replace(case.contract, raises=always)))
        return replaced(judged, contract=case.contract) if isinstance(judged, Case) else judged

    def _raises(self, rule: RiskRaise, case: Case, paths: Mapping[Path, Missing]) -> bool:
        condition = cel.compile_condition(rule.when)
        places = reads.read(rule.when, paths)
        known = self.known_arguments(case, rule.when, places)
        if known is not None:
            try:
                return condition.holds({"args": known})
            except ConditionError:
                if not places:
                    return True  # a condition that can't tell counts as met
        missing = [replaced(paths[each], readers=("contract",)) for each in places]
        return self.oracle.ask(("raise", rule.when), _EITHER, missing)

    def known_arguments(self, case: Case, text: str, places: Sequence[Path]) -> JsonObject | None:
        """Return arguments that an expression can be asked about: those that it reads left out.

        None where leaving them out could make it say something.
        """
        left: Json = case.arguments if case.arguments is not None else case.call.arguments
        for place in places:
            pointer = "".join(f"/{jsontext.escape(step)}" for step in place[1:])
            is_argument = place[0] == "args" and bool(pointer)
            if not is_argument or not reads.may_be_left_out(text, place):
                return None
            if isinstance(jsontext.get(left, pointer.rpartition("/")[0]), dict):
                left = jsontext.remove(left, pointer)
            else:
                return None
        return left if isinstance(left, dict) else None

    def phase(self, case: Case) -> Case | Refusal:
        """Pass the run, by guards of which some may read what is unknown."""
        if case.run is None:
            return phase.check(case)
        guarded = guarding.guarded(case, self.call, self.then, self.fields, self.oracle)
        return phase.check(replaced(case, revision=guarded))

    def policy(self, case: Case) -> Case | Refusal:
        """Decide by the rules; their conditions are answered beforehand where they can't be."""
        fixed = fixing.Fixing(
            call=self.call,
            then=self.then,
            own=self.revision,
            paths=self.paths(case),
            oracle=self.oracle,
            known=partial(self.known_arguments, case),
        )
        return policy.decide(replaced(case, revision=fixed.revision(case)))

    def constrain(self, case: Case) -> Case | Refusal:
        """Write what policy demands, and take what the run has limits for."""
        case = replaced(case, revision=self.revision)
        return constraining.apply(case, self.call, self.then, self.paths(case), self)


@lru_cache(maxsize=16)
def _mine(checks: tuple[Check, ...]) -> tuple[tuple[Check, str | None], ...]:
    return tuple((each, _MINE.get(each)) for each in checks)


def _traces_alike(now: Contract, then: Case) -> bool:
    before = then.contract
    return now.provenance == before.provenance and now.when_tainted is before.when_tainted


def _raises_alike(now: Case, then: Case) -> bool:
    one, other = now.contract, then.contract
    return (one.effect, one.risk, one.raises, one.compensation) == (
        other.effect,
        other.risk,
        other.raises,
        other.compensation,
    ) and now.tool.pin == then.tool.pin

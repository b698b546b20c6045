"""Run policy tests: compare decisions with what the cases expect, and count what was reached."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gateway import jsontext
from gateway.policy.cases import CallUnderTest, Expect, PolicyCase
from gateway.policy.constraints import ConstraintError, apply
from gateway.policy.engine import CompiledPolicy
from gateway.policy.explain import trace
from gateway.policy.request import PolicyRequest
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import Json
from gateway.types.values import replaced

Decide: TypeAlias = Callable[[CallUnderTest], Decision]
# Says what is wrong with a call's arguments for its tool, or returns an empty string.
Validate: TypeAlias = Callable[[CallUnderTest], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What leaves of a result, or why that can't be told."""

    value: Json = None
    problem: str = ""


# Says what leaves of the result that a case gives.
Leaves: TypeAlias = Callable[[CallUnderTest], Left]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one case went; `problems` is empty when it passed."""

    name: str
    place: str
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything that the case expects came about."""
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the cases reached, by rule id."""

    rules: tuple[str, ...]  # those that can decide
    decided: frozenset[str]
    conditions: tuple[str, ...]  # rules with a condition
    seen_true: frozenset[str]
    seen_false: frozenset[str]

    @property
    def never_decided(self) -> tuple[str, ...]:
        """Rules that decided no case."""
        return tuple(rule for rule in self.rules if rule not in self.decided)

    @property
    def rule_ratio(self) -> float:
        """Share of rules that decided at least once, 0 to 1."""
        return _ratio(len(self.rules) - len(self.never_decided), len(self.rules))

    @property
    def condition_ratio(self) -> float:
        """Share of conditions that were seen both true and false, 0 to 1."""
        both = [rule for rule in self.conditions if rule in self.seen_true & self.seen_false]
        return _ratio(len(both), len(self.conditions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results and the coverage of one run."""

    results: tuple[Result, ...]
    coverage: Coverage

    @property
    def failed(self) -> int:
        """How many cases failed."""
        return sum(not result.passed for result in self.results)

    def text(self, *, verbose: bool = False) -> str:
        """Render for a terminal: the sums, below a line for each case that failed.

        With `verbose` those that passed have a line too, above the others.
        """
        shown = sorted(self.results, key=lambda each: not each.passed)
        lines = [_line(each) for each in shown if verbose or not each.passed]
        cover = self.coverage
        decided = len(cover.rules) - len(cover.never_decided)
        sums = f"{len(self.results) - self.failed} passed, {self.failed} failed; "
        sums += f"rules decided {decided}/{len(cover.rules)}"
        if cover.never_decided:
            sums += f"; never decided: {', '.join(cover.never_decided)}"
        return "\n".join([*lines, sums])


def policy_only(policy: CompiledPolicy) -> Decide:
    """Decide by the policy alone, without the other checks of the pipeline."""
    return lambda call: policy.decide(request_of(call))


def request_of(call: CallUnderTest) -> PolicyRequest:
    """Return the request that a case puts to the policy."""
    return PolicyRequest(
        tool=call.contract.tool,
        server=call.server_name,
        effect=call.effect,
        risk=call.risk,
        pin=call.pin,
        pinned=call.contract.pin,
        actor=call.actor,
        phase=call.phase,
        arguments=call.arguments,
        now=call.now,
        run_id=call.run_id,
        method=call.method,
        kind=call.kind,
        cause=call.cause,
        run=call.bound.run if call.bound is not None else None,
    )


def run(
    cases: Sequence[PolicyCase],
    policy: CompiledPolicy,
    *,
    validate: Validate,
    decide: Decide | None = None,
    leaves: Leaves | None = None,
) -> Report:
    """Run cases; `decide` may stand for the whole pipeline, without it the policy decides alone.

    Without `leaves` nothing is said of results.
    """
    decide = decide or policy_only(policy)
    results: list[Result] = []
    decided: set[str] = set()
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for case in cases:
        decision = None
        if case.call is not None and not case.fault:
            decision = decide(case.call)
            decided.add(decision.rule)
            for line in trace(policy, _asked(case.call, decision), decision.risk):
                if line.condition is not None:
                    seen[line.condition].add(line.rule)
        results.append(_result(case, decision, validate, leaves))
    return Report(
        results=tuple(results),
        coverage=_coverage(policy, decided, seen[True], seen[False]),
    )


def _asked(call: CallUnderTest, decision: Decision) -> PolicyRequest:
    """Return what the policy was asked: the phase may be one that the call takes its run on to."""
    request = request_of(call)
    return replaced(request, phase=decision.inputs.phase) if decision.inputs else request


def _coverage(
    policy: CompiledPolicy, decided: Iterable[str], true: Iterable[str], false: Iterable[str]
) -> Coverage:
    enforced = [rule for rule in policy.rules if not rule.shadow]
    return Coverage(
        rules=tuple(rule.id for rule in enforced if rule.effect is not None),
        decided=frozenset(decided),
        conditions=tuple(rule.id for rule in enforced if rule.condition is not None),
        seen_true=frozenset(true),
        seen_false=frozenset(false),
    )


def _result(
    case: PolicyCase, decision: Decision | None, validate: Validate, leaves: Leaves | None
) -> Result:
    if case.call is None or decision is None:
        return Result(name=case.name, place=case.place, problems=(case.fault or "not decided",))
    invalid = validate(case.call)
    if invalid:
        problems = (f"the arguments do not match the tool's schema: {invalid}",)
    else:
        problems = tuple(_problems(case.expect, case.call, decision))
        if leaves is not None and case.expect.result is not None:
            problems += tuple(_result_problems(case.expect.result, case.call, decision, leaves))
    return Result(name=case.name, place=case.place, problems=problems)


def _problems(expect: Expect, call: CallUnderTest, decision: Decision) -> Iterator[str]:
    approval = decision.approval
    approvers = (*approval.roles, *approval.users) if approval else ()
    factors = {each.name: each.count for each in approval.factors} if approval else {}
    compared: Sequence[tuple[str, Json, Json]] = (
        ("decision", expect.decision, decision.effect),
        ("rule", expect.rule, decision.rule),
        ("code", expect.code, decision.code),
        ("quorum", expect.quorum, approval.quorum if approval else None),
        ("risk", expect.risk, decision.risk or call.risk),
        ("phase", expect.phase, decision.inputs.phase if decision.inputs else call.phase),
        ("factors", _counts(expect.factors), _counts(factors)),
        ("approvers", _names(expect.approvers), _names(approvers)),
        ("shadow", _names(expect.shadow), _names([each.rule for each in decision.shadow])),
    )
    for word, wanted, got in compared:
        if wanted is not None and wanted != got:
            yield f"{word}: expected {_shown(wanted)}, got {_shown(got)}"
    if expect.args is not None:
        yield from _argument_problems(expect, call, decision)


def _argument_problems(expect: Expect, call: CallUnderTest, decision: Decision) -> Iterator[str]:
    if decision.effect is DecisionEffect.DENY:
        yield "args: the call is denied and has no final arguments"
        return
    try:
        final = apply(call.arguments, decision.constraints)
    except ConstraintError as error:
        yield f"args: {error}"
        return
    if final != expect.args:
        yield f"args: expected {_json(expect.args)}, got {_json(final)}"


def _result_problems(
    wanted: Json, call: CallUnderTest, decision: Decision, leaves: Leaves
) -> Iterator[str]:
    if decision.effect is DecisionEffect.DENY:
        yield "result: the call is denied and brings none"
        return
    left = leaves(call)
    if left.problem:
        yield f"result: {left.problem}"
    elif left.value != wanted:
        yield f"result: expected {_json(wanted)}, got {_json(left.value)}"


def _json(value: Json) -> str:
    return jsontext.dump(value).decode()


def _names(names: Iterable[str] | None) -> Json:
    return None if names is None else [*sorted(names)]


def _counts(factors: Mapping[str, int] | None) -> Json:
    """Return groups as people read them: `2 of finance`."""
    return (
        None if factors is None else _names(f"{count} of {name}" for name, count in factors.items())
    )


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value) or "none"
    return "none" if value is None or value == "" else str(value)


def _line(result: Result) -> str:
    if result.passed:
        return f"PASS {result.name}"
    return f"FAIL {result.name} ({result.place}) {'; '.join(result.problems)}"


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0

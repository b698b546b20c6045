"""Whether two revisions have the very same to say about calls of one tool.

Most of a policy is about other tools than what a change is about. Where nothing that is asked about
a call differs, the answer does not either, and need not be found a second time.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from gateway import jsontext
from gateway.policy.cel import Condition
from gateway.policy.compiled import CompiledRule
from gateway.policy.engine import CompiledPolicy
from gateway.policy.methods import Target
from gateway.replay.types import Recorded
from gateway.revision import Revision
from gateway.types.tools import Contract

_MOST: Final = 20_000  # tools, URIs and methods that are known of
_RUNS: Final = "runs/"
_Key = tuple[str, str, Target]


@dataclass(slots=True)
class Alike:
    """Compares revisions once for each tool."""

    _known: dict[_Key, bool] = field(default_factory=dict[_Key, bool])
    _whole: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])

    def __call__(self, one: Revision, other: Revision, call: Recorded) -> bool:
        """Whether both say the same of all calls like this one; places of rules may differ."""
        target = Target(call.method, call.kind, call.tool, call.server)
        key = (one.id, other.id, target)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = self._all(one, other) and _about(one, other, target)
        return known

    def _all(self, one: Revision, other: Revision) -> bool:
        """Whether what is about every call is the same."""
        ids = (one.id, other.id)
        if ids not in self._whole:
            self._whole[ids] = _everywhere(one) == _everywhere(other)
        return self._whole[ids]


def _everywhere(revision: Revision) -> tuple[object, ...]:
    policy = revision.policy
    return (
        policy.fallback,
        {name: jsontext.canonical([*values]) for name, values in policy.sets.items()},
        {name: text for name, text in revision.texts.items() if name.startswith(_RUNS)}
        if revision.texts
        else revision.templates,
        revision.unreviewed,
        revision.open_servers,
        revision.reads_taint,
        revision.reads_now,
        revision.names_objective,
    )


def _about(one: Revision, other: Revision, target: Target) -> bool:
    first, second = (_terms(each.contracts.get(target.key)) for each in (one, other))
    return first == second and _rules(one.policy, target) == _rules(other.policy, target)


def _terms(contract: Contract | None) -> object:
    """Return a contract in a form that is equal to its like; `1` and `true` are not alike."""
    if contract is None:
        return None
    return replace(contract, place=""), jsontext.canonical(contract.definition)


def _rules(policy: CompiledPolicy, target: Target) -> tuple[list[object], ...]:
    about = policy.candidates(target)
    return tuple([*map(_plain, some)] for some in (about.enforced, about.raising, about.shadow))


def _plain(rule: CompiledRule) -> object:
    """Return a rule in a form that is equal to its like: patterns say what is selected."""
    values = tuple(
        jsontext.canonical(each.source)
        for each in rule.obligations.constraints
        if not isinstance(each.source, Condition)
    )
    return replace(rule, place="", matcher=replace(rule.matcher, selects=_any)), values


def _any(key: str) -> bool:
    del key
    return True

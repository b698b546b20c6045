"""What is written of a rule, as far as calls may be decided by it: for telling two rules apart."""

from dataclasses import fields
from typing import Final, TypeAlias

from gateway.policy.axes import Side
from gateway.policy.cel import Condition
from gateway.policy.compiled import CompiledRule
from gateway.policy.match import Matcher
from gateway.policy.methods import Target

Written: TypeAlias = tuple[object, ...]

# `selects` is made of the patterns anew each time.
_MATCHED: Final = tuple(each.name for each in fields(Matcher) if each.name != "selects")


def rule(given: CompiledRule) -> Written:
    """Return everything of a rule but its name, its place and its words for people."""
    demands = given.obligations
    return (
        given.effect,
        tuple(getattr(given.matcher, name) for name in _MATCHED),
        given.condition.text if given.condition is not None else "",
        given.shadow,
        given.risk,
        tuple((each.pointer, each.kind, _source(each.source)) for each in demands.constraints),
        tuple(
            (each.id, each.per, each.maximum, each.window_s, each.total and each.total.text)
            for each in demands.limits
        ),
        (demands.output.keep, demands.output.redact),
        tuple((each.path, each.where.text) for each in demands.rows),
        given.approval,
    )


def about(side: Side, target: Target) -> Written:
    """Return everything that one policy says of a target: alike for two, nothing differs there."""
    contract = side.contract
    return (
        tuple(rule(each) for each in side.about(target)),
        tuple(sorted((name, repr(values)) for name, values in side.sets.items())),
        tuple(sorted(side.terms.items())),
        None
        if contract is None
        else tuple(
            getattr(contract, each.name) for each in fields(contract) if each.name != "place"
        ),
    )


def _source(source: object) -> str:
    return source.text if isinstance(source, Condition) else repr(source)

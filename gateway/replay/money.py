"""What a call moves: the amount that a limit of its tool's rules, or of its run, adds up."""

import math
from decimal import Decimal
from typing import Final, TypeGuard

from gateway import jsontext
from gateway.policy.cel import ConditionError
from gateway.policy.constraints import is_number
from gateway.replay.then import Then
from gateway.replay.types import Money
from gateway.replay.unknown import touches
from gateway.steps import policy
from gateway.types.json import Json
from gateway.types.tools import Effect
from gateway.types.values import replaced

_CURRENCY: Final = "currency"  # of the argument that says it, where there is one


def moved(then: Then) -> Money | None:
    """Return the amount of a call by the terms of then; None where none sums up any, or it is gone.

    The first limit with a `sum` that can be computed counts, whichever rule lets the call through:
    of a call that no rule allows, people want to know as well what it would have moved. Where rules
    sum up nothing, limits of the run's template do.
    """
    amount = _by_rules(then)
    if amount is None:
        amount = _by_run(then)
    if amount is None:
        return None
    currency = then.call.seen.get(_CURRENCY)
    return Money(amount=amount, currency=currency if isinstance(currency, str) else "")


def _by_rules(then: Then) -> float | None:
    arguments = then.call.arguments
    request = replaced(policy.request(then.case), arguments=arguments)
    rules = then.revision.policy
    scope = rules.view(request).scope
    for rule in rules.candidates(request.target).enforced:
        for limit in rule.obligations.limits:
            if limit.total is None:
                continue
            try:
                amount = limit.total.evaluate(scope())
            except ConditionError:
                continue
            if _is_amount(amount):
                return float(amount)
    return None


def _by_run(then: Then) -> float | None:
    """Return the argument that a limit of the run counts; of reads none does."""
    call, run = then.call, then.case.run
    template = then.revision.templates.get(run.template) if run is not None else None
    does = call.judged.does or then.case.contract.effect
    if template is None or does is Effect.READ:
        return None
    for limit in template.limits:
        if limit.kind != "money" or (limit.tools and call.tool not in limit.tools):
            continue
        if touches(call.unknown, limit.argument):
            continue
        try:
            amount = jsontext.get(call.arguments, limit.argument)
        except KeyError:
            continue
        if _is_amount(amount):
            return float(amount)
    return None


def _is_amount(found: Json) -> TypeGuard[int | float | Decimal]:
    return is_number(found) and 0 <= found < math.inf

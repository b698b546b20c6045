"""What a call moves: the amount that a limit of its tool's rules adds up."""

import math
from typing import Final

from gateway.policy.cel import ConditionError
from gateway.policy.constraints import is_number
from gateway.replay.then import Then
from gateway.replay.types import Money
from gateway.steps import policy
from gateway.types.values import replaced

_CURRENCY: Final = "currency"  # of the argument that says it, where there is one


def moved(then: Then) -> Money | None:
    """Return the amount of a call by the rules of then; None where none sums up any, or it is gone.

    The first limit with a `sum` that can be computed counts, whichever rule lets the call through:
    of a call that no rule allows, people want to know as well what it would have moved.
    """
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
            if is_number(amount) and 0 <= amount < math.inf:
                currency = then.call.seen.get(_CURRENCY)
                named = currency if isinstance(currency, str) else ""
                return Money(amount=float(amount), currency=named)
    return None

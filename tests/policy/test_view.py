import pytest

from gateway.policy.cel import ConditionError
from gateway.types.tools import Risk
from tests.policy.example import policy, request

RULES = policy(
    """
rules:
  - {id: low, decision: allow, when: tool.risk == "low"}
  - {id: bad, decision: allow, when: args.nope}
  - {id: plain, decision: allow, match: {risk: [critical]}}
"""
)


def test_values_are_converted_once_until_the_class_rises() -> None:
    view = RULES.view(request(risk=Risk.LOW))
    first = view.scope()
    assert view.scope() is first
    view.raise_to([Risk.LOW])
    assert view.scope() is first
    view.raise_to([Risk.MEDIUM, Risk.CRITICAL, Risk.HIGH])
    assert view.risk is Risk.CRITICAL
    assert view.scope() is not first


def test_a_condition_is_seen_again_under_the_raised_class() -> None:
    view = RULES.view(request(risk=Risk.LOW))
    low, bad, plain = RULES.rules
    assert (view.meets(low), view.meets(low), view.meets(plain)) == (True, True, True)
    view.raise_to([Risk.CRITICAL])
    assert (view.meets(low), view.meets(plain)) == (False, True)
    with pytest.raises(ConditionError):
        view.meets(bad)

from gateway.events import decisions
from gateway.types.decisions import Decision, Inputs
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from tests.events.test_build import ALLOWED


def test_what_is_demanded_is_told_without_values() -> None:
    assert decisions.obligations(ALLOWED) == {
        "constraints": [{"pointer": "/limit", "kind": "max", "rule": "limits"}],
        "limits": [{"id": "rate", "amount": 1, "rule": "limits"}],
        "kept": ["/id"],
        "shadow": [{"effect": "deny", "rule": "soon", "code": "s"}],
    }


def test_a_decision_that_demands_nothing_tells_of_nothing() -> None:
    assert decisions.obligations(Decision()) == {}


def test_the_class_before_rules_raised_it_is_told_where_they_did() -> None:
    def told(given: Risk | None) -> object:
        made = Inputs(effect=Effect.READ, risk=Risk.HIGH, phase=Phase.ACTING, given=given)
        return decisions.inputs(made)

    same = {"effect": "read", "risk": "high", "phase": "acting"}
    assert told(Risk.HIGH) == told(None) == same
    assert told(Risk.LOW) == {**same, "given": "low"}

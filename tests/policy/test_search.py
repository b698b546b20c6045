"""The search for requests that two policies judge differently."""

from dataclasses import replace

from gateway.policy.axes import Side, axes
from gateway.policy.engine import CompiledPolicy
from gateway.policy.impact import Both, Word
from gateway.policy.probes import Probe
from gateway.policy.search import Budget, Found, Search
from gateway.types.tools import Risk
from tests.helpers.probing import REFUND, a_side
from tests.policy.example import POLICY, SAM, policy, request

OLD = policy(POLICY)


def word(policy: CompiledPolicy, probe: Probe) -> Word:
    actor = replace(
        SAM,
        roles=frozenset(probe.roles),
        scopes=frozenset(probe.scopes),
        tenant=probe.tenant,
    )
    decision = policy.decide(request(arguments=probe.arguments, phase=probe.phase, actor=actor))
    return Word(decision=decision, risk=decision.risk or Risk.HIGH)


def searched(
    text: str, *, most: int = 5_000, missing: str = ""
) -> tuple[Found, Budget, list[Probe]]:
    """Search between the example and another policy; also returns everything that was asked.

    Requests with the argument that is `missing` can't be made.
    """
    new, asked = policy(text), list[Probe]()

    def ask(probe: Probe) -> Both | None:
        asked.append(probe)
        return None if missing in probe.arguments else (word(OLD, probe), word(new, probe))

    sides: list[Side] = [a_side(), a_side(text)]
    found, budget = Found(), Budget(most)
    Search(axes(REFUND, sides), sides, ask, found, budget).run(0)
    return found, budget, asked


def test_a_bound_behind_four_other_conditions_is_found() -> None:
    found, budget, asked = searched(POLICY.replace("args.amount <= 1000.0", "args.amount <= 500.0"))
    assert found.differing > 0
    # Of a definition that isn't the reviewed one the rules are never asked.
    assert {rule for _, rule in found.sought - found.met} == {"guard.pinned-schema"}
    assert budget.spent == len(asked) == len({repr(each) for each in asked})


def test_where_both_say_the_same_a_glance_is_enough() -> None:
    found, budget, _ = searched(POLICY.replace("limit: 50", "limit: 60"))  # of another tool
    assert (found.differing, found.sought) == (0, set())
    assert budget.spent <= 48


def test_a_rule_that_is_never_met_is_known_by_that() -> None:
    text = POLICY.replace("args.amount > 10000.0", "args.amount > 10000.0 && args.amount < 3.0")
    found, _, _ = searched(text)
    assert (1, "payments.refund.cap") in found.sought - found.met
    assert (0, "payments.refund.cap") in found.met


def test_a_budget_ends_the_search_and_says_so() -> None:
    text = POLICY.replace("args.amount <= 1000.0", "args.amount <= 500.0")
    _, budget, asked = searched(text, most=30)
    assert (len(asked), budget.left, budget.is_cut) == (30, 0, True)


def test_what_is_left_is_shared_by_those_that_are_to_come() -> None:
    budget = Budget(10)
    budget.share(3)
    assert [budget.take() for _ in range(4)] == [True, True, True, False]
    assert budget.is_cut
    budget.share(2)
    assert not budget.is_cut
    assert [budget.take() for _ in range(3)] == [True, True, True]
    budget.give_back()
    assert (budget.left, budget.spent, budget.take()) == (5, 5, True)
    budget.share(0)
    assert [budget.take() for _ in range(5)] == [True, True, True, True, False]


def test_a_request_that_can_t_be_made_costs_nothing() -> None:
    text = POLICY.replace("args.amount <= 1000.0", "args.amount <= 500.0")
    _, budget, asked = searched(text, missing="amount")
    assert asked
    assert budget.spent == 0

"""What is written of rules."""

from dataclasses import replace

import pytest

from gateway.policy import writing
from gateway.types.tools import Risk
from tests.helpers.probing import REFUND, a_side
from tests.policy.example import CONTRACTS, POLICY


def test_names_places_and_words_don_t_make_another_rule() -> None:
    other = POLICY.replace("id: payments.refund.small", "reason: words\n    id: small")
    assert writing.about(a_side(), REFUND) == writing.about(a_side("# x\n" + other), REFUND)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("args.amount <= 1000.0", "args.amount <= 999.0"),
        ("[EUR, USD]", "[EUR]"),
        ("max: 20,", "max: 21,"),
        ("quorum: 1\n      requester", "quorum: 2\n      requester"),
        ("phases: [acting]", "phases: [planning]"),
        ("risk: critical", "risk: high"),
    ],
)
def test_what_decides_does(old: str, new: str) -> None:
    assert old in POLICY
    changed = a_side(POLICY.replace(old, new))
    assert writing.about(a_side(), REFUND) != writing.about(changed, REFUND)


def test_a_contract_and_the_templates_count_as_well() -> None:
    raised = a_side(contract=replace(CONTRACTS[0], risk=Risk.CRITICAL))
    assert writing.about(a_side(), REFUND) != writing.about(raised, REFUND)
    moved = a_side(contract=replace(CONTRACTS[0], place="elsewhere.yaml:9"))
    assert writing.about(a_side(), REFUND) == writing.about(moved, REFUND)
    assert writing.about(a_side(), REFUND) != writing.about(a_side(terms={"case": "x"}), REFUND)

"""What a decision is about, as a digest."""

import pytest

from gateway.approvals.binding import Bound, bind, short
from gateway.types.values import replaced

BOUND = Bound(
    tenant="acme",
    principal=("keys", "ana", "agent", "acme", "ana", "api_key"),
    run_id="",
    server="desk",
    tool="desk.refund",
    pin="sha256:1",
    contract="sha256:2",
    arguments="sha256:3",
)


def test_the_same_call_has_the_same_binding_and_people_see_its_first_digits() -> None:
    binding = bind(BOUND, "op_1")
    assert binding == bind(BOUND, "op_1")
    assert binding.startswith("sha256:")
    assert short(binding) == binding[7:15]


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "globex"},
        {"principal": ("keys", "ana", "other", "acme", "ana", "api_key")},
        {"run_id": "run_1"},
        {"server": "desk2"},
        {"tool": "desk.close"},
        {"pin": "sha256:9"},
        {"contract": "sha256:9"},
        {"arguments": "sha256:9"},
    ],
)
def test_whatever_is_another_call_has_another_one(change: dict[str, object]) -> None:
    """case: APR-01"""
    assert bind(replaced(BOUND, **change), "op_1") != bind(BOUND, "op_1")


def test_it_counts_for_one_operation_only() -> None:
    assert bind(BOUND, "op_1") != bind(BOUND, "op_2")

"""Whose runs somebody gets to see, and what he is told that is not done."""

import pytest

from gateway.crossing.run_wishes import Kind, RunRefused, Sees
from tests.helpers.runs import a_run


@pytest.mark.parametrize(
    ("sees", "is_there"),
    [
        (Sees(), True),
        (Sees(tenant="acme"), True),
        (Sees(tenant="globex"), False),
        (Sees(tenant="acme", user="ana"), True),
        (Sees(tenant="acme", user="eve"), False),
        (Sees(tenant="globex", user="ana"), False),
        (Sees(owners=frozenset({"0" * 32, "1" * 32})), True),
        (Sees(tenant="acme", user="ana", owners=frozenset({"1" * 32})), False),
    ],
)
def test_a_run_is_there_for_whom_all_of_it_fits(sees: Sees, is_there: bool) -> None:
    assert sees.lets(a_run()) == is_there


def test_what_is_not_done_is_told_in_one_line_with_what_to_do() -> None:
    refused = RunRefused(kind=Kind.BLOCKED, reason="the run is paused", next="wait")
    assert str(refused) == "the run is paused; wait"
    assert str(RunRefused(kind=Kind.NOT_FOUND, reason="there is no run")) == "there is no run"

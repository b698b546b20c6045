"""Samples of runs: what some run meets, and where that can't be told."""

import pytest

from gateway.policy.run_guards import RunGuard, compile_guard
from gateway.policy.run_samples import Setting, is_met

FIELDS = ("a", "b", "c", "d", "e", "f")


def guards(*texts: str) -> list[RunGuard]:
    return [compile_guard(text, FIELDS) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "evidence == 17",
        "fields.a > 4.5 && fields.a < 6",
        "fields.a == 'x' || fields.b",
        "!fields.a",
        "tainted && phase == 'acting'",
        "tokens > 10 && tokens < 12",
        "'desk.refund' in verified && size(verified) == 1",
        "pending_approvals == 2",
    ],
)
def test_some_run_meets_it(text: str) -> None:
    assert is_met(guards(text), Setting())


@pytest.mark.parametrize("text", ["evidence < 0", "fields.a && !fields.a", "tainted && !tainted"])
def test_no_run_meets_it(text: str) -> None:
    assert not is_met(guards(text), Setting())


def test_limits_and_what_was_written_bound_what_can_be() -> None:
    assert not is_met(guards("calls >= 10"), Setting(most_calls=9))
    assert not is_met(guards("tokens >= 10"), Setting(most_tokens=9))
    assert not is_met(guards("succeeded(a.b)"), Setting(may_have_written=False))
    assert not is_met(guards("pending_approvals > 0"), Setting(may_have_written=False))


@pytest.mark.parametrize(
    "text",
    [
        "fields.a.b == 1 && false",  # the inside of a field
        "size(fields.a) < 0",
        " && ".join(f"fields.{name} != 'x'" for name in FIELDS) + " && evidence < 0",  # too many
    ],
)
def test_where_it_can_not_be_told_it_counts_as_met(text: str) -> None:
    assert is_met(guards(text), Setting())

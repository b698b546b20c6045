"""The policy's word on a call."""

import pytest

from gateway.types.decisions import (
    NO_ROWS,
    OutputPolicy,
    RedactAs,
    Redaction,
    RowCount,
    RowFilter,
)

ROWS = RowFilter(path="/rows", where="row.ok", rule="r", holds=lambda _: True)


def test_rows_of_several_lists_are_counted_together() -> None:
    one, other = RowCount(kept=1, removed=2, failed=1), RowCount(kept=3, removed=4)
    assert one.plus(other) == RowCount(kept=4, removed=6, failed=1)
    assert NO_ROWS.plus(one) == one


@pytest.mark.parametrize(
    ("output", "holds_back"),
    [
        (OutputPolicy(), False),
        (OutputPolicy(keep=("/a",)), True),
        (OutputPolicy(redact=(Redaction(path="/a", form=RedactAs.MASK),)), True),
        (OutputPolicy(rows=(ROWS,)), True),
    ],
)
def test_whether_something_may_not_leave_is_known(output: OutputPolicy, holds_back: bool) -> None:
    assert output.holds_back is holds_back

"""The one table of statuses."""

import pytest

from gateway.types.outcomes import TABLE, ErrorClass, Refusal, Status


def test_every_status_has_a_row() -> None:
    assert set(TABLE) == set(Status)


UNHARMED = {Status.OK, Status.INPUT_REQUIRED}


@pytest.mark.parametrize("status", [one for one in Status if one not in UNHARMED])
def test_a_status_that_is_no_success_has_a_class_and_a_next_step(status: Status) -> None:
    row = TABLE[status]
    assert isinstance(row.error_class, ErrorClass)
    assert row.next
    assert row.next[0].islower()
    assert not row.next.endswith(".")


def test_every_error_class_is_used() -> None:
    assert {row.error_class for row in TABLE.values()} - {None} == set(ErrorClass)


@pytest.mark.parametrize("status", Status)
def test_a_refusal_has_the_row_of_its_status(status: Status) -> None:
    assert Refusal(status=status, reason="").row is TABLE[status]

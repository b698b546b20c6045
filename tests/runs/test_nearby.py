"""Ids that are one slip away."""

import pytest

from gateway.runs.forms import identity
from gateway.runs.nearby import named, neighbours
from gateway.types.json import Json


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("c-1010", "c-1001"),  # two swapped
        ("c-1002", "c-1001"),  # one wrong
        ("c-101", "c-1001"),  # one missing
        ("c-10011", "c-1001"),  # one too many
        ("C-1001", "c-1001"),
        (" c-1001 ", "c-1001"),
        ("1001", 1001),
        (1001, "1001"),
        (3471, 3417),
        (341, 3417),
        ("f3a0", "f3a1"),
        ("INV-O1", "INV-01"),
        ("e\u0301-1", "\u00e9-2"),
    ],
)
def test_one_slip_leads_to_what_was_meant(given: Json, meant: Json) -> None:
    normal = identity(meant)
    assert normal in neighbours(given)
    again = named(normal)
    assert (again, type(again)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("given", "other"), [("c-1001", "c-2002"), (3417, 9999), ("c-1001", "c-1001"), (7, True)]
)
def test_two_slips_lead_nowhere(given: Json, other: Json) -> None:
    assert identity(other) not in neighbours(given)


@pytest.mark.parametrize("value", [None, True, 1.5, [], {}, "", "x" * 41, "a@b.example"])
def test_what_is_no_id_has_no_neighbours(value: Json) -> None:
    assert neighbours(value) == ()


@pytest.mark.parametrize("value", ["x" * 40, "aZ0-" * 10, "\u00e9\u00e8", 2**100])
def test_there_are_never_too_many(value: Json) -> None:
    assert 0 < len(neighbours(value)) <= 3_000

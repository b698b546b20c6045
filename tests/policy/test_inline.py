"""Values on one line of YAML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import yamltext
from gateway.policy.inline import inline
from gateway.types.json import Json

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab-:, #'\"", max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(_VALUES)
def test_what_is_written_is_read_back(value: Json) -> None:
    read = yamltext.load(f"it: {inline(value)}\n", file="t.yaml").value
    assert read == {"it": value}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            {"call": "desk.refund", "args": {"amount": 50.0}},
            "{call: desk.refund, args: {amount: 50.0}}",
        ),
        ("no", '"no"'),
        ("a b", "a b"),
        ("007", '"007"'),
        ("x: y", '"x: y"'),
        ("a\u202eb\n", '"a\\u202eb\\u000a"'),
        ("\U000e0041", '"\\U000e0041"'),
        (["a", 1, True, None], "[a, 1, true, null]"),
    ],
)
def test_quotes_are_where_they_are_needed(value: Json, written: str) -> None:
    assert inline(value) == written

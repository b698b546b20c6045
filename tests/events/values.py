"""Any JSON, for properties."""

from decimal import Decimal

from hypothesis import strategies as st

from gateway.types.json import Json

TEXTS: st.SearchStrategy[str] = st.text(
    st.characters(codec="utf-8") | st.sampled_from(["\ud800", "/", "~", "$", "@"]), max_size=8
)
SCALARS: st.SearchStrategy[Json] = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.just(Decimal("0.1234567890123456789"))
    | TEXTS
)
JSON: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "a", "token", "0"]) | TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)

"""Exposed names, for any set of tools."""

import re
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gateway.servers.names import Key, Naming, check_aliases, expose

aliases = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True).filter(
    lambda alias: not check_aliases([alias])
)
# A small alphabet makes near collisions likely; the separator and digest-like ends are in it.
tools = st.text(alphabet="ab_-. /é0", min_size=1, max_size=80) | st.text(min_size=1, max_size=20)
keys = st.lists(st.tuples(aliases, tools), max_size=30)


@given(keys=keys, order=st.randoms())
def test_names_are_unique_short_clean_and_stable_in_any_order(
    keys: list[Key], order: Random
) -> None:
    names = expose(keys, Naming())
    assert set(names) == set(keys)
    assert len(set(names.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made) for made in names.values())
    shuffled = list(keys)
    order.shuffle(shuffled)
    assert expose(shuffled, Naming()) == names


@given(keys=keys)
def test_a_name_is_the_same_whatever_else_is_listed(keys: list[Key]) -> None:
    names = expose(keys, Naming())
    assert all(expose([key], Naming())[key] == made for key, made in names.items())

"""Components of a graph."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.contracts.graph import components

graphs = st.integers(1, 8).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            str(node): st.lists(st.sampled_from([str(n) for n in range(size)]))
            for node in range(size)
        }
    )
)


def reachable(edges: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(edges[node])
    return found


@given(graphs)
def test_members_reach_each_other_and_come_after_what_they_lead_to(
    edges: dict[str, list[str]],
) -> None:
    found = components(edges)
    assert sorted(node for component in found for node in component) == sorted(edges)
    place = {node: index for index, component in enumerate(found) for node in component}
    for one in edges:
        for other in reachable(edges, one):
            assert place[other] <= place[one]
            assert (place[other] == place[one]) == (one == other or one in reachable(edges, other))


def test_a_long_chain_needs_no_recursion() -> None:
    edges = {str(n): [str(n + 1)] for n in range(50_000)} | {"50000": []}
    assert components(edges)[0] == ["50000"]

"""Strongly connected components, without recursion: schemas of strangers may be deep."""

from collections.abc import Mapping, Sequence


def components(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the components of a graph, each after all that it leads to (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    found: list[list[str]] = []
    for root in edges:
        if root in index:
            continue
        path = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        waiting.append(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    waiting.append(target)
                    path.append((target, iter(edges[target])))
                    break
                low[node] = min(low[node], low[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_close(node, waiting, low, done=len(edges)))
    return found


def _close(node: str, waiting: list[str], low: dict[str, int], *, done: int) -> list[str]:
    """Take a finished component off the stack; its members no longer lower anyone."""
    members: list[str] = []
    while not members or members[-1] != node:  # from the end: the stack may be long
        members.append(waiting.pop())
        low[members[-1]] = done
    members.reverse()
    return members

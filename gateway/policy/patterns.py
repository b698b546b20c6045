"""Patterns over names and URIs: `*` is any text, `?` one character, there are no classes."""

import re
from collections.abc import Callable, Iterable
from typing import Final

_VARIABLE: Final = re.compile(r"\{[^{}]*\}")  # an expression of a URI template (RFC 6570)
_STAR, _ONE = "*", "?"
_LONGEST_TEMPLATE: Final = 2048


def glob(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Compile patterns; a text is selected when one of them covers the whole of it."""
    compiled = re.compile("|".join(f"(?:{_pattern(each)})" for each in patterns), re.DOTALL)
    return lambda key: compiled.fullmatch(key) is not None


def is_template(uri: str) -> bool:
    """Say whether a URI stands for several."""
    return "{" in uri  # never part of a URI itself (RFC 3986, 2.2)


def meets(pattern: str, template: str) -> bool:
    """Say whether some URI of a template is one that the pattern selects.

    A variable counts as any text, and a template too long to tell counts as met.
    """
    if len(template) > _LONGEST_TEMPLATE:
        return True
    left = [(each, each in (_STAR, _ONE)) for each in pattern]
    right = [(each, False) for each in _VARIABLE.sub("\0", template)]
    right = [(_STAR, True) if each == "\0" else (each, wild) for each, wild in right]
    return _meet(left, right)


def _meet(left: list[tuple[str, bool]], right: list[tuple[str, bool]]) -> bool:
    """Look for a text that both describe; tokens are characters, or wild ones."""
    star = (_STAR, True)
    seen: set[tuple[int, int]] = set()
    open_ends = [(0, 0)]
    while open_ends:
        i, j = open_ends.pop()
        if (i, j) in seen:
            continue
        seen.add((i, j))
        a, b = left[i] if i < len(left) else None, right[j] if j < len(right) else None
        if a is None and b is None:
            return True
        if star in (a, b):
            open_ends += [(i + 1, j)] * (a is not None) + [(i, j + 1)] * (b is not None)
        elif a is not None and b is not None and (a == b or (_ONE, True) in (a, b)):
            open_ends.append((i + 1, j + 1))
    return False


def _pattern(text: str) -> str:
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in text.split(_STAR))
    if not rest:
        return first
    # The first place for a part is as good as any, so none is tried twice: callers choose URIs,
    # and one that fits many stars in many ways must not cost more than its length.
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1])
    return f"{first}{middle}.*{rest[-1]}"

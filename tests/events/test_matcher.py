import time

import pytest

from gateway.events.matcher import Matcher, escape


def test_it_says_which_patterns_match() -> None:
    matcher = Matcher(["a+", "b", "z"])
    assert matcher.which("xaab") == [0, 1]
    assert matcher.which("x") == []


def test_spans_count_characters_and_are_those_of_the_group() -> None:
    matcher = Matcher(["k=(v+)", "é"])
    assert matcher.spans(0, "ü k=vv k=v") == [(4, 6), (9, 10)]
    assert matcher.spans(1, "aé") == [(1, 2)]


def test_a_pattern_that_can_not_be_compiled_fails_at_once() -> None:
    with pytest.raises(Exception, match="Set"):
        Matcher(["(?=look)"])


def test_a_pattern_that_would_backtrack_takes_linear_time() -> None:
    started = time.perf_counter()
    assert Matcher(["(a+)+$b"]).which("a" * 100_000) == []
    assert time.perf_counter() - started < 2


def test_escaped_text_matches_itself_only() -> None:
    matcher = Matcher([escape("a.b|c")])
    assert matcher.which("a.b|c") == [0]
    assert matcher.which("axb") == []

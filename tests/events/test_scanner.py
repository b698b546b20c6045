from collections.abc import Sequence

import pytest

from gateway.events import scanner
from gateway.events.matcher import Matcher
from gateway.events.patterns import PATTERNS
from gateway.events.scanner import Cut, Scanner, encodable, literal

SCANNER = Scanner(PATTERNS)


def test_a_text_without_secrets_is_as_it_was() -> None:
    assert SCANNER.cut("nothing here") == Cut("nothing here", 0)
    assert not SCANNER.suspects("nothing here", jsonish=False)


def test_every_occurrence_is_cut_and_counted() -> None:
    cut = SCANNER.cut("a@x.org, b@x.org")
    assert cut == Cut("[redacted:email], [redacted:email]", 2)


def test_it_says_what_form_a_whole_text_had() -> None:
    assert (cut := SCANNER.cut("a@x.org")).whole is not None
    assert cut.whole is not None
    assert cut.whole.name == "email"


def test_what_appears_only_once_something_else_is_cut_is_cut_as_well() -> None:
    two = Scanner([literal("aaa"), literal(r"\bkey1")])
    assert not two.cut("xaakey1").count
    assert "key1" not in two.cut("xaaakey1").text


def test_keys_and_escapes_count_where_there_is_json_only() -> None:
    assert SCANNER.suspects('{"password": 1}', jsonish=True)
    assert not SCANNER.suspects('say "pass": 1', jsonish=False)
    assert SCANNER.suspects('{"a": "\\n"}', jsonish=True)


def test_text_that_never_comes_to_rest_is_hidden_whole() -> None:
    greedy = Scanner([literal("red")])
    assert greedy.cut("red") == Cut("[redacted:text]", greedy.cut("red").count)


def test_half_pairs_become_replacement_characters() -> None:
    assert encodable("a\ud800b") == "a\ufffdb"
    assert encodable("aé") == "aé"


def test_scanners_of_the_same_patterns_share_what_takes_long_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[Matcher] = []

    class Counted(Matcher):
        def __init__(self, patterns: Sequence[str]) -> None:
            super().__init__(patterns)
            compiled.append(self)

    monkeypatch.setattr(scanner, "Matcher", Counted)
    for _ in range(2):
        assert Scanner([literal("shared-by-two")]).cut("shared-by-two").count == 1
    assert Scanner([literal("of-another")]).cut("shared-by-two").count == 0
    assert len(compiled) == 2

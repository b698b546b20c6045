"""Words of names."""

import pytest

from gateway.contracts import draft_words
from gateway.contracts.draft_words import is_plain, own_words, stem, words


def test_a_name_is_split_into_words() -> None:
    assert words("getHTTPUser_v2-now") == ["get", "http", "user", "v", "2", "now"]


@pytest.mark.parametrize(
    ("name", "server", "own"),
    [
        ("git_status", "git", ["status"]),
        ("API-get-user", "notion", ["get", "user"]),
        ("my_crm_find", "my-crm", ["find"]),
        ("fetch", "fetch", ["fetch"]),
        ("delete_user", "delete", ["delete", "user"]),
        ("git", "git", ["git"]),
    ],
)
def test_what_only_says_whose_tool_it_is_does_not_count(
    name: str, server: str, own: list[str]
) -> None:
    assert own_words(name, server) == own


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("Deletes", "delete"),
        ("applies", "apply"),
        ("pushes", "push"),
        ("Fetches", "fetch"),
        ("process", "process"),
        ("get", "get"),
    ],
)
def test_a_verb_is_known_in_the_third_person_too(word: str, plain: str) -> None:
    assert stem(word) == plain


def test_a_name_with_letters_that_look_like_others_is_not_plain() -> None:
    assert is_plain("get_user-2.v1")
    assert not is_plain("get_usеr")  # one letter is Cyrillic


def test_no_word_is_of_two_minds() -> None:
    reading = draft_words.READS | draft_words.READS_PERHAPS
    deeds = draft_words.CHANGES | draft_words.CHANGES_PERHAPS | draft_words.DESTROYS
    assert not reading & deeds
    assert not draft_words.CHANGES & draft_words.DESTROYS

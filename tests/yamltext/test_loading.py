"""The strict loader."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway import yamltext
from gateway.errors import FileError


def test_a_map_becomes_json_with_text_keys() -> None:
    text = "a: no\n1: {x: [1, 2.5, null]}\nnull: 'true'\nblock: |\n  one\n  two\n"
    assert yamltext.load(text, file="f").value == {
        "a": "no",
        "1": {"x": [1, 2.5, None]},
        "null": "true",
        "block": "one\ntwo\n",
    }


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1", "duplicate key `a`; it stands in line 1 already"),
        ("a: &x 1\n", "1:4", "anchor `&x`"),
        ("a: *x\n", "1:4", "alias `*x`"),
        ("*x : 1\n", "1:1", "alias `*x`"),
        ("a: !!str 1\n", "1:4", "tag `tag:yaml.org,2002:str`"),
        ("a: !env X\n", "1:4", "tag `!env`"),
        ("!x a: 1\n", "1:1", "tag `!x`"),
        ("a: {<<: {b: 1}}\n", "1:5", "merge key `<<`"),
        ("a:\n\t- 1\n", "2:1", "tab for indentation"),
        ("- 1\n", "1:1", "a map of keys is expected at the top; write `key: value`"),
        ("just words\n", "1:1", "a map of keys is expected at the top; write `key: value`"),
        ("", "1:1", "nothing in it"),
        ("# only a comment\n", "1:1", "nothing in it"),
        ("a: 1\n---\nb: 2\n", "2:1", "a second document"),
        ("%YAML 1.1\n---\na: 1\n", "1:1", "directives are not read"),
        ("? [a]\n: 1\n", "1:3", "a key has to be a text"),
        ("a: 0644\n", "1:4", 'leading zero; write `"0644"` or `644`'),
        ("a: [1,\n", "2:1", "not YAML"),
        ("a: b: c\n", "1:5", "quote the text"),
        ("a: 'x\n", "2:1", "not YAML"),
        ("a: 1\n  b: 2\n", "2:4", "not YAML"),
        ("a:\n  b: 1\n c: 2\n", "3:2", "look at its indentation"),
        ("a: \x01\n", "1:1", "not YAML"),
        ("a: " + "[" * 90 + "]" * 90, "1:84", "nested deeper than 80 levels"),
        ("a: " + "x" * (4 << 20), "1:1", "more than 4194304 characters"),
    ],
)
def test_what_surprises_is_refused_with_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(FileError) as refused:
        yamltext.load(text, file="f.yaml")
    assert str(refused.value).startswith(f"f.yaml:{place}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_quoted_merge_sign_is_a_key_like_any_other() -> None:
    assert yamltext.load('"<<": 1\n', file="f").value == {"<<": 1}


def test_an_explicit_start_of_the_only_document_is_fine() -> None:
    assert yamltext.load("---\na: 1\n...\n", file="f").value == {"a": 1}


@given(st.text(max_size=200))
def test_any_text_gives_a_map_or_a_file_error(text: str) -> None:
    try:
        value = yamltext.load(text, file="f").value
    except FileError as error:
        value = {"line": error.line}
    assert isinstance(value, dict)


words = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)


@given(st.dictionaries(words, words | st.integers() | st.booleans() | st.none(), min_size=1))
def test_quoted_texts_come_back_as_they_are(value: dict[str, object]) -> None:
    text = yaml.safe_dump(value, default_style='"', width=10_000)
    text = text.replace('!!int "', '"').replace('!!bool "', '"').replace('!!null "', '"')
    assert {str(key) for key in value} == set(yamltext.load(text, file="f").value)

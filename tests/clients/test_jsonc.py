"""JSON as clients read it, with the place of everything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.clients.jsonc import parse
from gateway.errors import FileError
from gateway.types.json import Json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(codec="utf-8"))
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: round(x, 3)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)
FAULTS = {
    "": "f:1:1: ends where a value is expected",
    "{": 'f:1:2: a text in `"` is expected here',
    '{"a" 1}': "f:1:6: `:` is expected here",
    '{"a": 1 "b": 2}': "f:1:9: `,` or `}` is expected here",
    '{"a": 1,\n "a": 2}': "f:2:2: duplicate key `a`; it stands in line 1 already",
    '{"a": [1 2]}': "f:1:10: `,` or `]` is expected here",
    '{"a": tru}': "f:1:7: not JSON: ",
    "{\"a\": 'x'}": "f:1:7: not JSON: ",
    '{"a": NaN}': "f:1:7: not JSON: ",
    '{"a": "\\ud800"}': "f:1:7: not JSON: ",
    '{"a": /x}': "f:1:7: a value is expected here",
    "{} x": "f:1:4: more follows after the end of the JSON",
    "{} /* x": "f:1:4: more follows after the end of the JSON",
    "[" * 500: "f:1:66: nested deeper than 64 levels",
    '{"a":' * 500: "nested deeper than 64 levels",
    "not json at all": "f:1:1: not JSON: ",
    "servers:\n  a: 1": "f:1:1: not JSON: ",
}


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_wrong_is_told_with_its_place(text: str) -> None:
    with pytest.raises(FileError) as caught:
        parse(text, "f")
    assert FAULTS[text] in str(caught.value)


def test_comments_and_trailing_commas_are_blanks() -> None:
    text = '\ufeff// a\n{ /* b */ "a" /**/ : [1, /* ] */ 2,], // "c": 3\n "d": "// no * /*",\n}\n'
    node = parse(text, "f")
    assert node.value == {"a": [1, 2], "d": "// no * /*"}
    (first, second) = node.members
    assert text[first.start : first.node.end] == '"a" /**/ : [1, /* ] */ 2,]'
    assert text[second.start : second.node.end] == '"d": "// no * /*"'


@given(VALUES)
def test_what_json_writes_is_read_as_the_same(value: Json) -> None:
    assert parse(json.dumps(value, indent=1), "f").value == value

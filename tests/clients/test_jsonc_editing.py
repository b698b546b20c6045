"""Members that are taken out of a text, and one put in, with everything else left as it is."""

import pytest

from gateway.clients.jsonc import parse
from gateway.clients.jsonc_editing import replaced
from gateway.types.json import JsonObject

NEW: JsonObject = {"command": "w", "args": ["x"]}


def edited(text: str, *gone: str) -> str:
    made = replaced(text, parse(text, "f"), set(gone), "w", NEW)
    before, after = parse(text, "f").value, parse(made, "f").value
    assert isinstance(before, dict)
    assert after == {"w": NEW} | {key: each for key, each in before.items() if key not in gone}
    return made


BODY = '{"command": "w", "args": ["x"]}'
ONE_LINE = {
    ('{"a":1,"b":2,"c":3}', "a"): '{"w": %s,"b":2,"c":3}',
    ('{"a":1,"b":2,"c":3}', "b"): '{"a":1,"w": %s,"c":3}',
    ('{"a":1,"b":2,"c":3}', "c"): '{"a":1,"b":2,"w": %s}',
    ('{"a":1,"b":2,"c":3}', "ab"): '{"w": %s,"c":3}',
    ('{"a":1,"b":2,"c":3}', "bc"): '{"a":1,"w": %s}',
    ('{"a":1, "b":2, "c":3}', "ac"): '{"w": %s, "b":2 }',
    ('{"a":1, "b":2, "c":3,}', "ac"): '{"w": %s, "b":2, }',
    ('{"a":1,"b":2,"c":3}', "abc"): '{"w": %s}',
}


@pytest.mark.parametrize("case", ONE_LINE)
def test_one_line_stays_one_line(case: tuple[str, str]) -> None:
    text, gone = case
    assert edited(text, *gone) == ONE_LINE[case] % BODY


def test_lines_comments_and_indentation_stay() -> None:
    text = """{
\t// first
\t"a": {"x": 1}, // about a
\t/* about b */
\t"b": {
\t\t"y": 2 // inside
\t}, // after b
\t"c": 3
}
"""
    assert (
        edited(text, "a", "b")
        == """{
\t// first
\t"w": {
\t\t"command": "w",
\t\t"args": [
\t\t\t"x"
\t\t]
\t}, // about a
\t/* about b */
\t// after b
\t"c": 3
}
"""
    )


def test_line_ends_are_those_of_the_file() -> None:
    made = edited('{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n', "a", "b")
    lines = [
        "{",
        '  "w": {',
        '    "command": "w",',
        '    "args": [',
        '      "x"',
        "    ]",
        "  }",
        "}",
    ]
    assert made == "".join(f"{line}\r\n" for line in lines)


def test_the_last_one_goes_with_its_line_and_the_comma_before_it() -> None:
    made = edited('{\n  "a": 1,\n  "b": 2, // kept\n  "c": 3\n}', "a", "c")
    assert made.endswith('  "b": 2 // kept\n}')


def test_a_comma_behind_a_comment_goes_too() -> None:
    assert edited('{"a": 1, "b": 2 /* b */ , "c": 3}', "a", "b") == (
        '{"w": %s, /* b */  "c": 3}' % BODY  # noqa: UP031 - the text has braces of its own
    )

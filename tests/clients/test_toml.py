"""Tables of TOML that are taken out of a text, and one put in."""

import pytest

from gateway.clients.texts import line_end
from gateway.clients.toml import cut, parse, replaced, statements, table
from gateway.errors import FileError
from gateway.types.json import JsonObject

NEW: JsonObject = {
    "command": "/bin/w",
    "args": ["stdio", 'a "b" \\ ř'],
    "env_vars": ["A"],
    "startup_timeout_sec": 60,
}
TABLE = """[mcp_servers.weighbridge]
command = "/bin/w"
args = ["stdio", "a \\"b\\" \\\\ ř"]
env_vars = ["A"]
startup_timeout_sec = 60
"""
CODEX = '''# my settings
model = "o5" # the good one

[mcp_servers.docs] # about docs
command = "npx"
# inside
args = [
  "-y", # yes
  "[mcp_servers.fake]",
]

[mcp_servers.docs.env]
TEXT = """
[mcp_servers.alsofake]
"""

# the one that stays
[mcp_servers.off]
enabled = false
command = "x"

[profiles.fast]
model = "o5-mini"

[mcp_servers."my server"]
url = 'https://example.com'
'''


def edited(text: str, *gone: str) -> str:
    new = table("mcp_servers", "weighbridge", NEW, line_end(text))
    made = replaced(text, "mcp_servers", set(gone), new)
    assert made is not None
    before, after = parse(text, "f"), parse(made, "f")
    servers = before["mcp_servers"]
    assert isinstance(servers, dict)
    kept = {key: each for key, each in servers.items() if key not in gone}
    assert after == {**before, "mcp_servers": {**kept, "weighbridge": NEW}}
    return made


def test_tables_go_with_all_below_them_and_comments_of_others_stay() -> None:
    made = edited(CODEX, "docs", "my server")
    assert (
        made
        == CODEX[: CODEX.index("[mcp_servers.docs]")]
        + TABLE
        + CODEX[CODEX.index("\n# the one that stays") : CODEX.index('[mcp_servers."my server"]')]
    )


def test_line_ends_and_byte_order_mark_stay() -> None:
    text = "\ufeff" + CODEX.replace("\n", "\r\n")
    made = edited(text, "docs", "my server")
    assert made.startswith("\ufeff# my settings\r\n")
    assert made.count("\n") == made.count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers]\na = { command = 'x' }\nb.command = 'y'\n\n[other]\nk = 1",
        "mcp_servers.a.command = 'x'\nmcp_servers.b.url = 'y'\n\n[other]\nk = 1",
        "[mcp_servers.a]\ncommand = '''\n[x]\n'''\n[other]\nk = 1\n[mcp_servers.b]",
        '[ mcp_servers . "a" ]\n[other]\nk = [\n [1],\n]\n  [mcp_servers.b]\n  url = "#"',
        '[mcp_servers.a]\nx = """a\\"""b""""\n["mcp_servers".\'b\']\ny = 1979-05-27\n',
    ],
)
def test_however_servers_are_written(text: str) -> None:
    edited(text, "a", "b")
    edited(text, "b")


def test_what_cannot_be_cut_is_not_tried() -> None:
    text = "mcp_servers = { a = { command = 'x' } }\n"
    assert replaced(text, "mcp_servers", {"a"}, TABLE) is None


def test_what_is_cut_is_what_stood_there() -> None:
    text = "[mcp_servers.a]\nx = 1\n\n# b\n[mcp_servers.b]\ny = 2\n[mcp_servers.a.env]\n"
    assert cut(text, "mcp_servers", {"a"}) == "[mcp_servers.a]\nx = 1\n[mcp_servers.a.env]\n"


def test_statements_are_all_of_a_text() -> None:
    text = CODEX + "last = [1,\n2] # no end"
    assert "".join(text[each.start : each.end] for each in statements(text)) == text


FAULTS = {
    "a = 1\na = 2": "f: not TOML: cannot overwrite a value",
    "a = 1\na = 2\n": "f:2:6: not TOML: cannot overwrite a value",
    "[a]\n[a]": "f:2:3: not TOML: cannot declare",
    "{": "f:1:1: not TOML: invalid statement",
    "a = " + "[" * 500: "f:1:69: nested deeper than 64 levels",
}


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_wrong_is_told_with_its_place(text: str) -> None:
    with pytest.raises(FileError) as caught:
        parse(text, "f")
    assert str(caught.value).startswith(FAULTS[text])

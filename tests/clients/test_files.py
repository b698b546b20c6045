"""Whole files: read for their client, and switched without a letter more than has to change."""

import json
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.clients import jsonc
from gateway.clients.files import ClientFile, put_back, read, switched
from gateway.clients.kinds import CODEX, CURSOR, VS_CODE
from gateway.errors import FileError
from gateway.types.json import JsonObject

ENTRY: JsonObject = {"command": "/bin/w", "args": ["stdio"]}


def file(text: str | bytes, name: str = ".mcp.json") -> ClientFile:
    return read(text if isinstance(text, bytes) else text.encode(), PurePath(name))


def test_content_tells_where_a_name_does_not() -> None:
    assert file('{"servers": {"a": {}}}', "x.json").client is VS_CODE
    assert file('{"mcpServers": {"a": {}}}', "x.json").client.id == "claude-code"
    assert file("[mcp_servers.a]\n", "x.toml").client is CODEX
    assert read(b'{"mcpServers": {}}', PurePath("x.json"), CURSOR).client is CURSOR


def test_a_file_without_servers_has_none() -> None:
    assert file("{}").servers == {}
    assert file("x = 1", "config.toml").servers == {}


FAULTS = [
    ("", ".mcp.json", "nothing in it"),
    ("\ufeff \n", ".mcp.json", "nothing in it"),
    ("[]", ".mcp.json", "no JSON object at the top; is it a client's file?"),
    ('{"mcpServers": []}', ".mcp.json", "`mcpServers` is no map of servers"),
    ("mcp_servers = 1", "config.toml", "`mcp_servers` is no map of servers"),
    ('{"mcpServers": {"a": {}, "a": {}}}', ".mcp.json", "duplicate key `a`"),
    (b"\xff\x00", ".mcp.json", "not UTF-8"),
    (b" " * (10 << 20), ".mcp.json", "larger than 4096 KiB"),
]


@pytest.mark.parametrize(("text", "name", "said"), FAULTS)
def test_a_file_that_is_none_is_told(text: str | bytes, name: str, said: str) -> None:
    with pytest.raises(FileError, match=said.replace("`", ".")):
        file(text, name)


def test_what_cannot_be_edited_is_told_before_anything_is_done() -> None:
    found = file("mcp_servers = {a = {command = 'x'}}\n", "config.toml")
    with pytest.raises(FileError, match=r"write each as .\[mcp_servers.NAME\]"):
        switched(found, {"a"}, "weighbridge", ENTRY)


CODEX_FILE = """[mcp_servers.a] # a
command = "x"

[mcp_servers.off]
enabled = false
"""


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ('{\n  "mcpServers": {\n    "a": {"x": 1.50}, // c\n    "b": 2\n  }\n}', ".mcp.json"),
        ('{"mcpServers":{"a":1,"b":2}}', ".mcp.json"),
        (CODEX_FILE, "config.toml"),
    ],
)
def test_servers_are_put_back_into_a_file_that_was_changed_meanwhile(
    before: str, name: str
) -> None:
    old = file(before, name)
    gone = {"a", "b"} & old.servers.keys()
    now = switched(old, gone, "weighbridge", ENTRY)
    is_toml = name.endswith("toml")
    changed = f"{now}\n[other]\nx = 1\n" if is_toml else now.replace("{", '{"other": 1, ', 1)
    made = put_back(file(changed, name), old, "weighbridge")
    assert made is not None
    assert file(made, name).servers == old.servers
    assert "other" in made
    assert put_back(file(before, name), old, "weighbridge") is None


BLANK = st.sampled_from(["", " ", "\n", "\r\n  ", "\t", " // c\n", '/* {"a": 1} */', "\n\n"])
NAME = st.text(st.characters(codec="utf-8"), max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, set[str]]:
    """A file with servers in any layout, and those of them that go."""
    names = draw(st.lists(NAME, min_size=1, max_size=5, unique=True))
    gone = draw(st.sets(st.sampled_from(names), min_size=1))
    members = [
        f"{json.dumps(name)}{draw(BLANK)}:{draw(BLANK)}"
        + draw(st.sampled_from(['{"command": "x"}', '{\n "a": [1, 2]\n}', '"}"', "1", "[]"]))
        for name in names
    ]
    end = draw(st.sampled_from(["", ","]))
    inner = f"{draw(BLANK)},{draw(BLANK)}".join(members)
    section = f"{{{draw(BLANK)}{inner}{draw(BLANK)}{end}{draw(BLANK)}}}"
    before = draw(st.sampled_from(["", '"other": [1.50, "ř"],', '"x": {"mcpServers": {}},']))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    whole = f'{bom}{draw(BLANK)}{{{before}{draw(BLANK)}"mcpServers":{section}{draw(BLANK)}}}'
    return whole + draw(BLANK), gone


@given(documents())
def test_whatever_the_layout_only_the_servers_change(made: tuple[str, set[str]]) -> None:
    text, gone = made
    found = file(text)
    name = next(each for each in ("w", "w2", "w3", "w4", "w5", "w6") if each not in found.servers)
    after = switched(found, gone, name, ENTRY)  # which checks the value itself
    assert found.node is not None
    assert after.startswith(text[: found.node.start])
    assert after.endswith(text[found.node.end :])
    section = file(after).node
    assert section is not None
    # Comments around members are all still there, in their order.
    inside = text[found.node.start : found.node.end]
    kept = after[section.start : section.end]
    assert kept.count(" // c\n") >= 0
    assert inside.count("/*") >= kept.count("/*") >= _around(found)


def _around(found: ClientFile) -> int:
    """Count the comments that stand beside members, not inside of what goes."""
    assert found.node is not None
    count, at = 0, found.node.start + 1
    for member in found.node.members:
        count += found.text[at : member.start].count("/*")
        at = member.node.end
    return count + found.text[at : found.node.end].count("/*")


def test_the_section_is_where_it_says() -> None:
    text = '{"mcpServers": {"a": 1}}'
    node = jsonc.parse(text, "f").members[0].node
    assert text[node.start : node.end] == '{"a": 1}'

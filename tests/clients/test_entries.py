"""Entries of clients: what the gateway can run, and why it leaves the others."""

import pytest

from gateway.clients.entries import Entry, Left, is_ours, read
from gateway.clients.kinds import CLAUDE_CODE, CODEX
from gateway.types.json import Json, JsonObject


def taken(given: JsonObject, *, codex: bool = False) -> Entry:
    found = read("a", given, CODEX if codex else CLAUDE_CODE)
    assert isinstance(found, Entry), found
    return found


def test_a_command_with_everything() -> None:
    given: JsonObject = {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", 1, True],
        "env": {"A": "x", "B": 2, "C": None},
        "cwd": "/srv",
        "alwaysAllow": [],
    }
    found = taken(given)
    assert (found.command, found.args, found.cwd) == ("npx", ("-y", "1", "true"), "/srv")
    assert found.env == {"A": "x", "B": "2"}
    assert found.ignored == ("alwaysAllow",)


def test_a_url_without_headers_of_the_connection_itself() -> None:
    given: JsonObject = {
        "type": "http",
        "url": "https://h/mcp",
        "headers": {"Authorization": "Bearer x", "Content-Type": "application/json"},
    }
    found = taken(given)
    assert found.headers == {"Authorization": "Bearer x"}
    assert found.ignored == ("Content-Type",)


def test_codex_names_what_it_takes_from_its_environment() -> None:
    given: JsonObject = {
        "command": "x",
        "env_vars": ["A", {"name": "B", "source": "local"}],
        "startup_timeout_sec": 20,
        "tool_timeout_sec": 0.5,
    }
    found = taken(given, codex=True)
    assert (found.variables, found.start_timeout_s, found.timeout_s) == (("A", "B"), 20, 0.5)
    remote: JsonObject = {
        "url": "https://h",
        "bearer_token_env_var": "T",
        "http_headers": {"X": "1"},
        "env_http_headers": {"Y": "V"},
    }
    found = taken(remote, codex=True)
    assert (found.bearer_variable, found.headers) == ("T", {"X": "1"})
    assert (found.header_variables, found.ignored) == ({"Y": "V"}, ())


LEFT: list[tuple[Json, str]] = [
    ({"command": "x", "disabled": True}, "is switched off"),
    ({"command": "x", "enabled": False}, "is switched off"),
    ({"type": "sse", "url": "https://h"}, "speaks SSE"),
    ({"url": "https://h/sse"}, "speaks SSE"),
    ({"type": "ws", "url": "ws://h"}, "has `type: ws`"),
    ({"url": "ftp://h"}, "none of `http://`"),
    ({"type": "http", "command": "x"}, "contradicts"),
    ({"command": "x", "url": "https://h"}, "has `command` and `url`"),
    ({}, "has no `command` and no `url`"),
    ("x", "is no map of keys"),
    (None, "is no map of keys"),
    ({"command": ["x"]}, "has a `command` that is no text"),
    ({"command": "x\0"}, "has a `command` that is no text"),
    ({"command": "x", "args": "y"}, "has `args` that are no list"),
    ({"command": "x", "args": [{}]}, "something else than texts"),
    ({"command": "x", "env": []}, "no map of keys"),
    ({"command": "x", "env": {"A-B": "1"}}, "no name of a variable"),
    ({"command": "x", "envFile": ".env"}, "move its values into `env`"),
    ({"url": "https://h", "oauth": {"clientId": "x"}}, "logs in by OAuth"),
    ({"url": "https://h", "headersHelper": "x"}, "a program of the client's"),
]


@pytest.mark.parametrize(("given", "why"), LEFT)
def test_what_cannot_stand_behind_a_gateway_is_left_with_the_reason(given: Json, why: str) -> None:
    found = read("a", given, CLAUDE_CODE)
    assert isinstance(found, Left)
    assert why in found.reason


@pytest.mark.parametrize(
    ("name", "given", "ours"),
    [
        ("x", {"command": "/v/bin/weighbridge", "args": ["stdio", "-c", "c"]}, True),
        ("x", {"command": "python", "args": ["-m", "gateway", "stdio"]}, True),
        ("x", {"command": "uvx", "args": ["weighbridge", "stdio"]}, True),
        ("weighbridge", {"url": "http://127.0.0.1:8700/mcp"}, True),
        ("x", {"url": "http://127.0.0.1:8700/mcp"}, False),
        ("weighbridge", {"command": "other", "args": []}, False),
        ("x", [], False),
    ],
)
def test_a_gateway_of_ours_is_recognised(name: str, given: Json, ours: bool) -> None:
    assert is_ours(name, given) is ours

import pytest
from pydantic import ValidationError

from gateway.config.servers import ServerSettings


def test_an_entry_of_an_agent_client_can_be_pasted() -> None:
    started = ServerSettings.model_validate(
        {"type": "stdio", "command": "npx", "args": ["-y", "pkg"], "env": {"K": "v"}, "cwd": "/srv"}
    )
    assert started.args == ("-y", "pkg")
    for kind in ("http", "streamable-http"):
        entry = {"type": kind, "url": "https://h/mcp", "headers": {"Authorization": "Bearer x"}}
        assert ServerSettings.model_validate(entry).command is None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "needs `command` or `url`"),
        ({"command": "x", "url": "https://h"}, "one of them is enough"),
        ({"command": "x", "headers": {}}, "has `headers`, which means nothing beside `command`"),
        ({"url": "https://h", "env": {}}, "has `env`, which means nothing beside `url`"),
        ({"url": "https://h", "type": "stdio"}, "contradicts `url`"),
        ({"command": "x", "type": "http"}, "contradicts `command`"),
        ({"url": "https://h", "type": "sse"}, "withdrawn transport"),
        ({"url": "ftp://h"}, "is not a URL"),
        ({"url": "https://u:p@h"}, "holds credentials"),
        ({"url": "https://h/#x"}, "#fragment"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x", "env": {"A=B": "c"}}, "environment variable"),
        ({"url": "https://h", "headers": {"A\nB": "c"}}, "not a header"),
        ({"url": "https://h", "headers": {"A": "b\r\nX: y"}}, "can't carry"),
        ({"url": "https://h", "headers": {"A": "Bearer "}}, "blanks at its ends"),
        ({"url": "https://h", "headers": {"A": "b", "a": "c"}}, "twice"),
        ({"url": "https://h", "headers": {"Host": "x"}}, "the gateway sets itself"),
        ({"command": "x", "max_calls": 0}, "greater than or equal to 1"),
        ({"command": "x", "max_lanes": 0}, "greater than or equal to 1"),
        ({"command": "x", "max_lanes": 1_001}, "less than or equal to 1000"),
        ({"command": "x", "lane_idle": "500ms"}, "greater than or equal to 1"),
        ({"command": "x", "restart": {"first": "2m", "longest": "1m"}}, "shorter than `first`"),
        ({"command": "x", "misconfigured": "no"}, "Extra inputs are not permitted"),
    ],
)
def test_an_entry_that_means_two_things_or_nothing_is_refused(
    entry: dict[str, object], said: str
) -> None:
    """case: CFG-01"""
    with pytest.raises(ValidationError) as caught:
        ServerSettings.model_validate(entry)
    assert said in str(caught.value)


def test_a_misconfigured_entry_holds_nothing_that_could_be_sent() -> None:
    """case: CFG-03"""
    entry = ServerSettings.model_validate({"command": "x", "args": ["a"], "env": {"K": "v"}})
    marked = entry.without_values("K is not set")
    assert (marked.misconfigured, marked.args, marked.env) == ("K is not set", (), {})
    assert entry.misconfigured == ""

from gateway.config import misconfigured
from gateway.config.expand import Missing
from gateway.config.settings import Settings
from gateway.types.json import JsonObject


def missing(*path: str | int, reason: str = "V is not set") -> Missing:
    return Missing(path=path, reason=reason)


def test_only_places_inside_an_entry_belong_to_a_server() -> None:
    """case: CFG-03"""
    assert misconfigured.server_of(("servers", "a", "env", "K")) == "a"
    for path in ((), ("store",), ("servers", "a"), ("identity", "api_keys", 0, "hash")):
        assert misconfigured.server_of(path) is None


def test_gaps_are_filled_with_what_is_valid_and_leads_nowhere() -> None:
    """case: CFG-03"""
    value: JsonObject = {
        "servers": {
            "a": {"url": "", "headers": {"A": "Bearer ", "B": "b"}, "timeout": ""},
            "b": {"command": "", "args": ["x", ""], "tls": {"ca": ""}},
        }
    }
    gaps = [
        missing("servers", "a", "url"),
        missing("servers", "a", "headers", "A"),
        missing("servers", "a", "timeout"),
        missing("servers", "b", "command"),
        missing("servers", "b", "args", 1),
        missing("servers", "b", "tls", "ca"),
        missing("servers", "b", "gone", "x"),
        missing("servers", "b", "args", 0, "deeper"),
    ]
    assert misconfigured.stand_in(value, misconfigured.by_server(gaps)) == {
        "servers": {
            "a": {"url": "https://misconfigured.invalid/", "headers": {"B": "b"}},
            "b": {"command": "misconfigured", "args": ["x", "misconfigured"], "tls": {}},
        }
    }


def test_each_reason_is_told_once() -> None:
    settings = Settings.model_validate({"servers": {"a": {"command": "x"}, "b": {"command": "y"}}})
    gaps = [missing("servers", "a", "env", "K"), missing("servers", "a", "args", 0)]
    marked = misconfigured.mark(settings, misconfigured.by_server(gaps))
    assert marked.servers["a"].misconfigured == "V is not set"
    assert marked.servers["b"].misconfigured == ""

import pytest

from gateway.config.foreign import find, without
from gateway.types.json import JsonObject


@pytest.mark.parametrize(
    "key",
    ["passthrough", "pass_through_headers", "forward_headers", "forwardAuth", "propagate_token"],
)
def test_a_setting_that_would_pass_credentials_on_is_answered_with_the_reason(key: str) -> None:
    """case: AUT-04"""
    (top,) = find({key: True})
    (entry,) = find({"servers": {"a": {key: True}}})
    assert "a caller's credential is never passed on" in top.message
    assert (entry.path, entry.message) == (("servers", "a", key), top.message)


def test_foreign_keys_are_taken_out_and_the_rest_stays() -> None:
    value: JsonObject = {
        "auth": {},
        "runs": {},
        "servers": {"a": {"enabled": True, "command": "x"}},
    }
    keys = list(find(value))
    assert [key.path for key in keys] == [("auth",), ("servers", "a", "enabled")]
    assert without(value, keys) == {"runs": {}, "servers": {"a": {"command": "x"}}}


def test_what_is_no_map_has_no_foreign_keys() -> None:
    assert list(find({"servers": ["auth"], "runs": "auth"})) == []
    assert list(find({"servers": {"a": "auth", "b": None}})) == []

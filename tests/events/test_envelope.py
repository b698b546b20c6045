import pytest

from gateway import jsontext
from gateway.events.envelope import MAX_EVENT, Origin, capped, size, timestamp, to_bytes
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from tests.helpers.cases import NOW, an_actor

ORIGIN = Origin(instance="gw-1", version="1.0.0")


def an_event(body: JsonObject | None = None, call: str = "") -> Event:
    return Event(
        id="01J",
        at=NOW,
        kind=EventKind.ADMIN,
        stage=Stage.RECORDED,
        body={"tool": "crm.find"} if body is None else body,
        actor=an_actor(roles=frozenset({"b", "a"})),
        tenant="acme",
        call=call,
    )


def written(event: Event) -> JsonObject:
    value = jsontext.parse(to_bytes(event, ORIGIN))
    assert isinstance(value, dict)
    return value


def test_an_event_is_written_with_its_envelope_and_without_empty_fields() -> None:
    assert written(an_event(call="call_1")) == {
        "v": 1,
        "id": "01J",
        "ts": "2026-11-30T09:00:00.000000Z",
        "kind": "admin",
        "stage": "recorded",
        "tenant": "acme",
        "call": "call_1",
        "actor": {
            "user": "sam",
            "client": "test",
            "auth_method": "api_key",
            "issuer": "keys",
            "roles": ["a", "b"],
            "scopes": ["crm:read"],
        },
        "gateway": {"instance": "gw-1", "version": "1.0.0"},
        "body": {"tool": "crm.find"},
    }


def test_equal_events_are_equal_bytes() -> None:
    assert to_bytes(an_event(), ORIGIN) == to_bytes(an_event(), ORIGIN)


def test_a_value_beyond_16_kib_becomes_digest_size_and_head() -> None:
    assert capped({"a": "x" * 16_000}) == {"a": "x" * 16_000}
    cut = capped({"a": "x" * 20_000})
    assert isinstance(cut, dict)
    note = cut["$cut"]
    assert isinstance(note, dict)
    assert note["bytes"] == 20_008
    assert str(note["digest"]).startswith("sha256:")
    assert note["head"] == '{"a":"' + "x" * 994


def test_an_event_that_is_too_large_keeps_what_it_is_found_by() -> None:
    event = an_event({"tool": "crm.find", "status": "ok", "blob": "x" * MAX_EVENT})
    assert len(to_bytes(event, ORIGIN)) < 4_000
    body = written(event)["body"]
    assert isinstance(body, dict)
    assert body["tool"] == "crm.find"
    assert "$cut" in body


@pytest.mark.parametrize("value", ["a\ud800", float("nan"), float("inf")])
def test_what_is_not_json_does_not_keep_an_event_out_of_the_log(value: Json) -> None:
    assert written(an_event({"a": [value, {"k\udc00": True}]}))


def test_times_are_written_in_utc_with_microseconds() -> None:
    assert timestamp(NOW) == "2026-11-30T09:00:00.000000Z"


def test_a_smaller_limit_cuts_what_has_more_bytes() -> None:
    text = "é" * 10
    assert size(text) == 22
    assert capped(text, 22) == text
    cut = capped(text, 21)
    assert isinstance(cut, dict)
    assert cut.keys() == {"$cut"}


def test_an_event_that_is_too_large_still_tells_of_its_sealed_copy() -> None:
    sealed: JsonObject = {"key": "k1", "digest": "sha256:d", "bytes": 3}
    body = written(an_event({"sealed": sealed, "blob": "x" * MAX_EVENT}))["body"]
    assert isinstance(body, dict)
    assert body["sealed"] == sealed

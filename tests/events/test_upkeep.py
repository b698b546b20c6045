from gateway import jsontext
from gateway.events import admin, upkeep
from gateway.events.envelope import Origin, to_bytes
from gateway.types.events import Event
from gateway.types.json import JsonObject
from tests.events.test_schemas import faults
from tests.helpers.cases import NOW

BY = {"by": "ada", "account": "ada"}


def kept(event: Event) -> JsonObject:
    found = jsontext.parse_result(to_bytes(event, Origin(instance="i", version="1")))
    assert isinstance(found, dict)
    return found


def every_event() -> tuple[Event, ...]:
    """Return one of each kind about the log itself."""
    at, id = NOW, "e"
    return (
        upkeep.key_rotated(id=id, at=at, old="a", new="b", **BY),
        upkeep.archived(id=id, at=at, first=1, last=9, root="r", file="f", digest="d", **BY),
        upkeep.hold_set(id=id, at=at, tenant="acme", run="", reason="suit", **BY),
        upkeep.hold_lifted(id=id, at=at, tenant="", run="run_1", **BY),
        admin.log_read(id=id, at=at, how="export", account="ada", tenant="acme", events=7),
        admin.log_read(id=id, at=at, how="query", account="ada", asked={"since": "24h"}),
    )


def test_every_event_is_as_published() -> None:
    for event in every_event():
        assert faults(event.kind, kept(event)) == []


def test_only_the_event_of_an_archive_says_what_left() -> None:
    event = upkeep.archived(id="e", at=NOW, first=1, last=9, root="r", file="f", digest="d", **BY)
    assert upkeep.left(kept(event)) == upkeep.Left(last=9, root="r", digest="d")
    assert upkeep.left({**kept(event), "kind": "run"}) is None
    assert upkeep.left({**kept(event), "body": {"action": "log_archived", "last": "9"}}) is None


def test_only_the_event_of_a_rotation_names_a_key_that_takes_over() -> None:
    rotated = kept(upkeep.key_rotated(id="e", at=NOW, old="a", new="b", **BY))
    assert upkeep.new_key(rotated) == "b"
    assert upkeep.new_key({**rotated, "kind": "run"}) == ""
    assert upkeep.new_key({**rotated, "body": []}) == ""
    assert upkeep.new_key({**rotated, "body": {"action": "checkpoint_key_rotated", "to": 7}}) == ""
    assert upkeep.new_key(kept(admin.gateway_stopped(id="e", at=NOW, reason="r"))) == ""


def test_who_read_the_events_of_one_tenant_is_among_them() -> None:
    event = admin.log_read(
        id="e", at=NOW, how="query", account="ada", tenant="acme", asked={"run": "r" * 2_000}
    )
    assert (event.tenant, event.body["account"]) == ("acme", "ada")
    asked = event.body["asked"]
    assert isinstance(asked, dict)
    assert asked["run"] == "r" * 1_000

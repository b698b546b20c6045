from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.events import build, schemas
from gateway.events.envelope import Origin, to_bytes
from gateway.types.events import Event, EventKind
from gateway.types.json import Json, JsonObject
from tests.events import test_admin, test_approvals, test_build, test_logins, test_runs, test_turns
from tests.events.test_effects import an_effect
from tests.events.values import JSON
from tests.helpers.cases import NOW

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "events"
EVENTS = (
    *test_build.every_event(),
    *test_admin.every_event(),
    *test_approvals.every_event(),
    *test_logins.every_event(),
    *test_runs.every_event(),
    *test_turns.every_event(),
)


def stored(event: Event) -> JsonObject:
    value = jsontext.parse(to_bytes(event, Origin(instance="i", version="1")))
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_the_published_schema_is_what_the_code_says(kind: EventKind) -> None:
    assert (PUBLISHED / schemas.file_name(kind)).read_bytes() == schemas.render(kind)


def test_no_schema_is_published_for_what_is_never_written() -> None:
    assert {path.name for path in PUBLISHED.glob("*.json")} == {
        schemas.file_name(kind) for kind in schemas.KINDS
    }


@pytest.mark.parametrize("kind", schemas.KINDS)
def test_a_published_schema_is_one(kind: EventKind) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas.schema(kind))


def faults(kind: EventKind, event: Any) -> list[str]:
    """Ask another implementation than our own."""
    validator: Any = jsonschema.Draft202012Validator(schemas.schema(kind))
    return [str(error) for error in validator.iter_errors(event)]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_every_event_is_as_published(event: Event) -> None:
    assert faults(event.kind, stored(event)) == []
    assert faults(event.kind, {"seq": 1, **stored(event)}) == []


def test_every_kind_and_stage_that_is_published_is_made() -> None:
    published = {(kind, stage) for kind, stages in schemas.KINDS.items() for stage in stages}
    assert {(event.kind, event.stage) for event in EVENTS} == published


def test_an_event_with_a_field_too_much_or_too_few_is_refused() -> None:
    event = stored(test_admin.every_event()[0])
    assert faults(EventKind.ADMIN, event | {"more": 1})
    assert faults(EventKind.ADMIN, {key: event[key] for key in event if key != "ts"})
    assert faults(EventKind.ADMIN, event | {"body": {"action": "policy_activated"}})


@given(old=JSON, data=JSON, sent=st.dictionaries(st.sampled_from(["id", "a"]), JSON))
def test_every_side_effect_is_as_published(old: Json, data: Json, sent: JsonObject) -> None:
    effect = an_effect(data, old=old, arguments=sent)
    record = test_build.a_record()
    event = build.side_effect(record, test_build.REDACTOR, id="e", at=NOW, effect=effect)
    kept = jsontext.parse_result(to_bytes(event, Origin(instance="i", version="1")))
    assert faults(event.kind, kept) == []

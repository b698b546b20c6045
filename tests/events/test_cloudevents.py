"""Events as CloudEvents 1.0: what the specification asks of each attribute."""

import re
from datetime import datetime
from typing import Any

import jsonschema
import pytest
from cloudevents.core.formats.json import JSONFormat
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.events import cloudevents
from gateway.types.events import Event
from tests.events.test_schemas import EVENTS, stored
from tests.helpers.events import an_event

# Required and optional attributes of CloudEvents 1.0.2, its JSON format, and two extensions.
SCHEMA: Any = {
    "type": "object",
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1, "format": "uri-reference"},
        "type": {"type": "string", "minLength": 1},
        "datacontenttype": {"const": "application/json"},
        "dataschema": {"type": "string", "minLength": 1, "pattern": "^urn:"},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
        "sequence": {"type": "string", "minLength": 1},
        "traceparent": {"type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$"},
        "data": {"type": "object"},
    },
    "required": ["specversion", "id", "source", "type"],
    "additionalProperties": {"type": "string", "minLength": 1},
    "propertyNames": {"pattern": "^[a-z0-9]{1,20}$"},
}
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def told(event: Event, origin: str = "example.com/weighbridge") -> Any:
    return cloudevents.event({"seq": 9, **stored(event)}, origin)


def faults(made: Any) -> list[str]:
    validator: Any = jsonschema.Draft202012Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(made)]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_every_event_is_one(event: Event) -> None:
    made = told(event)
    assert faults(made) == []
    assert made["type"] == f"weighbridge.{event.kind}"
    assert made["dataschema"] == f"urn:weighbridge:events:{event.kind}.v1"
    assert made["data"] == {"seq": 9, **stored(event)}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_the_library_of_the_specification_reads_it(event: Event) -> None:
    made = told(event)
    read = JSONFormat().read(None, jsontext.dump(made))
    assert (read.get_specversion(), read.get_id()) == ("1.0", made["id"])
    assert (read.get_source(), read.get_type()) == (made["source"], made["type"])
    assert read.get_time() == datetime.fromisoformat(made["time"])
    assert read.get_data() == made["data"]
    rest = made.keys() - {"data", "time"}
    assert {name: read.get_attributes()[name] for name in rest} == {n: made[n] for n in rest}


def test_it_is_known_by_the_log_and_the_event() -> None:
    made = told(an_event(id="e1", trace_id="a" * 32, span_id="b" * 16))
    assert (made["source"], made["id"]) == ("example.com/weighbridge", "e1")
    assert (made["subject"], made["sequence"], made["tenant"]) == ("call_1", "9", "acme")
    assert made["traceparent"] == f"00-{'a' * 32}-{'b' * 16}-01"


def test_a_log_without_a_checkpoint_has_a_name_as_well() -> None:
    assert told(an_event(), "")["source"] == "urn:weighbridge:log"
    assert told(an_event(), "my log/ä")["source"] == "my%20log/%C3%A4"


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_attribute_has_a_character_that_none_may_have(tenant: str, call: str) -> None:
    made = told(an_event(tenant=tenant, call=call))
    assert faults(made) == []
    texts = [value for name, value in made.items() if name != "data"]
    assert not [text for text in texts if FORBIDDEN.search(text)]


def test_a_kind_of_a_later_version_is_told_as_well() -> None:
    made = cloudevents.event({"seq": 1, "id": "e", "kind": "tea"}, "")
    assert (made["type"], made["dataschema"]) == (
        "weighbridge.tea",
        "urn:weighbridge:events:tea.v1",
    )

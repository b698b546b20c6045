"""The tools for runs, as tools/list shows them."""

import jsonschema
import pytest

from gateway import jsontext
from gateway.contracts.schemas import compile_tool
from gateway.relay import run_definitions
from gateway.relay.run_definitions import ALL
from gateway.types.own import Own


@pytest.mark.parametrize("name", ALL)
def test_each_is_short_closed_and_can_be_enforced(name: Own) -> None:
    definition = ALL[name]
    assert definition["name"] == name
    assert len(jsontext.dump(definition)) < 1_000
    schema = definition["inputSchema"]
    assert isinstance(schema, dict)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert compile_tool(definition).input.source == schema


def test_only_looking_is_marked_as_reading() -> None:
    hints = {name: each["annotations"] for name, each in ALL.items()}
    reads = [
        name
        for name, each in hints.items()
        if isinstance(each, dict) and each["readOnlyHint"] is True
    ]
    assert reads == [Own.RUN_STATUS]


def test_how_a_run_begins_names_the_templates_there_are() -> None:
    shown = jsontext.dump(run_definitions.start("`refund`")).decode()
    assert "the kind of work: `refund`" in shown
    assert run_definitions.start("") == ALL[Own.RUN_START]
    assert "`refund`" not in jsontext.dump(ALL[Own.RUN_START]).decode()

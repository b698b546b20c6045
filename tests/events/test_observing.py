"""What events tell of calls that passed because decisions were only recorded."""

from datetime import datetime

import jsonschema
import pytest

from gateway.events import bodies, observing
from gateway.types.decisions import Mode
from gateway.types.json import JsonObject
from gateway.types.observed import Observed, Would
from tests.helpers.cases import NOW

EVERYTHING = Observed(
    would=Would.DENY, status="denied", code="c", rule="r", reason="why", op_id="op_1"
)


@pytest.mark.parametrize("observed", [EVERYTHING, Observed(would=Would.PASS)])
def test_what_is_told_has_its_published_form(observed: Observed) -> None:
    told = observing.described(observed, text=str.upper)["observed"]
    jsonschema.validate(told, observing.SCHEMA)
    assert told == {"would": "pass"} or told == {
        "would": "deny",
        "status": "denied",
        "code": "c",
        "rule": "r",
        "reason": "WHY",
        "op": "op_1",
    }


def test_where_decisions_are_enforced_nothing_is_told() -> None:
    assert observing.described(None, text=str) == {}


def test_the_mode_and_the_sums_of_a_day_are_actions_of_the_gateway() -> None:
    cause: JsonObject = {"would": "deny", "rule": "r", "tool": "crm.x", "calls": 2}
    changed = observing.mode_changed(
        id="1", at=NOW, mode=Mode.ENFORCE, before=Mode.OBSERVE, by="a file changed"
    )
    day = observing.calls_observed(
        id="2", at=NOW, since=datetime.min.replace(tzinfo=NOW.tzinfo), calls=3, would=[cause] * 300
    )
    for event in (changed, day):
        jsonschema.validate(event.body, bodies.ADMIN)
    would = day.body["would"]
    assert isinstance(would, list)
    assert len(would) == 200

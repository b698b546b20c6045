"""What the schemas of events are made of."""

from gateway.events import forms
from gateway.types.operations import Execution


def test_an_object_has_its_members_and_no_others() -> None:
    assert forms.an_object({"a": forms.TEXT, "b": forms.COUNT}, frozenset({"b"})) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 0}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_an_enumeration_is_its_values() -> None:
    assert forms.one_of(Execution) == {"enum": ["no", "yes", "unknown"]}


def test_a_description_leaves_the_schema_as_it_was() -> None:
    assert forms.about(forms.TEXT, "d") == {"type": "string", "description": "d"}
    assert forms.TEXT == {"type": "string"}


def test_an_action_is_told_by_its_name() -> None:
    schema = forms.an_action("gateway_stopped", {"reason": forms.TEXT})
    assert schema["required"] == ["action", "reason"]
    assert schema["properties"] == {"action": {"const": "gateway_stopped"}, "reason": forms.TEXT}

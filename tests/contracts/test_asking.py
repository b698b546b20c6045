import pytest

from gateway.contracts.asking import asked
from gateway.types.guarantees import Injection, InjectPlace
from gateway.types.json import JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "key": {"type": "string"},
        "v": {"type": "integer"},
        "how": {"type": "object", "properties": {"a/b": {}}, "required": ["a/b"]},
    },
    "required": ["v", "key"],
    "additionalProperties": False,
}


def at(name: str, place: InjectPlace = InjectPlace.ARGUMENT) -> Injection:
    return Injection(place=place, name=name)


def test_nobody_is_asked_for_an_argument_that_the_gateway_fills_in() -> None:
    shown = asked(SCHEMA, at("/key"))
    properties = SCHEMA["properties"]
    assert isinstance(properties, dict)
    assert shown == {
        **SCHEMA,
        "properties": {"v": properties["v"], "how": properties["how"]},
        "required": ["v"],
    }
    assert "key" in properties  # what its server published is as it was


def test_the_argument_may_stand_inside_of_another() -> None:
    shown = asked(SCHEMA, at("/how/a~1b"))
    properties = shown["properties"]
    assert isinstance(properties, dict)
    assert properties["how"] == {"type": "object", "properties": {}, "required": []}
    assert shown["required"] == ["v", "key"]


@pytest.mark.parametrize(
    "injection",
    [
        None,
        at("key", InjectPlace.META),
        at("key", InjectPlace.HEADER),
        at("/nowhere/deep"),
        at("/v/deep"),
    ],
)
def test_every_other_schema_is_shown_as_it_is(injection: Injection | None) -> None:
    assert asked(SCHEMA, injection) == SCHEMA


def test_a_place_that_is_only_referred_to_stays() -> None:
    schema: JsonObject = {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"key": {}}}}}
    assert asked(schema, at("/key")) == schema

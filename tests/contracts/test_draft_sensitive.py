"""Values that promise secrets or persons."""

import pytest

from gateway.contracts.draft_sensitive import sensitive
from gateway.types.json import JsonObject
from gateway.types.tools import Sensitivity


def found(schema: JsonObject) -> dict[str, Sensitivity]:
    return {pointer: kind for pointer, kind, _ in sensitive(schema)}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", Sensitivity.SECRET),
        ("sessionToken", Sensitivity.SECRET),
        ("connectionString", Sensitivity.SECRET),
        ("Authorization", Sensitivity.SECRET),
        ("card_number", Sensitivity.SECRET),
        ("iban", Sensitivity.PERSONAL),
        ("recipientEmail", Sensitivity.PERSONAL),
        ("date_of_birth", Sensitivity.PERSONAL),
    ],
)
def test_a_name_tells(name: str, kind: Sensitivity) -> None:
    assert found({"properties": {name: {"type": "string"}}}) == {f"/{name}": kind}


def test_a_format_tells_as_well() -> None:
    schema: JsonObject = {
        "properties": {"to": {"format": "email"}, "key": {"format": "password"}, "name": {}}
    }
    assert list(sensitive(schema)) == [
        ("/to", Sensitivity.PERSONAL, "by its schema"),
        ("/key", Sensitivity.SECRET, "by its schema"),
    ]


def test_values_in_lists_branches_and_references_are_found_once() -> None:
    user: JsonObject = {
        "properties": {"email": {"type": "string"}, "friend": {"$ref": "#/$defs/u"}}
    }
    schema: JsonObject = {
        "properties": {
            "users": {"type": "array", "items": {"$ref": "#/$defs/u"}},
            "by_id": {"additionalProperties": {"anyOf": [{"$ref": "#/$defs/u"}, user]}},
        },
        "$defs": {"u": user},
    }
    assert set(found(schema)) == {"/users/*/email", "/by_id/*/email", "/by_id/*/friend/email"}


def test_a_switch_is_neither() -> None:
    switch: JsonObject = {"type": "boolean"}
    assert found({"properties": {"send_email": switch, "reset_password": switch}}) == {}


def test_a_schema_without_end_is_left() -> None:
    many: JsonObject = {f"p{n}": {"type": "string"} for n in range(3_000)}
    assert found({"properties": {**many, "password": {}}}) == {"/password": Sensitivity.SECRET}

"""The snapshot of a running gateway, as it is stored."""

from dataclasses import fields
from typing import Any

from gateway import jsontext
from gateway.actions.state import Snapshot

LISTS = {"servers", "quarantined", "unpinned", "unreviewed", "changed", "telemetry", "identity"}


def test_everything_of_a_snapshot_is_stored_under_its_own_name() -> None:
    values: dict[str, Any] = {
        "version": "1",
        "pid": 7,
        "front": "stdio",
        "revision": "sha256:a",
        "problem": "p",
        "warnings": 2,
        "servers": ({"name": "crm"},),
        "quarantined": ({"tool": "crm.bad"},),
        "unpinned": ("crm.a",),
        "unreviewed": ("crm.b",),
        "changed": ("crm.c",),
        "store": {"ok": True},
        "telemetry": ({"signal": "traces"},),
        "identity": ("https://idp: 503",),
        "approvals": {"pending": 2},
    }
    assert values.keys() == {field.name for field in fields(Snapshot)}
    stored = Snapshot(**values).as_json()
    assert stored == {
        name: list(value) if name in LISTS else value for name, value in values.items()
    }
    assert jsontext.parse(jsontext.dump(stored)) == stored

"""What others' systems are given, and what the log is called for them."""

from typing import Any

import pytest

from gateway.actions import outgoing
from gateway.errors import LogChanged
from gateway.events.checkpoints import Checkpoint
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.events import an_event
from tests.helpers.tampering import SIGNER, tamper


async def test_the_log_is_called_what_its_checkpoints_say(store: Store, store_url: str) -> None:
    assert await outgoing.origin(store.checkpoints) == ""
    store.events.append([an_event()])
    await store.events.kept()

    def sign(size: int, root: bytes) -> str:
        return Checkpoint(origin="log.example/test", size=size, root=root).signed([SIGNER])

    assert await store.checkpoints.make(sign) is not None
    assert await outgoing.origin(store.checkpoints) == "log.example/test"
    tamper(store_url, "UPDATE checkpoints SET note = 'nothing'")
    with pytest.raises(LogChanged, match="the checkpoint of 1 in the store"):
        await outgoing.origin(store.checkpoints)


def test_each_form_makes_one_object_of_an_event() -> None:
    kept: JsonObject = {"seq": 1, "id": "e1", "kind": "tool_call", "stage": "started", "body": {}}
    made: Any = {name: form(kept, "log.example") for name, form in outgoing.FORMS.items()}
    assert made["ocsf"]["class_uid"] == 6003
    assert made["cloudevents"]["source"] == "log.example"

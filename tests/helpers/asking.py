"""Requests in the store of a workspace, as people decide about them in a terminal."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.crossing.people import presented_place
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, Vote
from gateway.types.json import JsonObject
from tests.helpers.approvals import an_approval, asked
from tests.helpers.presenting import a_document
from tests.helpers.workspaces import Workspace, a_workspace

ACCOUNTS: Final = [
    {"user": "lea", "tenant": "acme", "roles": ["lead"]},
    {"user": "bo", "tenant": "acme", "roles": ["lead"]},
    {"user": "ana", "tenant": "acme", "roles": ["lead"]},  # who asks
    {"user": "eve", "tenant": "globex", "roles": ["lead"]},
    {"user": "max", "tenant": "acme", "roles": ["support"]},
]


@dataclass(frozen=True)
class Desk:
    """A workspace with requests in its store."""

    place: Workspace

    def request(self, document: JsonObject | None = None, **changes: Any) -> Approval:
        """Keep a request of Ana's that a lead may decide for half an hour."""
        with self.place.store() as store:
            return anyio.run(keep, store, document, changes)

    def now(self, approval: Approval) -> Approval:
        """Return a request as it is now."""
        with self.place.store() as store:
            found = anyio.run(store.approvals.get, approval.approval_id)
        assert found is not None
        return found

    def votes(self, approval: Approval) -> list[Vote]:
        """Return the votes on a request."""
        with self.place.store() as store:
            return anyio.run(store.approvals.votes, approval.approval_id)


def a_desk(folder: Path, **sections: Any) -> Desk:
    """Return a workspace whose accounts may decide; `sections` are those of the configuration."""
    sections.setdefault("admin", {"accounts": ACCOUNTS})
    return Desk(a_workspace(folder, **sections))


async def keep(store: Store, document: JsonObject | None, changes: Mapping[str, Any]) -> Approval:
    """Keep a request with what approvers are shown of it, sealed as the gateway seals it."""
    now = microseconds(SystemClock().now())
    times = {"created_at": now, "decide_by": now + 1_800_000_000, "answer_until": now + 10**12}
    made = an_approval(**(times | dict(changes)))
    shown = jsontext.dump(
        a_document({"amount": 400, "to": "ana"}) if document is None else document
    )
    sealed = Vault(store.keys.operations).seal(
        made.tenant, presented_place(made.approval_id), shown
    )
    fixed = {"approval_id": made.approval_id, "op_id": made.op_id, "call_id": made.call_id}
    digest = jsontext.digest(shown.decode())
    return await asked(
        store, **({"presented": sealed, "presented_digest": digest} | times | fixed | dict(changes))
    )

"""What approvers were shown of a request, as it was sealed when the request was made."""

from gateway import jsontext
from gateway.approvals.lines import Unreadable
from gateway.crossing.people import presented_place
from gateway.errors import JsonError
from gateway.store.vault import Vault, VaultBroken
from gateway.types.approvals import Approval
from gateway.types.json import JsonObject


def shown(approval: Approval, vault: Vault) -> JsonObject:
    """Return the document of a request; raises Unreadable, and then nobody may decide about it."""
    place = presented_place(approval.approval_id)
    try:
        kept = vault.open(approval.tenant, place, approval.presented)
        document = jsontext.parse_result(kept)
    except (VaultBroken, JsonError) as error:
        raise Unreadable(f"what the request is about can't be read: {error}") from error
    if jsontext.digest(kept.decode()) != approval.presented_digest or not isinstance(
        document, dict
    ):
        raise Unreadable("what the request is about is not what it was when it was made")
    return document

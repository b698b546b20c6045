"""What approvers were shown, read again."""

import pytest

from gateway import jsontext
from gateway.approvals.lines import Unreadable
from gateway.crossing.people import presented_place
from gateway.crossing.showing import shown
from gateway.store.vault import Vault
from gateway.types.approvals import Approval
from tests.helpers.approvals import an_approval
from tests.helpers.presenting import a_document

VAULT = Vault(lambda tenant: tenant.encode().ljust(32, b"."))


def sealed(document: bytes, *, of: str = "apr_1", **changes: str) -> Approval:
    values = {
        "approval_id": "apr_1",
        "presented": VAULT.seal("acme", presented_place(of), document),
        "presented_digest": jsontext.digest(document.decode()),
    }
    return an_approval(**(values | changes))


def test_a_request_shows_what_was_sealed_when_it_was_made() -> None:
    document = a_document({"amount": 12345678901234567890})
    assert shown(sealed(jsontext.dump(document)), VAULT) == document


@pytest.mark.parametrize(
    "approval",
    [
        sealed(b"{}", of="apr_2"),
        sealed(b"{}", tenant="globex"),
        sealed(b"{}", presented="nothing"),
        sealed(b"{}", presented_digest=jsontext.digest("{} ")),
        sealed(b"[]"),
        sealed(b"{"),
    ],
    ids=["another's", "of another tenant", "not sealed", "another digest", "a list", "no JSON"],
)
def test_what_is_not_what_it_was_is_not_shown(approval: Approval) -> None:
    with pytest.raises(Unreadable):
        shown(approval, VAULT)

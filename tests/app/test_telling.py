"""The words of a notice."""

import logging

import pytest

from gateway import jsontext
from gateway.app.telling import Teller
from gateway.approvals import notices
from gateway.crossing.people import presented_place
from gateway.events.redact import Redactor
from gateway.store.vault import Vault
from gateway.types.approvals import ApprovalNotes, ApprovalState, Choice, NoticeStage
from gateway.types.tools import Effect
from tests.helpers.approvals import a_notice, a_vote, an_approval
from tests.helpers.cases import a_contract
from tests.helpers.presenting import a_document

VAULT = Vault(lambda tenant: tenant.encode().ljust(32, b"."))
TELLER = Teller(
    vault=VAULT,
    redactor=Redactor(lambda tenant: tenant.encode().ljust(32, b".")),
    page=lambda approval: f"https://a.example.com/approvals/{approval.approval_id}",
)


def test_a_notice_has_the_summary_what_stands_on_top_and_the_page_and_no_more() -> None:
    notes = ApprovalNotes(summary="Refund $args.amount", show={"To": "/to"})
    contract = a_contract(effect=Effect.WRITE, approval=notes)
    document = jsontext.dump(a_document({"amount": 5, "to": "ana", "iban": "x"}, contract=contract))
    approval = an_approval(
        approval_id="apr_1",
        presented=VAULT.seal("acme", presented_place("apr_1"), document),
        presented_digest=jsontext.digest(document.decode()),
    )
    told = TELLER.telling(a_notice(approval), approval, ())
    assert told.summary == "Refund 5"
    assert told.shown == [("To", "ana")]
    assert told.link == "https://a.example.com/approvals/apr_1"


def test_what_hides_in_a_value_is_written_out_once() -> None:
    notes = ApprovalNotes(summary="Pay $args.to", show={"To": "/to"})
    contract = a_contract(effect=Effect.WRITE, approval=notes)
    document = jsontext.dump(a_document({"to": "\u202ebob"}, contract=contract))
    approval = an_approval(
        approval_id="apr_1",
        decide_by=0,
        presented=VAULT.seal("acme", presented_place("apr_1"), document),
        presented_digest=jsontext.digest(document.decode()),
    )
    text = str(notices.slack(TELLER.telling(a_notice(approval), approval, ()))["text"])
    assert r"Pay “\u{202E}bob”" in text
    assert r"To: \u{202E}bob" in text


def test_what_can_not_be_read_is_still_told_of(caplog: pytest.LogCaptureFixture) -> None:
    approval = an_approval(approval_id="apr_1")
    with caplog.at_level(logging.WARNING):
        told = TELLER.telling(a_notice(approval), approval, ())
    assert (told.summary, told.shown) == ("", ())
    assert told.link.endswith("/approvals/apr_1")
    assert "goes without words" in caplog.text


def test_what_people_wrote_leaves_redacted() -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    approval = an_approval(
        state=ApprovalState.DENIED,
        closed_reason=f"not with {secret}",
        decided_at=5,
        decide_by=0,
    )
    vote = a_vote(choice=Choice.DENY, reason=f"not with {secret}", at=5)
    notice = a_notice(approval, stage=NoticeStage.DECIDED)
    told = TELLER.telling(notice, approval, [vote])
    for message in (notices.slack(told), notices.cloud_event(told)):
        text = jsontext.dump(message).decode()
        assert "not with" in text
        assert secret not in text

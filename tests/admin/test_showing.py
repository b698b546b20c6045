"""What the pages say of a request, of its time, and of what somebody may do about it."""

from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pytest

from gateway import jsontext
from gateway.admin.showing import View
from gateway.approvals import lines
from gateway.approvals.lines import Group
from gateway.crossing.people import presented_place
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, ApprovalState, Assurance, Channel, Choice
from gateway.types.json import JsonObject
from tests.admin.house import BOTH
from tests.helpers.approvals import a_vote, an_approval, an_approver
from tests.helpers.presenting import a_document

VAULT = Vault(lambda tenant: tenant.encode().ljust(32, b"."))
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NOW_US = (NOW - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
LEA = an_approver()
ANA = an_approver("ana", ())


def kept(document: JsonObject | None = None, **changes: Any) -> Approval:
    """Return a request with what was sealed about it."""
    text = jsontext.dump(document or a_document({"amount": 5}))
    values = {
        "approval_id": "apr_1",
        "presented": VAULT.seal("acme", presented_place("apr_1"), text),
        "presented_digest": jsontext.digest(text.decode()),
        "created_at": NOW_US,
        "decide_by": NOW_US + 1_800_000_000,
    }
    return an_approval(**(values | changes))


def view(person: Any = LEA) -> View:
    return View(vault=VAULT, person=person, now=NOW)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-50, "just now"),
        (-60, "1 minute ago"),
        (-150, "2 minutes ago"),
        (-3500, "1 hour ago"),
        (-90000, "1 day ago"),
        (30, "in less than a minute"),
        (1560, "in 26 minutes"),
        (7200, "in 2 hours"),
        (3 * 86400, "in 3 days"),
    ],
)
def test_a_time_is_told_as_seen_from_now_and_exactly(seconds: int, words: str) -> None:
    moment = view().card(kept(created_at=NOW_US + seconds * 1_000_000), ()).asked
    assert moment.relative == words
    assert moment.exact.endswith("UTC")
    assert moment.iso == (NOW + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def test_a_list_has_the_summary_and_cuts_it_where_it_is_long() -> None:
    card = view().card(kept(a_document({"amount": 5})), ())
    assert card.title == "Call crm.find (write) with amount"
    long = view().card(kept(a_document({"k" * 60 + str(n): 1 for n in range(6)})), ())
    assert long.title.endswith("…")
    assert len(long.title) == 241
    assert view().card(kept(presented="broken"), ()).title == "desk.refund"


def test_who_waits_no_longer_is_said_while_it_is_undecided() -> None:
    gone = NOW_US - 180_000_000
    card = view().card(kept(left_at=gone), ())
    assert card.left is not None
    assert card.left.relative == "3 minutes ago"
    assert view().card(kept(), ()).left is None
    denied = kept(left_at=gone, state=ApprovalState.DENIED, decided_at=NOW_US)
    assert view().card(denied, ()).left is None


def test_a_list_makes_nothing_but_summaries_ready_for_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = kept(a_document({"text": "я" * 30_000}))

    def never(document: JsonObject) -> NoReturn:
        raise AssertionError(f"all rows were made of {document}")

    monkeypatch.setattr(lines, "rows", never)
    assert view().card(large, ()).title == "Call crm.find (write) with text"


def test_a_sheet_has_what_is_sent_before_what_stands_around_it() -> None:
    sheet = view().sheet(kept(a_document({"amount": 5}, note="please")), ())
    assert [section.rows[0].group for section in sheet.sections] == [
        Group.ARGUMENTS,
        Group.CALL,
        Group.REQUESTER,
        Group.RULE,
    ]
    assert [section.is_plain for section in sheet.sections] == [False, True, True, True]
    assert [row.text for row in sheet.notes] == ["please"]
    assert sheet.short == sheet.binding.removeprefix("sha256:")[:8]
    assert sheet.long == []


def test_each_long_value_has_a_number_of_its_own() -> None:
    sheet = view().sheet(kept(a_document({"a": "x" * 9000, "b": 1, "c": "y" * 9000})), ())
    assert len(set(sheet.long)) == 2


def test_a_lead_may_decide_and_the_one_who_asks_may_cancel() -> None:
    lead = view(LEA).sheet(kept(), ()).rights
    assert (lead.approve, lead.deny, lead.cancel, lead.why_not) == (True, True, False, "")
    requester = view(ANA).sheet(kept(), ()).rights
    assert (requester.approve, requester.deny, requester.cancel) == (False, False, True)
    assert "you asked for it yourself" in requester.why_not


def test_who_has_voted_may_take_it_back_while_nothing_is_decided() -> None:
    yes = a_vote(approval_id="apr_1", roles=("finance-lead",))
    approval = kept(clause=BOTH)
    voter = an_approver("lea", ("finance-lead",))
    sheet = view(voter).sheet(approval, [yes])
    assert (sheet.rights.withdraw, sheet.rights.deny) == (True, False)
    assert sheet.card.voted
    assert not sheet.card.is_mine
    assert sheet.card.waits_for == "1 more of controller"


def test_what_can_not_be_read_may_be_denied_only() -> None:
    sheet = view().sheet(kept(presented="broken"), ())
    assert sheet.unreadable
    assert (sheet.rights.approve, sheet.rights.deny) == (False, True)
    assert view().document(kept(presented="broken")) is None
    assert view().document(kept()) is not None


def test_a_vote_says_how_it_came_and_nothing_hides_in_it() -> None:
    vote = a_vote(
        "lea\u202e",
        choice=Choice.DENY,
        reason="no\u200b",
        channel=Channel.TERMINAL,
        assurance=Assurance.LOCAL,
        at=NOW_US,
    )
    (said,) = view().sheet(kept(state=ApprovalState.DENIED), [vote]).votes
    assert (said.user, said.is_yes, said.reason) == ("lea\\u{202E}", False, "no\\u{200B}")
    assert said.how == "in the terminal, with a local account"


@pytest.mark.parametrize("state", ApprovalState)
def test_every_state_has_words_and_only_what_is_open_an_end(state: ApprovalState) -> None:
    card = view().card(kept(state=state, use_by=NOW_US + 60_000_000), ())
    assert card.state_words
    assert (card.until is not None) == state.is_open

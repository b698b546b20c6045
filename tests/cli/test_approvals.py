"""`weighbridge approvals`: looking at requests in a terminal."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.types.approvals import ApprovalClause, ApprovalState, Factor
from tests.approvals.spoofs import SPOOFS, Spoof
from tests.helpers.approvals import BINDING, LEADS
from tests.helpers.asking import Desk, a_desk
from tests.helpers.presenting import a_document

TWO = replace(LEADS, factors=(Factor(name="leads", roles=("lead",), count=2),))
ALONE = replace(LEADS, requester_may_approve=True)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return a_desk(tmp_path)


def test_what_can_still_be_used_is_listed_newest_first(desk: Desk) -> None:
    older = desk.request(created_at=1, clause=TWO)
    newer = desk.request(state=ApprovalState.APPROVED, use_by=10**17)
    desk.request(state=ApprovalState.DENIED)
    headers, first, second, tally = desk.place.run("approvals", "list").stdout.splitlines()
    assert headers.split() == [
        *("request", "state", "tool", "asked", "by", "risk", "rule", "age", "left", "still"),
        *("decided", "by"),
    ]
    assert first.split()[:3] == [newer.approval_id, "approved", "desk.refund"]
    assert second.split()[:2] == [older.approval_id, "pending"]
    assert second.split()[3:] == [
        *("ana@acme", "high", "refunds-over-100", second.split()[6], "29m", "2", "of", "2", "–")
    ]
    assert tally.startswith("2 requests, 1 to be decided; look at one with `weighbridge approvals")


@pytest.mark.parametrize(
    ("user", "clause", "who"), [("lea", LEADS, "lea"), ("ana", ALONE, "ana (self)")]
)
def test_who_decided_is_listed(user: str, clause: ApprovalClause, who: str, desk: Desk) -> None:
    approval = desk.request(clause=clause)
    words = ("approvals", "approve", approval.approval_id, "--as", user, "--binding", "01234567")
    assert desk.place.run(*words, "--yes").exit_code == 0
    _, row, _ = desk.place.run("approvals", "list", "--state", "all").stdout.splitlines()
    assert row.rpartition("–")[2].strip() == who


@pytest.mark.parametrize(
    "words",
    [
        ("--state", "denied"),
        ("--tenant", "globex"),
        ("--user", "lea"),
        ("--tool", "desk.put"),
        ("--since", "2999-01-01"),
    ],
)
def test_what_is_not_asked_for_is_left_out(words: tuple[str, ...], desk: Desk) -> None:
    desk.request()
    assert desk.place.json("approvals", "list", *words) == (0, [])
    assert desk.place.run("approvals", "list", *words).stdout.splitlines()[-1] == "0 requests"


def test_all_states_are_listed_when_asked_for_and_a_limit_is_told(desk: Desk) -> None:
    for state in ApprovalState:
        desk.request(state=state)
    code, found = desk.place.json("approvals", "list", "--state", "all")
    assert code == 0
    assert {each["state"] for each in found} == {state.value for state in ApprovalState}
    done = desk.place.run("approvals", "list", "--state", "all", "--limit", "2")
    assert done.stderr == "(the first 2; --limit gives more)\n"


def test_one_request_is_shown_with_all_that_is_decided_about(desk: Desk) -> None:
    """case: APR-01"""
    approval = desk.request(clause=TWO, not_before=1_000_000, replaces="apr_0")
    shown = desk.place.run("approvals", "show", approval.approval_id).stdout
    lines = dict(line.strip().split("  ", 1) for line in shown.splitlines() if "  " in line.strip())
    values = {label.strip(): text.strip() for label, text in lines.items()}
    for label, text in {
        "amount": "400",
        "to": "ana",
        "Server": "crm",
        "Asked by": "sam",
        "Rule": "crm.large",
        "Id": approval.approval_id,
        "State": "pending",
        "Decided by": "2 of lead",
        "Still needed": "2 more of lead",
        "Not before": "1970-01-01 00:00 UTC",
        "Replaces": "apr_0",
        "Binding": f"01234567  ({BINDING})",
    }.items():
        assert values[label] == text, label
    assert shown.splitlines()[-1].startswith("next: `weighbridge approvals approve apr_")


def test_a_program_gets_the_same_and_nothing_that_is_sealed(desk: Desk) -> None:
    approval = desk.request(clause=TWO)
    code, found = desk.place.json("approvals", "show", approval.approval_id)
    assert code == 0
    assert found["binding_short"] == "01234567"
    assert found["lacks"] == [{"roles": ["lead"], "users": [], "count": 2}]
    assert {"group": "arguments", "label": "amount", "text": "400", "marks": []} in found["rows"]
    assert not {"presented", "proposal"} & found.keys()


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda spoof: spoof.name)
def test_nothing_of_a_value_can_deceive_in_a_terminal(spoof: Spoof, desk: Desk) -> None:
    """case: APR-01"""
    approval = desk.request(a_document({"value": spoof.value}))
    shown = desk.place.run("approvals", "show", approval.approval_id, "--full").stdout
    for part in spoof.seen:
        assert part in shown
    assert not (set(spoof.hidden) - {"\n"}) & set(shown)
    assert not any(line.lstrip().startswith("Amount") for line in shown.splitlines())


def test_a_long_value_shows_its_ends_and_all_of_it_when_asked_for(desk: Desk) -> None:
    value = "a" * 5_000 + "middle" + "z" * 5_000
    approval = desk.request(a_document({"text": value}))
    short = desk.place.run("approvals", "show", approval.approval_id).stdout
    assert "middle" not in short
    assert "10,006 characters in all" in short
    assert "`--full` shows all of it" in short
    assert value in desk.place.run("approvals", "show", approval.approval_id, "--full").stdout


def test_an_id_that_is_unknown_says_where_ids_are(desk: Desk) -> None:
    desk.request()
    for words in (
        ("show",),
        ("approve", "--binding", "01234567", "--yes"),
        ("deny", "--reason", "x", "--binding", "01234567", "--yes"),
        ("withdraw",),
        ("cancel", "--reason", "x"),
        ("reopen",),
    ):
        done = desk.place.run("approvals", words[0], "apr_none", *words[1:])
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == (
            "weighbridge: there is no request `apr_none`; see `weighbridge approvals list`\n"
        )


def test_a_request_that_was_changed_behind_the_gateway_is_not_shown(desk: Desk) -> None:
    approval = desk.request(presented_digest="sha256:" + "0" * 64)
    done = desk.place.run("approvals", "show", approval.approval_id)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "is not what it was when it was made" in done.stderr

"""Deciding in a terminal."""

import json
import os
import pty
import pwd
import select
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.cli import people
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Assurance,
    Channel,
    Choice,
    Factor,
)
from tests.helpers import forked
from tests.helpers.approvals import BINDING, LEADS
from tests.helpers.asking import Desk, a_desk
from tests.helpers.presenting import a_document

S = ApprovalState
TWO = replace(LEADS, factors=(Factor(name="leads", roles=("lead",), count=2),))
SURE = ("--binding", "01234567", "--yes")
WITHIN_S = 20


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return a_desk(tmp_path)


def test_a_yes_of_who_may_decides_and_says_what_follows(desk: Desk) -> None:
    approval = desk.request()
    done = desk.place.run(
        "approvals", "approve", approval.approval_id, "--as", "lea", "--reason", "checked", *SURE
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("approved; the call is sent when its caller makes it again")
    assert desk.now(approval).state is S.APPROVED
    (vote,) = desk.votes(approval)
    account = pwd.getpwuid(os.getuid()).pw_name
    assert (vote.user, vote.choice, vote.reason) == ("lea", Choice.APPROVE, "checked")
    assert (vote.channel, vote.assurance) == (Channel.TERMINAL, Assurance.LOCAL)
    assert (vote.issuer, vote.binding) == (f"os:{account}", BINDING)


def test_the_first_of_two_learns_who_is_missing_and_can_not_be_the_second(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = desk.request(clause=TWO)
    words = ("approvals", "approve", approval.approval_id, *SURE)
    done = desk.place.run(*words, "--as", "lea")
    assert done.stdout.strip().endswith("others have to decide as well: 1 more of lead")
    again = desk.place.run(*words, "--as", "lea")
    assert (again.exit_code, again.stderr) == (
        1,
        "weighbridge: you have voted on it already; take your vote back first, to change it\n",
    )
    claimed = desk.place.run(*words, "--as", "bo")
    assert claimed.exit_code == 1
    assert "somebody has said yes from the same account of this machine" in claimed.stderr
    monkeypatch.setattr(people, "_account", lambda: "another")
    assert desk.place.run(*words, "--as", "bo").exit_code == 0
    assert desk.now(approval).state is S.APPROVED


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ana", "you asked for it yourself"),
        ("max", "you may not do that; it is decided by 1 of lead"),
        ("eve", "for eve of globex"),
    ],
)
def test_who_may_not_decide_is_told_why_and_changes_nothing(
    name: str, said: str, desk: Desk
) -> None:
    """case: APR-03"""
    approval = desk.request()
    done = desk.place.run("approvals", "approve", approval.approval_id, "--as", name, *SURE)
    assert (done.exit_code, done.stdout) == (1, "")
    assert said in done.stderr
    assert desk.now(approval).state is S.PENDING
    assert desk.votes(approval) == []


@pytest.mark.parametrize("binding", ["76543210", "0123456", "sha256:" + "f" * 64, "approve"])
def test_another_binding_than_that_of_the_request_decides_nothing(binding: str, desk: Desk) -> None:
    approval = desk.request()
    words = ("approvals", "approve", approval.approval_id, "--as", "lea")
    done = desk.place.run(*words, "--binding", binding, "--yes")
    assert done.exit_code == 1
    assert "that is not the binding of this request" in done.stderr
    assert desk.now(approval).state is S.PENDING


def test_a_no_ends_it_and_comes_before_the_use_too(desk: Desk) -> None:
    approval = desk.request()
    words = ("approvals", "deny", approval.approval_id, "--as", "lea", "--reason", "too much")
    assert desk.place.run(*words, *SURE).stdout.startswith("denied; the call is not sent")
    found = desk.now(approval)
    assert (found.state, found.closed_reason) == (S.DENIED, "too much")
    again = desk.place.run(*words, *SURE)
    assert (again.exit_code, again.stderr) == (1, "weighbridge: it is denied already\n")
    taken_back = desk.request(state=S.APPROVED, use_by=10**18)
    words = ("approvals", "deny", taken_back.approval_id, "--as", "lea", "--reason", "wait")
    assert "taken back before it was used" in desk.place.run(*words, *SURE).stdout
    assert desk.now(taken_back).state is S.CANCELLED


def test_who_denies_may_say_what_he_would_rather_have(desk: Desk, tmp_path: Path) -> None:
    proposal = tmp_path / "proposal.json"
    proposal.write_text('{"amount": 100, "to": "ana"}')
    approval = desk.request()
    words = ("approvals", "deny", approval.approval_id, "--as", "lea", "--reason", "less", *SURE)
    assert desk.place.run(*words, "--propose", str(proposal)).exit_code == 0
    found = desk.now(approval)
    assert found.proposal_hash.startswith("hmac-sha256:")
    assert "100" not in found.proposal  # sealed
    for text, said in (("[1]", "has to be a JSON object"), ('{"a": NaN}', "`--propose`: ")):
        proposal.write_text(text)
        done = desk.place.run(*words, "--propose", str(proposal))
        assert done.exit_code == 2
        assert said in done.stderr


def test_a_vote_can_be_taken_back_while_nothing_is_decided(desk: Desk) -> None:
    approval = desk.request(clause=TWO)
    desk.place.run("approvals", "approve", approval.approval_id, "--as", "lea", *SURE)
    words = ("approvals", "withdraw", approval.approval_id)
    assert "your vote is taken back" in desk.place.run(*words, "--as", "lea").stdout
    assert desk.votes(approval) == []
    assert desk.place.run(*words, "--as", "lea").exit_code == 1


def test_who_asked_and_who_runs_the_gateway_may_end_a_request(desk: Desk) -> None:
    for name in ("ana", "max"):
        approval = desk.request()
        words = ("approvals", "cancel", approval.approval_id, "--as", name, "--reason", "a slip")
        assert desk.place.run(*words).stdout == "cancelled; the call is not sent\n"
        assert desk.now(approval).closed_reason == "a slip"


def test_a_denied_call_can_be_opened_again_and_nothing_else_can(desk: Desk) -> None:
    approval = desk.request()
    words = ("approvals", "reopen", approval.approval_id, "--as", "lea")
    assert desk.place.run(*words).exit_code == 1
    desk.place.run(
        *("approvals", "deny", approval.approval_id, "--as", "bo", "--reason", "no", *SURE)
    )
    done = desk.place.run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "may be asked about again" in done.stdout


def test_a_program_gets_what_became_of_it_and_an_exit_code(desk: Desk) -> None:
    approval = desk.request(clause=TWO)
    words = ("approvals", "approve", approval.approval_id, *SURE)
    code, found = desk.place.json(*words, "--as", "lea")
    assert (code, found["cast"]) == (0, "counted")
    assert found["lacks"] == [{"roles": ["lead"], "users": [], "count": 1}]
    assert found["approval"]["state"] == "pending"
    code, found = desk.place.json(*words, "--as", "eve")
    assert (code, found["cast"], found["approval"]) == (1, "not_found", None)


def test_a_script_has_to_say_what_it_looked_at(desk: Desk) -> None:
    approval = desk.request()
    words = ("approvals", "approve", approval.approval_id, "--as", "lea")
    for more in ((), ("--binding", "01234567"), ("--json",)):
        done = desk.place.run(*words, *more)
        assert done.exit_code == 2
        assert "nothing can be asked" in done.stderr
        assert ("stdin is no terminal" in done.stderr) is ("--json" not in more)
    done = desk.place.run(*words, "--yes")
    assert (done.exit_code, "`--yes` needs `--binding`" in done.stderr) == (2, True)
    blank = ("approvals", "deny", approval.approval_id, "--as", "lea", "--reason", " ", *SURE)
    assert "say why" in desk.place.run(*blank).stderr
    assert desk.now(approval).state is S.PENDING


def test_what_can_not_be_shown_can_be_denied_and_never_approved(desk: Desk) -> None:
    approval = desk.request(presented="nothing that opens")
    who = ("--as", "lea", *SURE)
    done = desk.place.run("approvals", "approve", approval.approval_id, *who)
    assert done.exit_code == 1
    assert "nobody can approve what can't be shown" in done.stderr
    words = ("approvals", "deny", approval.approval_id, "--reason", "what is it?")
    assert desk.place.run(*words, *who).exit_code == 0


def test_without_accounts_who_acts_locally_decides_but_not_about_his_own(tmp_path: Path) -> None:
    """case: APR-01"""
    local = {"user": "kim", "tenant": "acme", "roles": ["lead"]}
    desk = a_desk(tmp_path, admin={}, identity={"local": local})
    own, other = desk.request(user="kim"), desk.request()
    done = desk.place.run("approvals", "approve", own.approval_id, *SURE)
    assert "you asked for it yourself" in done.stderr
    assert desk.place.run("approvals", "approve", other.approval_id, *SURE).exit_code == 0


class Terminal:
    """A command in a terminal of its own, so many cells wide."""

    def __init__(self, desk: Desk, *words: str, columns: int = 60) -> None:
        self._leader, follower = pty.openpty()
        self._process = forked.at_terminal(
            [*words, "--config", str(desk.place.config)],
            follower,
            {"PATH": os.environ["PATH"], "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"},
        ).process
        os.close(follower)
        self.text = ""

    def until(self, words: str) -> None:
        """Read until something is on the screen."""
        end = time.monotonic() + WITHIN_S
        while words not in self.text:
            assert time.monotonic() < end, self.text
            if select.select([self._leader], [], [], 0.1)[0]:
                self.text += os.read(self._leader, 65536).decode().replace("\r\n", "\n")

    def types(self, words: str) -> None:
        """Type a line."""
        os.write(self._leader, f"{words}\n".encode())

    def ends(self) -> int:
        """Read the rest; return the exit code."""
        while True:
            try:
                more = os.read(self._leader, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            self.text += more.decode().replace("\r\n", "\n")
        os.close(self._leader)
        self._process.join(WITHIN_S)
        assert self._process.exitcode is not None
        return self._process.exitcode


def typed(desk: Desk, approval: Approval, answer: str, *more: str) -> tuple[int, str]:
    """Approve in a terminal; return the exit code and what was on the screen."""
    words = ("approvals", "approve", approval.approval_id, "--as", "lea", *more)
    terminal = Terminal(desk, *words)
    terminal.until(" it")
    terminal.until(": ")
    terminal.types(answer)
    return terminal.ends(), terminal.text


def test_who_sits_there_reads_all_of_it_and_types_the_digits(desk: Desk) -> None:
    value = "a" * 3_000 + "middle" + "z" * 3_000
    approval = desk.request(a_document({"text": value, "amount": 400}))
    code, screen = typed(desk, approval, "01234567")
    assert code == 0
    assert "you are lea of acme (roles: lead)" in screen
    assert "type 01234567 to approve it: " in screen
    assert "middle" in screen.replace("\n" + " " * 26 + "┆ ", "")
    assert "approved; the call is sent" in screen
    assert desk.now(approval).state is S.APPROVED


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ana", "you asked for it yourself"),
        ("max", "you may not do that; it is decided by 1 of lead"),
        ("eve", "for eve of globex"),
        ("mallory", "`mallory` is not among `admin.accounts`; `lea`, `bo` may"),
    ],
)
def test_whose_vote_can_not_count_is_told_before_he_is_asked(
    name: str, said: str, desk: Desk
) -> None:
    approval = desk.request()
    terminal = Terminal(desk, "approvals", "approve", approval.approval_id, "--as", name)
    assert terminal.ends() in (1, 2)
    assert said in terminal.text
    assert "01234567" not in terminal.text


def test_what_was_used_already_names_the_way_back(desk: Desk) -> None:
    approval = desk.request(state=S.CONSUMED)
    for words in (("approve", *SURE), ("reopen",)):
        done = desk.place.run(
            "approvals", words[0], approval.approval_id, "--as", "lea", *words[1:]
        )
        assert done.exit_code == 1
        assert f"undo it with `weighbridge ops compensate {approval.op_id}`" in done.stderr


@pytest.mark.parametrize("answer", ["", "y", "yes", "01234568"])
def test_whatever_else_is_typed_decides_nothing(answer: str, desk: Desk) -> None:
    approval = desk.request()
    code, screen = typed(desk, approval, answer)
    assert code == 1
    assert "nothing was decided" in screen
    assert desk.now(approval).state is S.PENDING


def test_who_gave_the_digits_already_is_asked_for_a_yes(desk: Desk) -> None:
    approval = desk.request()
    assert typed(desk, approval, "n", "--binding", "01234567")[0] == 1
    assert desk.now(approval).state is S.PENDING
    assert typed(desk, approval, "y", "--binding", "01234567")[0] == 0
    assert desk.now(approval).state is S.APPROVED


def test_no_value_begins_a_line_of_the_screen(desk: Desk) -> None:
    """case: APR-01"""
    row = "x" * 60 + " " * 8 + "Amount " + " " * 8 + "1.00"
    approval = desk.request(a_document({"amount": 400, "note": row * 20}))
    _, screen = typed(desk, approval, "")
    amounts = [line for line in screen.splitlines() if line.lstrip().startswith("Amount")]
    assert amounts == []
    assert any("┆" in line and "Amount" in line for line in screen.splitlines())


def test_what_was_decided_meanwhile_is_not_decided_again(desk: Desk) -> None:
    """case: APR-10"""
    approval = desk.request()
    words = ("approvals", "approve", approval.approval_id, "--as", "lea")
    terminal = Terminal(desk, *words)
    terminal.until("to approve it: ")
    denied = ("approvals", "deny", approval.approval_id, "--as", "bo", "--reason", "no")
    assert desk.place.run(*denied, *SURE).exit_code == 0
    terminal.types("01234567")
    assert terminal.ends() == 1
    assert "it is denied already" in terminal.text
    assert json.loads(desk.place.run("approvals", "list", "--json").stdout) == []

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.events import approvals
from gateway.events.approvals import Word, stage_of
from gateway.events.redact import Redactor
from gateway.types.approvals import (
    ApprovalState,
    Approver,
    Assurance,
    Cast,
    Channel,
    Choice,
    Ruling,
)
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.approvals import LEADS, a_vote, an_approval, an_approver
from tests.helpers.cases import NOW, an_actor

REDACTOR = Redactor(lambda tenant: tenant.encode())
S = ApprovalState
TRACE = f"00-{'a' * 32}-{'b' * 16}-01"
AT = 1_764_400_000_000_000


def a_word(
    cast: Cast,
    state: ApprovalState = S.PENDING,
    approver: Approver | None = None,
    choice: Choice | None = Choice.APPROVE,
    reason: str = "checked with the customer",
    **changes: Any,
) -> Word:
    approval = an_approval(
        state=state, created_at=AT, decide_by=AT + 1, trace=TRACE, run_id="run_1", **changes
    )
    return Word(
        approver=approver or an_approver(),
        ruling=Ruling(cast=cast, approval=approval, votes=(a_vote(at=AT),)),
        choice=choice,
        reason=reason,
    )


def of_word(word: Word) -> Event:
    (event,) = approvals.ruled(word, REDACTOR, id="e", at=NOW)
    return event


def of_time(stage: Stage, **changes: Any) -> Event:
    approval = an_approval(created_at=AT, decide_by=AT + 1, **changes)
    return approvals.event(approval, stage, REDACTOR, id="e", at=NOW, actor=an_actor())


def every_event() -> Sequence[Event]:
    decided: dict[str, Any] = {"decided_at": AT + 5}
    return (
        of_time(Stage.REQUESTED, replaces="apr_0", not_before=AT),
        of_word(a_word(Cast.COUNTED)),
        of_word(a_word(Cast.WITHDRAWN, choice=None, reason="")),
        of_word(a_word(Cast.APPROVED, S.APPROVED, use_by=AT + 9, **decided)),
        of_word(a_word(Cast.DENIED, S.DENIED, proposal_hash="sha256:2", **decided)),
        *(of_word(a_word(each)) for each in Cast if stage_of(each) is Stage.REFUSED),
        of_time(Stage.ESCALATED, escalated=1),
        of_time(Stage.EXPIRED, state=S.EXPIRED, closed_reason="nobody decided", **decided),
        of_time(Stage.USED, state=S.CONSUMED, consumed_by="call_2", **decided),
        of_time(Stage.VOIDED, state=S.SUPERSEDED, closed_reason="another tool", **decided),
        of_word(a_word(Cast.REVOKED, S.CANCELLED, **decided)),
        of_word(a_word(Cast.CANCELLED, S.CANCELLED, choice=None, **decided)),
        of_word(a_word(Cast.REOPENED, S.DENIED, choice=None, **decided)),
    )


def test_a_decision_says_who_what_how_and_of_what_he_saw() -> None:
    word = a_word(Cast.APPROVED, S.APPROVED, decided_at=AT + 5, use_by=AT + 9)
    event = of_word(word)
    approval = word.ruling.approval
    assert approval is not None
    assert (event.kind, event.stage) == (EventKind.APPROVAL, Stage.DECIDED)
    assert (event.call, event.run, event.tenant) == (approval.call_id, "run_1", "acme")
    assert (event.trace_id, event.span_id) == ("a" * 32, "b" * 16)
    assert event.actor is not None
    assert (event.actor.user, event.actor.method, event.actor.issuer) == (
        "lea",
        "page",
        "https://login.acme.example",
    )
    said = {
        "status": "approved",
        "cast": "approved",
        "choice": "approve",
        "channel": "page",
        "assurance": "authenticated",
        "reason": "checked with the customer",
        "binding": approval.binding,
        "presented_digest": approval.presented_digest,
        "requester": {"user": "ana", "client": "desk-agent"},
        "waited_us": 5,
        "decide_by": "2025-11-29T07:06:40.000001Z",
        "use_by": "2025-11-29T07:06:40.000009Z",
        "votes": [
            {
                "approver": "lea",
                "choice": "approve",
                "channel": "page",
                "assurance": "authenticated",
                "at": "2025-11-29T07:06:40.000000Z",
            }
        ],
    }
    assert said.items() <= event.body.items()


def test_who_decides_his_own_request_is_told_apart() -> None:
    clause = replace(LEADS, requester_may_approve=True)
    ana = an_approver("Ana", channel=Channel.ELICITATION, assurance=Assurance.CLIENT_ASSERTED)
    own = of_word(a_word(Cast.APPROVED, S.APPROVED, ana, clause=clause))
    assert own.body["self_approval"] is True
    wide = replace(ana, user="\uff21na")
    assert of_word(a_word(Cast.APPROVED, S.APPROVED, wide, clause=clause)).body["self_approval"]
    told: JsonObject = dict(own.body)
    assert isinstance(told["clause"], dict)
    assert told["clause"]["requester_may_approve"] is True
    assert "self_approval" not in of_word(a_word(Cast.SELF_APPROVAL, approver=ana)).body
    assert "self_approval" not in of_word(a_word(Cast.APPROVED, S.APPROVED)).body
    assert "self_approval" not in of_word(a_word(Cast.CANCELLED, approver=ana, choice=None)).body


def test_what_people_write_is_redacted_and_bounded() -> None:
    secret = "token=ghp_" + "a1B2" * 9
    word = a_word(Cast.DENIED, S.DENIED, reason=secret, closed_reason=secret + "x" * 5_000)
    body = of_word(word).body
    assert "ghp_" not in f"{body}"
    assert len(str(body["why"])) <= 1_000


def test_of_a_request_that_is_not_there_nothing_is_told() -> None:
    word = Word(approver=an_approver(), ruling=Ruling(cast=Cast.NOT_FOUND))
    assert approvals.ruled(word, REDACTOR, id="e", at=NOW) == ()


@pytest.mark.parametrize("trace", ["", "00-zz", f"00-{'a' * 32}-{'b' * 16}-01-more"])
def test_a_request_without_a_usable_trace_is_told_without_one(trace: str) -> None:
    event = of_time(Stage.REQUESTED, trace=trace)
    assert (event.trace_id, event.span_id) == ("", "")


def test_a_time_beyond_all_calendars_is_told_as_the_last_one() -> None:
    approval = an_approval(decide_by=10**18)
    event = approvals.event(approval, Stage.REQUESTED, REDACTOR, id="e", at=NOW)
    assert event.body["decide_by"] == "9999-12-31T23:59:59.999999Z"

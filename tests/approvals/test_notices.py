import json
from dataclasses import replace
from typing import Any

import pytest

from gateway import jsontext
from gateway.approvals.notices import Telling, cloud_event, is_overtaken, slack
from gateway.types.approvals import (
    ApprovalClause,
    ApprovalState,
    Choice,
    Escalation,
    Factor,
    Notice,
    NoticeStage,
)
from gateway.types.json import JsonObject
from tests.helpers.approvals import BINDING, a_vote, an_approval

LINK = "https://approvals.example.com/approvals/apr_1"
AT = 1_795_910_400_000_000  # 2026-11-29T00:00:00Z
CLAUSE = ApprovalClause(
    factors=(Factor(name="leads", roles=("lead",), users=("bo",)),),
    escalation=(Escalation(after_s=60, roles=("boss",)),),
)


def told(stage: NoticeStage = NoticeStage.REQUESTED, **changes: object) -> Telling:
    approval = an_approval(
        approval_id="apr_1",
        created_at=AT,
        decide_by=AT + 90 * 60_000_000,
        **({"clause": CLAUSE} | changes),
    )
    return Telling(
        notice=Notice(
            notice_id="ntc_1",
            approval_id="apr_1",
            tenant="acme",
            stage=stage,
            target="audit",
            created_at=AT,
            next_at=AT,
        ),
        approval=approval,
        summary="Refund 400.00 EUR to Ana",
        shown=(("Amount", "400.00"), ("Account", r"a\u{202E}b")),
        link=LINK,
    )


def plain(message: JsonObject) -> Any:
    """The message as whoever gets it reads it."""
    return json.loads(jsontext.dump(message))


def texts(message: object) -> str:
    return json.dumps(message, ensure_ascii=False)


def test_a_cloud_event_says_all_that_its_specification_asks_for() -> None:
    event = cloud_event(told())
    assert {name: event[name] for name in ("specversion", "id", "type", "subject", "time")} == {
        "specversion": "1.0",
        "id": "ntc_1",
        "type": "weighbridge.approval.requested",
        "subject": "apr_1",
        "time": "2026-11-29T00:00:00Z",
    }
    assert event["source"]
    assert event["datacontenttype"] == "application/json"
    data = plain(event)["data"]
    assert data["binding"] == BINDING
    assert data["decide_by"] == "2026-11-29T01:30:00Z"
    assert data["approvers"] == {"roles": ["lead"], "users": ["bo"], "quorum": 1}
    assert data["shown"][0] == {"label": "Amount", "value": "400.00"}
    assert jsontext.parse(jsontext.dump(event)) == event


def test_what_deceives_the_eye_is_written_out_in_every_format() -> None:
    names: dict[str, Any] = {"user": "sam\u202e", "closed_reason": "no\u202e", "rule": "r\u202e"}
    denied = told(NoticeStage.DECIDED, state=ApprovalState.DENIED, **names)
    for message in (cloud_event(denied), slack(denied)):
        for name in ("sam", "no", "r"):
            assert f"{name}\\\\u{{202E}}" in texts(message)
        assert "\u202e" not in texts(message)


def test_what_is_written_out_already_is_not_written_out_again() -> None:
    spelled = replace(told(), summary=r"Pay \u{202E}bob", shown=((r"\u{202E}to", r"a\u{202E}b"),))
    for message in (cloud_event(spelled), slack(spelled)):
        for text in ("Pay ", "a", ""):
            assert f"{text}\\\\u{{202E}}" in texts(message)
        assert "u{5C}" not in texts(message)


def test_nothing_of_a_call_is_a_link_or_a_mention_in_a_chat() -> None:
    spoof = replace(
        told(user="<!channel>"),
        summary="<https://evil.example|Approve> & *go* <@U1>",
        shown=(("<b>", "<!here>"),),
    )
    message = slack(spoof)
    assert "<" not in str(message["text"])
    assert "&lt;!channel&gt;" in str(message["text"])
    assert message["mrkdwn"] is False
    *others, linked = plain(message)["blocks"]
    assert [block["text"]["type"] for block in others] == ["plain_text", "plain_text"]
    assert linked["text"]["text"] == f"<{LINK}|Decide there>"


def test_the_text_alone_says_what_the_blocks_say() -> None:
    text = str(slack(told())["text"])
    for part in ("Refund 400.00 EUR", "Amount: 400.00", "1 of lead, bo", "01:30 UTC", LINK):
        assert part in text


def test_who_may_decide_after_an_escalation_is_named_then() -> None:
    assert "1 of lead, bo; or of boss" in str(
        slack(told(NoticeStage.ESCALATED, escalated=1))["text"]
    )


@pytest.mark.parametrize(
    ("stage", "state", "said"),
    [
        (NoticeStage.REQUESTED, ApprovalState.PENDING, "waits for a decision"),
        (NoticeStage.ESCALATED, ApprovalState.PENDING, "still waits"),
        (NoticeStage.DECIDED, ApprovalState.APPROVED, "was approved"),
        (NoticeStage.DECIDED, ApprovalState.CONSUMED, "was approved"),
        (NoticeStage.DECIDED, ApprovalState.DENIED, "was denied"),
        (NoticeStage.DECIDED, ApprovalState.CANCELLED, "is cancelled now"),
        (NoticeStage.EXPIRED, ApprovalState.EXPIRED, "not decided or not used in time"),
        (NoticeStage.CANCELLED, ApprovalState.CANCELLED, "no longer asked for"),
    ],
)
def test_each_stage_has_its_own_words(stage: NoticeStage, state: ApprovalState, said: str) -> None:
    found = slack(told(stage, state=state, closed_reason="too much"))
    assert said in str(found["text"])
    is_open = state is ApprovalState.PENDING
    assert ("Decide there" in str(found["text"])) is is_open
    assert ("reason: too much" in str(found["text"])) is not is_open


def test_what_is_long_is_cut_aloud() -> None:
    shown = tuple((f"l{number}", "x" * 5_000) for number in range(20))
    long = replace(told(), summary="y" * 100_000, shown=shown)
    for message in (cloud_event(long), slack(long)):
        assert len(texts(message)) < 20_000
        assert "99400 characters more on the page" in texts(message)
        assert "12 more on the page" in texts(message)
    blocks = plain(slack(long))["blocks"]
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks)


def test_without_a_page_and_without_words_there_is_still_what_is_known() -> None:
    bare = replace(told(), summary="", shown=(), link="")
    text = str(slack(bare)["text"])
    assert "desk.refund" in text
    assert "apr_1" in text
    assert "http" not in text
    assert plain(cloud_event(bare))["data"]["url"] is None


def test_nobody_is_asked_for_what_is_no_longer_to_be_decided() -> None:
    for stage in NoticeStage:
        asks = stage in (NoticeStage.REQUESTED, NoticeStage.ESCALATED)
        for state in ApprovalState:
            found = told(stage, state=state)
            expected = asks and state is not ApprovalState.PENDING
            assert is_overtaken(found.notice, found.approval) is expected


@pytest.mark.parametrize(
    ("state", "decided_at"),
    [
        (ApprovalState.APPROVED, AT + 2),
        (ApprovalState.CONSUMED, AT + 2),
        (ApprovalState.CANCELLED, AT + 9),  # by the no of that moment
    ],
)
def test_a_decision_says_who_gave_it_how_and_why_whatever_became_of_it_since(
    state: ApprovalState, decided_at: int
) -> None:
    yes = a_vote("bo", reason="checked\u202e", at=AT + 2)
    no = a_vote("al", choice=Choice.DENY, at=AT + 9)
    decided = told(NoticeStage.DECIDED, state=state, decided_at=decided_at, user="Bo")
    message = replace(decided, votes=[yes, no])
    data = plain(cloud_event(message))["data"]
    assert data["state"] == "approved"
    assert data["decided_by"] == [
        {
            "user": "bo",
            "choice": "approve",
            "channel": "page",
            "assurance": "authenticated",
            "reason": "checked\\u{202E}",
            "self": True,
            "at": "2026-11-29T00:00:00.000002Z",
        }
    ]
    assert "decided by: bo (approve, page, authenticated): checked" in str(slack(message)["text"])


def test_nobody_has_decided_what_still_waits() -> None:
    asked = replace(told(), votes=[a_vote("bo", at=0)])
    assert plain(cloud_event(asked))["data"]["decided_by"] == []


def test_a_notice_says_that_who_asked_is_not_there_any_more() -> None:
    gone = told(stage=NoticeStage.ESCALATED, left_at=AT)
    assert cloud_event(gone)["data"] != cloud_event(told(stage=NoticeStage.ESCALATED))["data"]
    data = plain(cloud_event(gone))["data"]
    assert data["requester"]["left_at"] == "2026-11-29T00:00:00Z"
    assert "requester: disconnected at 2026-11-29 00:00 UTC" in texts(slack(gone))
    assert "disconnected" not in texts(slack(told()))

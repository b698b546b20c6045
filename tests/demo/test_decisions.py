"""The part of the script about people."""

import pytest

from gateway.demo.decisions import DECISIONS, LARGE, refund_of
from gateway.demo.scene import BINDING, REQUEST, Command, Step, Surprise
from gateway.types.approvals import Cast
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status

_COMMANDS = [line for line in DECISIONS if isinstance(line, Command)]
_STEPS = [line for line in DECISIONS if isinstance(line, Step)]


def test_what_is_held_is_decided_before_the_same_call_is_made_again_and_then_repeated() -> None:
    approved = next(each for each in DECISIONS if each.status is Cast.APPROVED)
    same = [step for step in _STEPS if step.arguments == refund_of(LARGE)]
    assert [(step.status, step.replayed) for step in same] == [
        (Status.APPROVAL_PENDING, False),
        (Status.OK, False),
        (Status.OK, True),
    ]
    before, *after = (DECISIONS.index(step) for step in same)
    assert before < DECISIONS.index(approved) < min(after)


def test_every_other_vote_is_refused_and_each_is_bound_to_what_was_shown() -> None:
    votes = [command for command in _COMMANDS if command.words[1] == "approve"]
    assert [(vote.status, vote.is_refused) for vote in votes] == [
        (Cast.SELF_APPROVAL, True),
        (Cast.APPROVED, False),
        (Cast.ALREADY_DECIDED, True),
        (Cast.TOO_LATE, True),
    ]
    assert all({REQUEST, BINDING} < set(vote.words) for vote in votes)


def test_another_amount_is_asked_about_anew_although_the_first_was_approved() -> None:
    other = [step for step in _STEPS if step.arguments == refund_of(LARGE + 50)]
    assert [step.status for step in other] == [Status.APPROVAL_PENDING]


def test_a_request_that_shows_another_call_is_a_surprise() -> None:
    (show,) = (command for command in _COMMANDS if command.words[1] == "show")
    row: JsonObject = {"label": "Summary", "text": "Pay 400 EUR back to customer c-1001"}
    request: JsonObject = {"approval_id": "apr_1", "binding_short": "0badcafe", "rows": [row]}
    assert show.observe(request) == ("apr_1, binding 0badcafe: Pay 400 EUR back to customer c-1001")
    assert not show.is_refused
    with pytest.raises(Surprise, match="something else"):
        show.observe({**request, "rows": [{**row, "text": "Pay 4000 EUR back"}]})


def test_what_became_of_a_vote_is_told_in_the_words_of_the_command() -> None:
    (late,) = (command for command in _COMMANDS if command.status is Cast.TOO_LATE)
    assert late.observe({"message": "its time is over"}) == "its time is over"

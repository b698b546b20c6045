"""One call under two policies."""

from gateway.admin import replay_call_showing
from gateway.admin.replay_call_showing import CallSheet
from gateway.replay.types import Compared, Gone, Missing
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, ASK, DENY, changed, recorded, same, undecidable


def sheet(found: Compared) -> CallSheet:
    return replay_call_showing.sheet(found, found.recorded.arguments)


def test_the_first_difference_is_marked_and_what_nobody_says_is_left_out() -> None:
    shown = sheet(changed(recorded(1, DENY), ALLOW, grants=Lean.WIDER))
    sides = {each.name: each for each in shown.sides}
    assert [each.change for each in shown.sides].count("first") == 1
    assert (sides["Decision"].change, sides["By"].change) == ("first", "more")
    assert (sides["By"].before, sides["By"].after) == ("no_matching_rule", "small")
    assert "People" not in sides
    assert shown.title == "denied then, allowed now"


def test_titles_say_what_becomes_of_a_call() -> None:
    assert sheet(same(recorded(1, ASK))).title == "asked about, then and now"
    other = changed(recorded(1, ALLOW), replaced(ALLOW, rule="other"), grants=Lean.OTHER)
    assert sheet(other).title == "allowed as well, but not in the same way"
    full = replaced(ALLOW, exceeded="daily")
    assert sheet(changed(recorded(1, ALLOW), full, grants=Lean.NARROWER)).title == (
        "allowed then, over a limit now"
    )


def test_what_can_not_be_known_says_what_is_missing() -> None:
    missing = Missing(place="/arguments/iban", why=Gone.NOT_KEPT, readers=("large",))
    shown = sheet(undecidable(recorded(1, ALLOW), missing, certain=DecisionEffect.DENY))
    assert shown.missing == [("/arguments/iban", "not kept", "large")]
    assert (shown.certain, shown.after) == ("deny", "")
    assert {each.after for each in shown.sides} == {"?"}
    assert "nobody can know" in shown.title


def test_names_from_outside_hide_nothing() -> None:
    shown = sheet(same(recorded(1, ALLOW, user="a\u202eb", tool="x\u200b.y")))
    assert "\u202e" not in shown.user
    assert "\u200b" not in shown.tool

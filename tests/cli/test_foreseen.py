"""What enforcing would do to calls like those of the log."""

from gateway.cli.foreseen import Foreseen
from gateway.replay.types import Compared, Grade, Judgement, Taken, Written
from gateway.types.decisions import DecisionEffect
from gateway.types.values import replaced
from tests.helpers.compared import recorded

ALLOWED = Judgement(effect=DecisionEffect.ALLOW)
LIMITED = replaced(ALLOWED, exceeded="a-day", limits=(Taken(id="a-day", rule="few", amount=1.0),))
CHANGED = replaced(
    ALLOWED, constraints=(Written(pointer="/t", kind="set", rule="own", is_known=False),)
)


def seen(after: Judgement | None, **changes: str) -> Foreseen:
    foreseen, call = Foreseen(), replaced(recorded(1, ALLOWED), **changes)
    foreseen.see(Compared(recorded=call, grade=Grade.SAME, before=ALLOWED, after=after))
    return foreseen


def test_each_call_is_counted_by_what_would_become_of_it() -> None:
    denied = Judgement(effect=DecisionEffect.DENY, rule="no")
    held = Judgement(effect=DecisionEffect.REQUIRE_APPROVAL, rule="ask")
    for after, changes, would, rule in (
        (denied, {}, "deny", "no"),
        (LIMITED, {}, "deny", "few"),
        (held, {}, "hold", "ask"),
        (ALLOWED, {"would": "repeat"}, "repeat", ""),
        (CHANGED, {}, "change", "own"),
    ):
        ((cause, calls),) = seen(after, **changes).tally.ranked()
        assert (cause.would.value, cause.rule, calls) == (would, rule, 1)
    assert [*seen(ALLOWED).tally.ranked()] == []


def test_what_cannot_be_told_is_counted_apart_and_the_gateways_own_calls_nowhere() -> None:
    assert seen(None).to_json()["undecidable"] == 1
    own = seen(ALLOWED, cause="lookup")
    assert (own.tally.calls, own.undecidable) == (0, 0)

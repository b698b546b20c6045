from datetime import UTC, datetime
from typing import Any

from gateway.replay import unsealed
from gateway.replay.types import Compared, Gone, Grade, Judgement, Missing, Recorded
from gateway.store.unsealing import Unopened, Unsealed
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.values import replaced
from tests.helpers.replays import a_known_case, a_law, a_secret_note, policy, recorded, rule

LAW = a_law(policy(rule("main")), a_secret_note())
SENT: JsonObject = {"amount": 3.5, "note": "hush-hush", "id": "i-1"}
SINCE = datetime(2026, 11, 30, tzinfo=UTC)


def a_call() -> Recorded:
    return recorded(a_known_case(LAW, dict(SENT)))


def compared(call: Recorded, **changes: Any) -> Compared:
    judged = Judgement(effect=DecisionEffect.DENY, reason="no hush-hush here", people="hush-hush")
    fields: dict[str, Any] = {"grade": Grade.CHANGED, "before": judged, "after": judged}
    return Compared(recorded=call, **(fields | changes))


def test_what_was_sealed_is_judged_by_and_not_shown() -> None:
    before = a_call()
    call = unsealed.known(before, Unsealed(arguments=SENT))
    assert (call.arguments, call.unknown) == (SENT, {})
    assert call.seen == before.arguments
    assert before.seen is before.arguments
    assert "hush-hush" not in str(call.seen)


def test_where_nothing_is_sealed_or_nothing_unknown_all_is_as_it_was() -> None:
    call = a_call()
    assert unsealed.known(call, None) is call
    whole = replaced(call, unknown={})
    assert unsealed.known(whole, Unsealed(arguments=SENT)) is whole
    assert unsealed.known(call, Unsealed()) is call
    some = compared(call)
    assert unsealed.told(some) is some


def test_why_a_copy_can_not_be_read_is_why_the_value_is_gone() -> None:
    for why, gone in (
        (Unopened.SHREDDED, Gone.SHREDDED),
        (Unopened.NO_KEY, Gone.SEALED),
        (Unopened.MISSING, Gone.SEALED),
        (Unopened.BROKEN, Gone.CHANGED),
    ):
        call = unsealed.known(a_call(), Unsealed(why=why))
        assert call.unknown == {"/note": gone}


def test_what_was_shredded_is_told_with_its_day() -> None:
    call = unsealed.known(a_call(), Unsealed(why=Unopened.SHREDDED, since=SINCE))
    missing = (
        Missing(place="/arguments/note", why=Gone.SHREDDED),
        Missing(place="run.objective", why=Gone.NOT_ASKED),
    )
    found = unsealed.told(compared(call, grade=Grade.UNDECIDABLE, after=None, missing=missing))
    assert [each.told for each in found.missing] == ["shredded on 2026-11-30", "not_asked"]


def test_reasons_of_a_judgement_say_nothing_of_what_was_sealed() -> None:
    call = unsealed.known(a_call(), Unsealed(arguments=SENT))
    found = unsealed.told(compared(call))
    assert found.after is not None
    assert "hush-hush" not in str((found.before, found.after))
    assert found.after.reason == "no [redacted:secret] here"
    undecided = unsealed.told(compared(call, after=None))
    assert undecided.after is None

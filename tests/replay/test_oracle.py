from gateway.replay.oracle import MOST, Oracle, explored
from gateway.replay.types import Gone, Judgement, Missing
from gateway.types.decisions import DecisionEffect
from tests.helpers.replays import decided, undecided

ALLOW = Judgement(effect=DecisionEffect.ALLOW, rule="a")
DENY = Judgement(effect=DecisionEffect.DENY, rule="b")
NOTE = Missing(place="/arguments/note", why=Gone.REDACTED, readers=("a",))


def test_without_a_question_a_call_is_judged_once() -> None:
    assert decided(explored(lambda oracle: ALLOW)) is ALLOW


def test_what_all_possibilities_agree_on_is_decided() -> None:
    def judged(oracle: Oracle) -> Judgement:
        held = oracle.ask(("rule", "a"), (True, False), [NOTE])
        return Judgement(effect=DecisionEffect.DENY, reason=str(held))

    assert decided(explored(judged)).effect is DecisionEffect.DENY


def test_where_they_differ_it_is_said_what_is_missing_and_who_reads_it() -> None:
    def judged(oracle: Oracle) -> Judgement:
        other = Missing(place=NOTE.place, why=NOTE.why, readers=("b",))
        one = oracle.ask(("rule", "a"), (True, False), [NOTE])
        return ALLOW if one and oracle.ask(("rule", "b"), (True, False), [other]) else DENY

    found = undecided(explored(judged))
    assert found.certain is None
    assert [(each.place, set(each.readers)) for each in found.missing] == [
        ("/arguments/note", {"a", "b"})
    ]


def test_an_effect_that_is_certain_is_told_though_the_rule_is_not() -> None:
    def judged(oracle: Oracle) -> Judgement:
        held = oracle.ask(("rule", "a"), (True, False), [NOTE])
        return Judgement(effect=DecisionEffect.DENY, rule="a" if held else "b")

    assert undecided(explored(judged)).certain is DecisionEffect.DENY


def test_the_same_question_has_the_same_answer() -> None:
    def judged(oracle: Oracle) -> Judgement:
        first, second = (oracle.ask(("rule", "a"), (True, False), [NOTE]) for _ in range(2))
        return ALLOW if first is second else DENY

    assert decided(explored(judged)) is ALLOW


def test_too_many_possibilities_are_not_tried() -> None:
    tried: list[int] = []

    def judged(oracle: Oracle) -> Judgement:
        tried.append(1)
        held = [oracle.ask(("rule", str(each)), (True, False), [NOTE]) for each in range(20)]
        return ALLOW if any(held) else DENY

    assert undecided(explored(judged)).certain is None
    assert len(tried) < 2 * MOST

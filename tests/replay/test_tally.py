from datetime import timedelta

from gateway.replay.report import Outside, Sum, Wanted, Work
from gateway.replay.types import Gone, Missing, Money, Why
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import (
    ALLOW,
    ASK,
    DENY,
    START,
    changed,
    recorded,
    report,
    same,
    undecidable,
)

IBAN = Missing(place="/arguments/iban", why=Gone.REDACTED, readers=("large",))


def test_calls_that_fare_alike_by_the_same_rules_are_one_group() -> None:
    found = report(
        [
            changed(recorded(1, DENY, user="ann", run="run_1"), ALLOW, grants=Lean.WIDER),
            changed(recorded(2, DENY, user="ann", run="run_2"), ALLOW, grants=Lean.WIDER),
            changed(recorded(3, DENY, user="ann", tenant="globex"), ALLOW, grants=Lean.WIDER),
        ]
    )
    (group,) = found.groups
    assert (group.before, group.after) == ("deny", "allow")
    assert (group.was, group.now, group.now_at) == ("no_matching_rule", "small", "policy.yaml:10")
    # The same name in two tenants is two people.
    assert (group.calls, group.users, group.runs) == (3, 2, 2)
    assert group.first.call == "call_1"
    assert found.changed == 3


def test_what_grants_more_comes_first_and_what_people_refused_before_all() -> None:
    found = report(
        [
            changed(recorded(1, ALLOW), DENY, grants=Lean.NARROWER),
            *(changed(recorded(n, DENY), ALLOW, grants=Lean.WIDER) for n in range(2, 6)),
            changed(
                recorded(6, ASK, denied=True, tool="mail.send"),
                ALLOW,
                grants=Lean.WIDER,
                overrides=True,
            ),
        ]
    )
    assert [(each.lean, each.tool) for each in found.groups] == [
        (Lean.WIDER, "mail.send"),
        (Lean.WIDER, "billing.refund"),
        (Lean.NARROWER, "billing.refund"),
    ]
    assert found.groups[0].denied_by_people == 1


def test_another_rule_or_another_demand_is_another_group() -> None:
    other = replaced(ALLOW, rule="large", place="policy.yaml:20")
    found = report(
        [
            changed(recorded(1, ALLOW), other, grants=Lean.OTHER, why=Why.RULE),
            changed(recorded(2, ALLOW), ALLOW, grants=Lean.NARROWER, why=Why.CONSTRAINT),
            changed(recorded(3, ALLOW), ALLOW, grants=Lean.NARROWER, why=Why.OUTPUT),
        ]
    )
    assert sorted(each.why for each in found.groups) == [
        (Why.CONSTRAINT,),
        (Why.OUTPUT,),
        (Why.RULE,),
    ]
    assert not any(each.changes_effect for each in found.groups)


def test_a_limit_without_room_is_told_apart_from_a_rule_that_denies() -> None:
    full = replaced(ALLOW, exceeded="refunds-a-day")
    call = recorded(1, ALLOW)
    (group,) = report([changed(call, full, grants=Lean.NARROWER, why=Why.LIMIT)]).groups
    assert (group.after, group.now) == ("no_room", "refunds-a-day")


def test_what_took_place_and_would_not_is_summed_by_currency() -> None:
    sums = [Money(amount=600, currency="EUR"), Money(amount=20.5, currency="EUR"), Money(amount=7)]
    denied = [
        changed(recorded(n, ALLOW, executed=True), DENY, grants=Lean.NARROWER, money=each)
        for n, each in enumerate(sums, 1)
    ]
    tried = changed(recorded(9, ALLOW), DENY, grants=Lean.NARROWER, money=Money(amount=1_000))
    found = report([*denied, tried])
    money = (Sum(amount=7, currency=""), Sum(amount=620.5, currency="EUR"))
    assert found.prevented == (Outside(tool="billing.refund", calls=3, money=money),)
    assert found.withheld == ()


def test_repeats_of_one_operation_move_money_once() -> None:
    money = Money(amount=400, currency="EUR")
    first, *again = (
        replaced(
            changed(recorded(n, ASK, executed=n == 2), ALLOW, grants=Lean.WIDER, money=money),
            operation="op_1",
            moves_nothing=n == 3,
        )
        for n in range(1, 4)
    )
    found = report([first, *again, replaced(first, operation="op_2")])
    sums = (Sum(amount=800, currency="EUR"),)
    assert found.unattended == (Outside(tool="billing.refund", calls=2, money=sums),)
    (group,) = found.groups
    assert (group.calls, group.repeats, group.money) == (4, 2, sums)


def test_what_people_would_be_asked_about_is_withheld_and_what_nobody_is_is_unattended() -> None:
    found = report(
        [
            changed(recorded(1, ALLOW, executed=True), ASK, grants=Lean.NARROWER),
            changed(recorded(2, ASK, tool="mail.send"), ALLOW, grants=Lean.WIDER),
        ]
    )
    assert [(each.tool, each.calls) for each in found.withheld] == [("billing.refund", 1)]
    assert [(each.tool, each.calls) for each in found.unattended] == [("mail.send", 1)]
    assert found.prevented == ()


def test_how_often_people_are_asked_is_counted_before_and_after() -> None:
    lead = replaced(ASK, people="1 of finance-lead")
    found = report(
        [
            same(recorded(1, lead)),
            changed(recorded(2, ALLOW), lead, grants=Lean.NARROWER),
            changed(recorded(3, ALLOW), lead, grants=Lean.NARROWER),
        ]
    )
    assert found.workload == (Work(people="1 of finance-lead", before=1, after=3),)


def test_rules_that_held_for_no_call_are_named_with_their_places() -> None:
    found = report([same(recorded(1, replaced(ALLOW, matched=("small", "large"))))])
    assert found.idle == (("never", "policy.yaml:30"),)


def test_runs_that_come_apart_are_named_once_and_what_follows_is_counted() -> None:
    found = report(
        [
            changed(recorded(1, ALLOW, run="run_1"), DENY, grants=Lean.NARROWER, first=True),
            changed(recorded(2, ALLOW, run="run_1"), DENY, grants=Lean.NARROWER, follows=True),
            same(recorded(3, ALLOW, run="run_2")),
        ]
    )
    assert (found.runs, found.diverged, found.follows) == (2, 1, 1)
    assert [(each.run, each.at.call) for each in found.divergences] == [("run_1", "call_1")]
    assert found.groups[0].follows == 1


def test_what_is_missing_is_told_by_tool_and_reader() -> None:
    found = report(
        [
            undecidable(recorded(1, ALLOW), IBAN),
            undecidable(recorded(2, ALLOW), IBAN, IBAN, certain=DecisionEffect.DENY),
        ]
    )
    (unknown,) = found.unknown
    assert unknown.missing == (("/arguments/iban", "redacted"),)
    assert (unknown.readers, unknown.calls, unknown.certain) == (("large",), 2, {"deny": 1})
    assert (found.same, found.changed, found.undecidable) == (0, 0, 2)


def test_calls_that_their_own_revision_judges_otherwise_are_named() -> None:
    found = report(
        [
            same(recorded(1, ALLOW)),
            replaced(same(recorded(2, ALLOW)), is_faithful=False),
            replaced(same(recorded(3, ALLOW)), is_faithful=None),
        ]
    )
    assert (found.faithful, found.unchecked) == (1, 1)
    assert [each.call for each in found.unfaithful] == ["call_2"]


def test_a_report_says_what_it_would_fail_on() -> None:
    wider = report([changed(recorded(1, DENY), ALLOW, grants=Lean.WIDER)])
    assert [each for each in Wanted if wider.has(each)] == [Wanted.GRANTS_MORE, Wanted.CHANGED]
    narrower = report([changed(recorded(1, ALLOW), DENY, grants=Lean.NARROWER)])
    assert [each for each in Wanted if narrower.has(each)] == [Wanted.GRANTS_LESS, Wanted.CHANGED]
    unknown = report([undecidable(recorded(1, ALLOW), IBAN)])
    assert [each for each in Wanted if unknown.has(each)] == [Wanted.UNDECIDABLE]
    assert not any(report([same(recorded(1, ALLOW))]).has(each) for each in Wanted)


def test_the_period_is_that_of_the_calls_where_nobody_asked_for_another() -> None:
    found = report([same(recorded(1, ALLOW)), same(recorded(337, ALLOW))])
    assert (found.first, found.last) == (START + timedelta(hours=1), START + timedelta(hours=337))
    assert found.weeks == 2

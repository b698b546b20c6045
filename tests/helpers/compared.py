"""Calls that were replayed, made by hand."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from gateway.replay.report import Report
from gateway.replay.tally import Tally
from gateway.replay.types import (
    Asked,
    Compared,
    Counters,
    Ended,
    Gone,
    Grade,
    Judgement,
    Missing,
    Money,
    Recorded,
    Subject,
    Why,
)
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind

IBAN = Missing(place="/arguments/iban", why=Gone.REDACTED, readers=("large",))
START = datetime(2026, 10, 1, 9, tzinfo=UTC)
RULES = {"small": "policy.yaml:10", "large": "policy.yaml:20", "never": "policy.yaml:30"}
ALLOW, ASK, DENY = (
    Judgement(effect=effect, rule=rule, place=RULES.get(rule, ""), does=Effect.WRITE, code=code)
    for effect, rule, code in (
        (DecisionEffect.ALLOW, "small", ""),
        (DecisionEffect.REQUIRE_APPROVAL, "large", ""),
        (DecisionEffect.DENY, "", "no_matching_rule"),
    )
)


def recorded(
    number: int,
    before: Judgement,
    *,
    user: str = "sam",
    tenant: str = "acme",
    run: str = "",
    tool: str = "billing.refund",
    executed: bool = False,
    denied: bool = False,
) -> Recorded:
    """Return the call of that number; one an hour."""
    done = Execution.YES if executed else Execution.NO
    return Recorded(
        seq=10 * number,
        id=f"e{number}",
        call=f"call_{number}",
        at=START + timedelta(hours=number),
        tenant=tenant,
        actor=Actor(
            user=user,
            tenant=tenant,
            roles=frozenset(),
            scopes=frozenset(),
            client="host",
            method="api_key",
            issuer="",
        ),
        method=Method.CALL_TOOL,
        kind=Kind.TOOL,
        tool=tool,
        server=tool.partition(".")[0],
        name=tool,
        arguments={},
        run=run,
        revision="sha256:" + "a" * 64,
        judged=before,
        asked=Asked(approval="apr_1", state="denied") if denied else None,
        ended=Ended(status=Status.OK, code="", executed=done, seq=10 * number + 1),
    )


def changed(
    call: Recorded,
    after: Judgement,
    *,
    grants: Lean,
    why: Why = Why.EFFECT,
    money: Money | None = None,
    first: bool = False,
    follows: bool = False,
    overrides: bool = False,
) -> Compared:
    """Return a call that fares differently."""
    return Compared(
        recorded=call,
        grade=Grade.CHANGED,
        before=call.judged,
        after=after,
        why=(why,),
        grants=grants,
        money=money,
        is_first=first,
        follows_divergence=follows,
        overrides_denial=overrides,
        is_faithful=True,
    )


def same(call: Recorded) -> Compared:
    """Return a call that fares as it did."""
    return Compared(
        recorded=call,
        grade=Grade.SAME,
        before=call.judged,
        after=call.judged,
        is_faithful=True,
    )


def undecidable(
    call: Recorded, *missing: Missing, certain: DecisionEffect | None = None
) -> Compared:
    """Return a call that nobody can decide."""
    return Compared(
        recorded=call,
        grade=Grade.UNDECIDABLE,
        before=call.judged,
        missing=missing,
        certain=certain,
        is_faithful=True,
    )


def report(calls: Iterable[Compared]) -> Report:
    """Return the report of some calls."""
    subject = Subject(revision="sha256:" + "b" * 64, counters=Counters.RECORDED)
    tally = Tally(subject=subject, rules=RULES)
    for each in calls:
        tally.add(each)
    return tally.report()


def a_report() -> Report:
    """Return a report with every kind of change."""
    return report(
        [
            same(recorded(1, ALLOW)),
            changed(recorded(2, DENY, user="ann"), ALLOW, grants=Lean.WIDER),
            changed(
                recorded(3, ASK, denied=True, tool="mail.send"),
                ALLOW,
                grants=Lean.WIDER,
                overrides=True,
            ),
            changed(
                recorded(4, ALLOW, run="run_1", executed=True),
                DENY,
                grants=Lean.NARROWER,
                money=Money(amount=61_204, currency="EUR"),
                first=True,
            ),
            undecidable(recorded(5, ALLOW), IBAN, certain=DecisionEffect.DENY),
        ]
    )

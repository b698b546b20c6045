"""Checks that need the rules alone: dead rules, open doors, unused sets."""

from collections.abc import Iterator

from gateway.policy.compiled import STRENGTH
from gateway.policy.findings import Finding, Level
from gateway.policy.match import Matcher
from gateway.policy.survey import Survey, Surveyed
from gateway.types.decisions import DecisionEffect


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    for each in survey.rules:
        yield from _open_allow(each)
        yield from _deny_without_code(each)
    yield from _never_decide(survey)
    yield from _unused_sets(survey)


def _open_allow(each: Surveyed) -> Iterator[Finding]:
    match = each.rule.match
    if each.rule.decision == "allow" and match.roles is None and match.scopes is None:
        yield each.finding(
            Level.WARNING,
            "open-allow",
            f"rule `{each.rule.id}` allows without a role or scope; "
            "add `match.roles` or `match.scopes`",
        )


def _deny_without_code(each: Surveyed) -> Iterator[Finding]:
    if each.rule.decision == "deny" and each.rule.code is None:
        yield each.finding(
            Level.WARNING,
            "deny-without-code",
            f"rule `{each.rule.id}` denies without a `code`; programs will only see `denied`",
        )


def _never_decide(survey: Survey) -> Iterator[Finding]:
    """Find rules that another one always comes before, whatever the call.

    Only rules without a condition can be such another one; they are gathered in the order in which
    rules decide, so that each rule is held against those before it alone.
    """
    ranked = [(_rank(each), each) for each in survey.rules if each.is_enforced]
    deciding = [(rank, each) for rank, each in ranked if rank is not None]
    before: list[Surveyed] = []
    for _, each in sorted(deciding, key=lambda ranked: ranked[0]):  # stable: equals stay in order
        other = next((wide for wide in before if _covers(wide, each)), None)
        if other is not None:
            yield each.finding(
                Level.WARNING,
                "never-decides",
                f"rule `{each.rule.id}` can never decide: `{other.rule.id}` "
                f"({other.file.name}:{other.place()[0]}) always decides before it",
            )
        if each.rule.when is None:
            before.append(each)


def _rank(each: Surveyed) -> int | None:
    if each.rule.decision == "obligation":
        return None
    return STRENGTH.index(DecisionEffect(each.rule.decision))


def _covers(wide: Surveyed, narrow: Surveyed) -> bool:
    """Say whether every call that `narrow` matches is one that `wide` matches too."""
    a, b = wide.matcher, narrow.matcher
    if not _selects_all(a, b):  # first, since it tells most rules apart
        return False
    if narrow.rule.risk is not None and a.risk is not None:
        return False  # the narrow rule itself moves calls out of the classes it matches
    pairs = (
        (a.effects, b.effects),
        (a.risk, b.risk),
        (a.tenants, b.tenants),
        (a.users, b.users),
        (a.phases, b.phases),
        (a.authenticated_by, b.authenticated_by),
        (a.causes, b.causes),
        (a.servers, b.servers),
        (a.roles_any, b.roles_any),
        (a.scopes_any, b.scopes_any),
    )
    return (
        b.methods <= a.methods
        and a.kind in (None, b.kind)
        and all(_holds_all(outer, inner) for outer, inner in pairs)
        and a.roles_all <= b.roles_all
        and a.scopes_all <= b.scopes_all
    )


def _holds_all(outer: frozenset[str] | None, inner: frozenset[str] | None) -> bool:
    return outer is None or (inner is not None and inner <= outer)


def _selects_all(a: Matcher, b: Matcher) -> bool:
    if not a.patterns or (set(b.patterns) and set(b.patterns) <= set(a.patterns)):
        return True
    # A pattern may meet tools that nobody knows yet, so only exact names are compared by tools.
    exact = b.patterns and not any(set("*?") & set(name) for name in b.patterns)
    return bool(exact) and all(a.selects(name) for name in b.patterns)


def _unused_sets(survey: Survey) -> Iterator[Finding]:
    texts = [file.text for file in survey.files]
    for file in survey.files:
        for name in file.content.sets:
            used = any(f"sets.{name}" in text or f"in_set: {name}" in text for text in texts)
            if not used and not any(_in_set(each, name) for each in survey.rules):
                line, column = file.document.key_place(("sets", name))
                yield Finding(
                    level=Level.WARNING,
                    check="unused-set",
                    message=f"set `{name}` is used by no rule",
                    file=file.name,
                    line=line,
                    column=column,
                )


def _in_set(each: Surveyed, name: str) -> bool:
    return getattr(each.rule.match.tenants, "in_set", None) == name

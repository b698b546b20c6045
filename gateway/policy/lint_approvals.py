"""Checks of who may decide about calls, and of what contracts have people shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from gateway.jsontext import escape
from gateway.jsontext.references import references
from gateway.policy.clauses import duration, groups
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_tools import about, schema_at
from gateway.policy.rules import SELF, Approval, Group
from gateway.policy.survey import Survey, Surveyed
from gateway.types.actors import person
from gateway.types.approvals import Assurance, Fallback
from gateway.types.json import JsonPointer
from gateway.types.tools import Contract, Sensitivity

_MOST_GROUPS: Final = 8  # of which every selection is looked at
_LONGEST_S: Final = 30 * 86400.0  # after it, what people saw is too old to be sent


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    for each in survey.rules:
        if each.rule.approval is not None:
            yield from _unknown_roles(each, each.rule.approval, survey)
            yield from _who(each, each.rule.approval)
            yield from _self(each, each.rule.approval)
            yield from _times(each, each.rule.approval)
    for contract in survey.contracts:
        yield from _notes(contract)


# --- who -----------------------------------------------------------------------------------------


def _unknown_roles(each: Surveyed, approval: Approval, survey: Survey) -> Iterator[Finding]:
    level, why = Level.INFO, "is named nowhere else"
    if survey.are_all_roles:
        level, why = Level.WARNING, "is that of no account and no key"
    for path, roles in _named_roles(approval):
        for index, role in enumerate(roles):
            if role not in survey.roles:
                yield each.finding(
                    level,
                    "unknown-role",
                    f"approver role `{role}` {why}; check its spelling",
                    *("approval", *path, "roles", index),
                )


def _named_roles(
    approval: Approval,
) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...]]]:
    if approval.approvers is not None:
        yield ("approvers",), approval.approvers.roles
    for index, factor in enumerate(approval.factors or ()):
        yield ("factors", index), factor.roles
    for index, step in enumerate(approval.escalate):
        yield ("escalate", index), step.roles


def _who(each: Surveyed, approval: Approval) -> Iterator[Finding]:
    """Find clauses that nobody can satisfy, or end, by the users that they name."""
    named, may_grow = groups(approval), bool(approval.escalate)
    lack = _lack(named)
    if lack is not None:
        yield each.finding(
            Level.WARNING if may_grow else Level.ERROR,
            "quorum-too-large",
            f"{_of(lack, approval)} {lack.wanted} people, and {len(lack.people)} are named",
            *_path(lack, approval),
        )
    elif not may_grow:
        yield from _only_requester(each, approval)
    people = _people(named)
    is_open = may_grow or any(group.roles for group in named)
    if approval.deny_count > len(people) and not is_open:
        yield each.finding(
            Level.ERROR,
            "deny-count-too-large",
            f"`deny_count` is {approval.deny_count} and {len(people)} may decide: no one's no "
            "would end it",
            *("approval", "deny_count"),
        )


def _only_requester(each: Surveyed, approval: Approval) -> Iterator[Finding]:
    """Find calls about which too few would be left, since who asks may not decide himself."""
    named, asking = groups(approval), each.rule.match.users
    people = _people(named)
    if approval.requester_may_approve or SELF in people:
        return
    askers = frozenset(person(user) for user in asking) if asking else people
    stuck = [user for user in sorted(askers) if _lack(named, without=user) is not None]
    if not stuck:
        return
    is_always = asking is not None and len(stuck) == len(askers)
    yield each.finding(
        Level.ERROR if is_always else Level.WARNING,
        "only-requester",
        f"when `{stuck[0]}` asks, too few are left who may decide; name more people, or say "
        "`requester_may_approve: true`",
        "approval",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lack:
    """Groups that together want more different people than they name."""

    places: tuple[int, ...]  # of the groups in their rule
    wanted: int
    people: frozenset[str]


def _lack(named: Sequence[Group], without: str = "") -> _Lack | None:
    """Return the first groups that can't be satisfied (Hall, 1935).

    A group with a role may have any number of people.
    """
    closed = [(at, group) for at, group in enumerate(named) if not group.roles][:_MOST_GROUPS]
    for size in range(1, len(closed) + 1):
        for some in combinations(closed, size):
            wanted = sum(group.count for _, group in some)
            people = _people([group for _, group in some]) - {without}
            if len(people) < wanted:
                return _Lack(places=tuple(at for at, _ in some), wanted=wanted, people=people)
    return None


def _people(named: Iterable[Group]) -> frozenset[str]:
    """Return the people that groups name one by one."""
    return frozenset(person(user) for group in named for user in group.users)


def _of(lack: _Lack, approval: Approval) -> str:
    if approval.factors is None:
        return "needs"
    names = [f"`{approval.factors[at].name}`" for at in lack.places]
    return f"{names[0]} needs" if len(names) == 1 else f"{', '.join(names)} together need"


def _path(lack: _Lack, approval: Approval) -> tuple[str | int, ...]:
    if approval.factors is not None:
        return ("approval", "factors", lack.places[0])
    return ("approval", "quorum") if "quorum" in approval.model_fields_set else ("approval",)


def _self(each: Surveyed, approval: Approval) -> Iterator[Finding]:
    is_self = any(SELF in group.users for group in groups(approval))
    if is_self and approval.min_assurance not in {None, Assurance.CLIENT_ASSERTED}:
        yield each.finding(
            Level.ERROR,
            "self-too-weak",
            "`self` confirms in the caller's own client, which is worth no more than "
            "`client_asserted`; lower `min_assurance`, or name somebody else",
            *("approval", "min_assurance"),
        )
    said_no = "requester_may_approve" in approval.model_fields_set
    if is_self and said_no and not approval.requester_may_approve:
        yield each.finding(
            Level.ERROR,
            "self-is-requester",
            "`self` is the requester, and `requester_may_approve: false` says that he may not; "
            "remove one of them",
            *("approval", "requester_may_approve"),
        )
    if approval.requester_may_approve and not is_self:
        yield each.finding(
            Level.INFO,
            "requester-approves",
            f"rule `{each.rule.id}` lets people approve what they asked for themselves; "
            "the log will say so of each such vote",
            *("approval", "requester_may_approve"),
        )
    if approval.fallback is Fallback.DENY and not is_self:
        yield each.finding(
            Level.WARNING,
            "no-effect",
            "`fallback` is about clients that can't be asked, and only `users: [self]` asks them",
            *("approval", "fallback"),
        )


# --- times ---------------------------------------------------------------------------------------


def _times(each: Surveyed, approval: Approval) -> Iterator[Finding]:
    ends = duration(approval.expires)
    if approval.not_before is not None and approval.not_before >= approval.expires:
        yield each.finding(
            Level.ERROR,
            "never-approved",
            f"`not_before` is not before the end: a request expires after {ends}",
            *("approval", "not_before"),
        )
    for index, step in enumerate(approval.escalate):
        if step.after >= approval.expires:
            yield each.finding(
                Level.ERROR,
                "never-escalates",
                f"`after` is not before the end: a request expires after {ends}",
                *("approval", "escalate", index, "after"),
            )
    for name, seconds in (("expires", approval.expires), ("use_within", approval.use_within)):
        if seconds is not None and seconds > _LONGEST_S:
            yield each.finding(
                Level.WARNING,
                "stale-approval",
                f"`{name}` is more than 30 days: what people saw may no longer be so when it is "
                "sent",
                *("approval", name),
            )


# --- contracts -----------------------------------------------------------------------------------


def _notes(contract: Contract) -> Iterator[Finding]:
    """Check what a contract has people shown, against its schema and what it calls sensitive."""
    for section, pointer in _shown(contract):
        schema = schema_at(contract.input_schema, pointer)
        said = f"`approval.{section}`"
        if schema is None:
            message = f"{said}: `{contract.tool}` has no argument `{pointer}`"
            yield about(contract, "unknown-argument", message, Level.ERROR)
        kind = schema.get("type") if isinstance(schema, dict) else None
        if section == "confirm" and kind in ("object", "array"):
            message = f"{said}: `{pointer}` is an {kind}, which nobody can type"
            yield about(contract, "confirm-untypable", message, Level.ERROR)
        yield from _sensitive(contract, section, pointer)


def _shown(contract: Contract) -> Iterator[tuple[str, JsonPointer]]:
    notes = contract.approval
    for reference in references(notes.summary):
        yield "summary", "".join(f"/{escape(str(step))}" for step in reference.steps)
    for pointer in (notes.show or {}).values():
        yield "show", pointer
    if notes.confirm:
        yield "confirm", notes.confirm


def _sensitive(contract: Contract, section: str, pointer: JsonPointer) -> Iterator[Finding]:
    kinds = {
        kind
        for pattern, kind in contract.sensitive.items()
        if _covers(pattern.split("/"), pointer.split("/"))
    }
    said = f"`approval.{section}`: `{pointer}`"
    if Sensitivity.SECRET in kinds:
        message = f"{said} is secret, and hidden from approvers; name something else"
        yield about(contract, "secret-shown", message, Level.ERROR)
    elif kinds and section != "confirm":
        message = f"{said} is personal, and would be told in notices to webhooks too"
        yield about(contract, "personal-shown", message, Level.WARNING)


def _covers(pattern: Sequence[str], pointer: Sequence[str]) -> bool:
    """Whether a pointer is at a pattern or below it."""
    return len(pattern) <= len(pointer) and all(
        part in ("*", token) for part, token in zip(pattern, pointer, strict=False)
    )

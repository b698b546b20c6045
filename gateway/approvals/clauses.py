"""Clauses as JSON: a request keeps the one that it was made under, whatever the rule says later."""

from typing import Final, NoReturn

from gateway.errors import WeighbridgeError
from gateway.types.approvals import ApprovalClause, Assurance, Escalation, Factor, Fallback
from gateway.types.json import Json, JsonObject

# Counted up when the meaning of a member changes. A gateway that does not know the version reads
# nothing at all: half a clause could let somebody decide who may not.
VERSION: Final = 1


class ClauseError(WeighbridgeError):
    """A kept clause that this gateway can't read."""


def to_json(clause: ApprovalClause) -> JsonObject:
    """Return a clause with every member written out, so that its digest depends on no default."""
    return {
        "v": VERSION,
        "factors": [
            {
                "name": each.name,
                "roles": list(each.roles),
                "users": list(each.users),
                "count": each.count,
            }
            for each in clause.factors
        ],
        "denials": clause.denials,
        "requester_may_approve": clause.requester_may_approve,
        "self_confirm": clause.self_confirm,
        "min_assurance": str(clause.min_assurance),
        "not_before_s": clause.not_before_s,
        "expires_s": clause.expires_s,
        "use_within_s": clause.use_within_s,
        "escalation": [
            {"after_s": each.after_s, "roles": list(each.roles), "users": list(each.users)}
            for each in clause.escalation
        ],
        "fallback": str(clause.fallback),
    }


def from_json(value: Json) -> ApprovalClause:
    """Return the clause that `to_json` wrote; raises ClauseError for anything else."""
    whole = _Members(value)
    if whole.count("v") != VERSION:
        raise ClauseError("the approval was made by another version of the gateway")
    try:
        return ApprovalClause(
            factors=tuple(map(_factor, whole.many("factors"))),
            denials=whole.count("denials"),
            requester_may_approve=whole.flag("requester_may_approve"),
            self_confirm=whole.flag("self_confirm"),
            min_assurance=Assurance(whole.text("min_assurance")),
            not_before_s=whole.number("not_before_s"),
            expires_s=whole.number("expires_s"),
            use_within_s=whole.number_or_none("use_within_s"),
            escalation=tuple(map(_escalation, whole.many("escalation"))),
            fallback=Fallback(whole.text("fallback")),
        )
    except ValueError as error:  # a member of an enumeration that is not known here
        raise ClauseError(f"the clause of an approval can't be read: {error}") from None


def _factor(value: Json) -> Factor:
    members = _Members(value)
    return Factor(
        name=members.text("name"),
        roles=members.texts("roles"),
        users=members.texts("users"),
        count=members.count("count"),
    )


def _escalation(value: Json) -> Escalation:
    members = _Members(value)
    return Escalation(
        after_s=members.number("after_s"),
        roles=members.texts("roles"),
        users=members.texts("users"),
    )


class _Members:
    """The members of one object, each as the type that it has to have."""

    def __init__(self, value: Json) -> None:
        if not isinstance(value, dict):
            raise ClauseError("the clause of an approval can't be read: not an object")
        self._value = value

    def text(self, name: str) -> str:
        found = self._value.get(name)
        return found if isinstance(found, str) else self._refuse(name)

    def flag(self, name: str) -> bool:
        found = self._value.get(name)
        return found if isinstance(found, bool) else self._refuse(name)

    def count(self, name: str) -> int:
        found = self._value.get(name)
        if isinstance(found, bool) or not isinstance(found, int):
            self._refuse(name)
        return found

    def number(self, name: str) -> float:
        found = self._value.get(name)
        if isinstance(found, bool) or not isinstance(found, int | float):
            self._refuse(name)
        return float(found)

    def number_or_none(self, name: str) -> float | None:
        return None if self._value.get(name, 0) is None else self.number(name)

    def many(self, name: str) -> list[Json]:
        found = self._value.get(name)
        return found if isinstance(found, list) else self._refuse(name)

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(
            each if isinstance(each, str) else self._refuse(name) for each in self.many(name)
        )

    def _refuse(self, name: str) -> NoReturn:
        raise ClauseError(f"the clause of an approval can't be read: `{name}`")

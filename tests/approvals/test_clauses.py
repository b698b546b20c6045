from typing import Any

import pytest

from gateway import jsontext
from gateway.approvals.clauses import ClauseError, from_json, to_json
from gateway.types.approvals import ApprovalClause, Assurance, Escalation, Factor, Fallback
from gateway.types.json import JsonObject

PLAIN = ApprovalClause(factors=(Factor(name="leads", roles=("lead",)),))
FULL = ApprovalClause(
    factors=(
        Factor(name="finance", roles=("finance-lead", "cfo"), count=2),
        Factor(name="named", users=("zoë@acme.example",)),
    ),
    denials=2,
    requester_may_approve=True,
    self_confirm=True,
    min_assurance=Assurance.AUTHENTICATED,
    not_before_s=60.5,
    expires_s=7200,
    use_within_s=900,
    escalation=(Escalation(after_s=600, roles=("head",), users=("max",)),),
    fallback=Fallback.DENY,
)


def changed(**members: Any) -> JsonObject:
    return {**to_json(FULL), **members}


@pytest.mark.parametrize("clause", [PLAIN, FULL])
def test_a_clause_comes_back_from_its_text(clause: ApprovalClause) -> None:
    assert from_json(jsontext.parse(jsontext.canonical(to_json(clause)))) == clause


def test_the_digest_of_a_clause_is_the_one_that_earlier_gateways_wrote() -> None:
    """A change of this digest voids what people decided: it needs another version."""
    assert jsontext.digest(to_json(PLAIN)) == (
        "sha256:7fad8a69316be0cb55ab0a1356c7f8b27831a55172ec4f72ad39397fb96f218a"
    )


@pytest.mark.parametrize(
    "kept",
    [
        [],
        None,
        changed(v=2),
        changed(factors={}),
        changed(factors=[[]]),
        changed(factors=[{"name": "a", "roles": [1], "users": [], "count": 1}]),
        changed(factors=[{"name": "a", "roles": [], "users": [], "count": True}]),
        changed(requester_may_approve=1),
        changed(min_assurance="certain"),
        changed(fallback=None),
        changed(denials="1"),
        changed(use_within_s="soon"),
        {name: member for name, member in to_json(FULL).items() if name != "use_within_s"},
    ],
)
def test_half_a_clause_is_none(kept: Any) -> None:
    with pytest.raises(ClauseError):
        from_json(kept)

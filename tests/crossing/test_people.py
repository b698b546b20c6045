"""How people are asked about a judged call."""

from gateway.approvals.lines import MOST_BYTES
from gateway.case import Case
from gateway.crossing.people import is_too_large
from gateway.store.keys import TenantKeys
from gateway.store.requests import REPEAT, VARIANT
from gateway.store.vault import Vault
from gateway.types.approvals import ApprovalClause, Factor
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.guarantees import Idempotency, OnVariant
from gateway.types.tools import Effect
from tests.helpers.cases import a_case, a_contract
from tests.helpers.operations import wanted
from tests.helpers.people import some_people

LEADS = ApprovalClause(factors=(Factor(name="leads", roles=("lead",)),))
CHIEFS = ApprovalClause(factors=(Factor(name="chiefs", roles=("chief",)),))
VAULT = Vault(TenantKeys(b"s" * 32).operations)


def a_held_case(clause: ApprovalClause | None = LEADS) -> Case:
    decision = Decision(effect=DecisionEffect.REQUIRE_APPROVAL, rule="r", approval=clause)
    return a_case(decision=decision, contract=a_contract(effect=Effect.WRITE))


def test_the_rule_says_who_decides_and_the_configuration_where_none_does() -> None:
    people = some_people(VAULT, default=CHIEFS)
    assert people.clause(a_held_case()) is LEADS
    assert people.clause(a_held_case(None)) is CHIEFS
    assert some_people(VAULT).clause(a_held_case(None)) is None


def test_nobody_is_asked_about_what_is_allowed() -> None:
    people = some_people(VAULT, default=LEADS)
    allowed = a_case(decision=Decision(effect=DecisionEffect.ALLOW))
    assert people.asking(allowed) is None
    again = people.asking(allowed, repeats=True)
    assert again is not None
    assert again.made(wanted(), None).rule == REPEAT


def test_a_contract_may_have_people_asked_about_variants_only() -> None:
    people = some_people(VAULT, default=LEADS)
    contract = a_contract(
        effect=Effect.WRITE, idempotency=Idempotency(on_variant=OnVariant.APPROVE)
    )
    case = a_case(decision=Decision(effect=DecisionEffect.ALLOW), contract=contract)
    asking = people.asking(case)
    assert asking is not None
    assert not asking.is_due
    assert asking.made(wanted(), None).rule == VARIANT


def test_a_request_is_made_once_however_often_its_transaction_runs() -> None:
    asking = some_people(VAULT).asking(a_held_case())
    assert asking is not None
    operation = wanted()
    first = asking.made(operation, None)
    assert asking.made(operation, None) is first
    assert first.binding == asking.binding(operation.op_id)
    assert first.decide_by - first.created_at == 1800 * 1_000_000


def test_more_than_a_person_reads_is_too_large() -> None:
    assert not is_too_large({"note": "x" * 100})
    assert is_too_large({"note": "x" * MOST_BYTES})


def test_a_binding_gives_nothing_of_the_arguments_away_to_who_can_guess_them() -> None:
    found: set[str] = set()
    for secret in (b"s" * 32, b"t" * 32):
        asking = some_people(Vault(TenantKeys(secret).operations)).asking(a_held_case())
        assert asking is not None
        found.add(asking.binding("op_1"))
    assert len(found) == 2  # all else is the same: it takes the key of the store to try a guess

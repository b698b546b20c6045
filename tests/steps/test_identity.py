"""Step 3: identity."""

import pytest

from gateway.steps import identity
from gateway.types.outcomes import Refusal, Status
from tests.helpers.cases import a_case, a_contract, an_actor


def test_the_scopes_of_the_contract_must_hold() -> None:
    contract = a_contract(scopes=frozenset({"payments:write"}))
    answer = identity.check(a_case(contract=contract))
    assert isinstance(answer, Refusal)
    assert answer.status is Status.FORBIDDEN
    assert answer.scopes == ("payments:write",)


def test_an_actor_with_the_scopes_passes() -> None:
    case = a_case(contract=a_contract(scopes=frozenset({"crm:read"})))
    assert identity.check(case) is case


@pytest.mark.parametrize("gap", [{"tenant": ""}, {"user": ""}])
def test_nobody_acts_without_user_and_tenant(gap: dict[str, str]) -> None:
    answer = identity.check(a_case(actor=an_actor(**gap)))
    assert isinstance(answer, Refusal)
    assert answer.status is Status.UNAUTHENTICATED

"""Who sees what of the log."""

from typing import Any

import pytest

from gateway.admin.auditors import Auditors, Sight
from gateway.config.settings import Settings
from gateway.types.approvals import Approver, Assurance, Channel
from tests.admin.house import PEOPLE


def sight(entries: list[dict[str, Any]], *, tenant: str = "acme", roles: str = "audit") -> Sight:
    settings = Settings.model_validate({"admin": {**PEOPLE["admin"], "auditors": entries}})
    return Auditors(settings=settings).sight(a_person(tenant, roles))


def a_person(tenant: str, roles: str) -> Approver:
    return Approver(
        tenant=tenant,
        user="ann",
        roles=frozenset(roles.split()),
        assurance=Assurance.LOCAL,
        channel=Channel.PAGE,
    )


def test_without_an_entry_somebody_sees_the_events_of_his_tenant_and_no_policy() -> None:
    seen = sight([])
    assert (seen.is_auditor, seen.others, seen.looks_at("")) == (False, False, ("acme",))
    assert seen.looks_at("globex") is None
    assert not seen.sees("")  # what belongs to no tenant


def test_a_role_opens_nothing_for_people_of_another_tenant() -> None:
    entry = {"tenant": "acme", "roles": ["audit"], "sees": ["*"]}
    assert not sight([entry], tenant="globex").is_auditor
    assert not sight([entry], roles="lead").is_auditor
    assert sight([entry]).is_all


@pytest.mark.parametrize(
    ("sees", "asked", "tenants"),
    [
        ([], "", ("acme",)),
        (["globex"], "", ("acme", "globex")),
        (["globex"], "globex", ("globex",)),
        (["globex"], "initech", None),
        (["*"], "", ()),
        (["*"], "initech", ("initech",)),
    ],
)
def test_an_auditor_looks_at_the_tenants_that_he_sees(
    sees: list[str], asked: str, tenants: tuple[str, ...] | None
) -> None:
    seen = sight([{"tenant": "acme", "sees": sees}])
    assert seen.is_auditor
    assert seen.looks_at(asked) == tenants


def test_whoever_has_the_gateway_to_himself_sees_all_of_it() -> None:
    auditors = Auditors(settings=Settings.model_validate({}))
    seen = auditors.sight(a_person("local", ""))
    assert (seen.is_all, seen.is_auditor) == (True, True)
    assert auditors.is_one(a_person("local", ""))

"""Methods, and who proposes a call."""

from dataclasses import replace

import pytest

from gateway.types.actors import Actor
from gateway.types.calls import AuthMethod, Method, Nobody, actor_of
from tests.helpers.cases import a_principal


def test_every_method_is_a_task_a_question_or_neither_and_never_both() -> None:
    assert {method for method in Method if method.is_task} == {
        method for method in Method if method.startswith("tasks/")
    }
    assert {method.value for method in Method if method.is_ask} == {
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
        "notifications/message",
    }


def test_a_renewed_credential_has_the_same_owner() -> None:
    before = a_principal(scopes=frozenset({"a"}), roles=frozenset({"b"}))
    assert before.owner == a_principal(scopes=frozenset(), roles=frozenset()).owner


@pytest.mark.parametrize(
    "change",
    [
        *({name: "other"} for name in ("issuer", "subject", "client", "tenant", "user")),
        {"method": AuthMethod.JWT},
    ],
    ids=str,
)
def test_whoever_differs_in_anything_that_is_proved_is_another_owner(
    change: dict[str, str],
) -> None:
    assert a_principal(**change).owner != a_principal().owner


async def test_nobody_can_be_told_everything_and_asked_nothing() -> None:
    nobody = Nobody()
    await nobody.progress(1, 2, "half")
    await nobody.log({"level": "info"})
    assert nobody.capabilities == {}
    with pytest.raises(NotImplementedError):
        await nobody.ask("roots/list", {}, within_s=1)


def test_who_acts_is_told_once_and_is_no_part_of_what_a_principal_is() -> None:
    principal = a_principal(roles=frozenset({"agent"}))
    assert actor_of(principal) is principal.actor
    assert principal.actor == Actor(
        user=principal.user,
        tenant=principal.tenant,
        roles=frozenset({"agent"}),
        scopes=principal.scopes,
        client=principal.client,
        method="api_key",
        issuer=principal.issuer,
    )
    other = replace(principal, tenant="initech")
    assert (other.actor.tenant, other.owner == principal.owner) == ("initech", False)
    assert hash(principal) == hash(a_principal(roles=frozenset({"agent"})))
    assert "actor" not in repr(principal)

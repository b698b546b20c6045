from typing import Any

from gateway.replay.permissions import Permissions, Unused
from gateway.replay.types import Recorded
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.values import replaced
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.replays import a_known_case, a_law, policy, recorded, rule

TOOLS = [a_tool(a_definition(name), server) for server, name in (
    ("crm", "find"), ("crm", "note"), ("pay", "refund"), ("pay", "cancel"),
)]  # fmt: skip


def of_roles(id: str, *roles: str, tools: str, **more: Any) -> dict[str, Any]:
    return rule(id, match={"tools": [tools], "roles": {"any": [*roles]}}, **more)


LEADS = {"approvers": {"roles": ["lead"]}}
LAW = a_law(
    policy(
        of_roles("crm", "support", "finance", tools="crm.*"),
        of_roles("pay", "finance", tools="pay.*", decision="require_approval", approval=LEADS),
        of_roles("not", "viewer", tools="crm.*", decision="deny"),
        of_roles("watched", "auditor", tools="crm.*", mode="shadow"),
        rule("all", match={"tools": ["pay.refund"]}),
    ),
    *(a_contract(tool) for tool in TOOLS),
)


def a_call(tool: str, *roles: str, **changes: object) -> Recorded:
    found = recorded(a_known_case(LAW, {}))
    actor = type(found.actor)(
        user="sam",
        tenant="acme",
        roles=frozenset(roles),
        scopes=frozenset(),
        client="",
        method="api_key",
        issuer="",
    )
    judged = replaced(found.judged, effect=DecisionEffect.ALLOW)
    return replaced(found, **{"tool": tool, "actor": actor, "judged": judged, **changes})


def unused(*calls: Recorded) -> list[str]:
    permissions = Permissions.of(LAW)
    for call in calls:
        permissions.take(call)
    return [str(each) for each in permissions.unused()]


def test_what_a_role_never_used_is_told_by_server_where_that_is_all_of_it() -> None:
    assert unused() == ["finance on crm.*, pay.*", "support on crm.*"]
    assert unused(a_call("crm.find", "support")) == [
        "finance on crm.*, pay.*",
        "support on crm.note",
    ]


def test_a_call_uses_the_permissions_of_all_roles_of_its_actor() -> None:
    calls = [a_call(tool.key, "support", "finance", "other") for tool in TOOLS]
    assert unused(*calls) == []


def test_what_was_denied_or_is_no_call_of_a_tool_uses_nothing() -> None:
    found = a_call("crm.find", "support")
    denied = replaced(found, judged=replaced(found.judged, effect=DecisionEffect.DENY))
    task = replaced(found, method=Method.GET_TASK)
    assert unused(denied, task) == unused()


def test_programs_get_roles_with_their_tools() -> None:
    assert Unused(role="r", tools=("a.*", "b.c")).as_json() == {
        "role": "r",
        "tools": ["a.*", "b.c"],
    }

"""Who could call a tool on a day, and who did."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from gateway.actions import answers_access, revisions
from gateway.actions.answers_access import WHO_COULD
from gateway.contracts import writing
from gateway.events import admin
from gateway.revision import Revision, Unreviewed
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import NOW, a_contract, a_tool, an_actor
from tests.helpers.events import an_event

POLICY = """\
apiVersion: weighbridge/v1
rules:
  - id: reading
    decision: allow
    match: {tools: [crm.*], roles: {any: [support, lead], all: [staff]}, scopes: {all: [crm:read]}}
  - id: night
    decision: deny
    mode: shadow
    match: {tools: [crm.find], tenants: [globex], users: [kim], phases: [acting]}
    when: now.getHours() < 6
  - id: asking
    decision: require_approval
    match: {tools: [crm.find]}
    approval: {approvers: {roles: [lead], users: [ann]}}
  - id: elsewhere
    decision: allow
    match: {tools: [mail.*]}
  - id: fields
    decision: obligation
    match: {tools: [crm.find]}
    output: {keep: [/id]}
"""


def a_revision(policy: str = POLICY, *, unreviewed: Unreviewed = Unreviewed.REFUSE) -> Revision:
    tool = a_tool({"name": "find", "inputSchema": {"type": "object"}}, "crm")
    contract = a_contract(
        tool,
        definition=tool.definition,
        effect=Effect.READ,
        risk=Risk.LOW,
        scopes=frozenset({"crm:read", "desk"}),
    )
    texts = {"contracts/crm.yaml": writing.dump([contract]), "crm.yaml": policy}
    return revisions.compiled(revisions.folder_of(texts), unreviewed=unreviewed, at=NOW)


async def in_force(store: Store, id: str, hours: float) -> None:
    at = NOW + timedelta(hours=hours)
    store.events.append([admin.policy_activated(id=f"p{hours}", at=at, revision=id, by="x")])
    await store.events.kept()


async def asked(store: Store, found: Revision | None, tool: str = "crm.find", **how: Any) -> Any:
    async def compiled(id: str) -> Revision | None:
        return found if id != "gone" else None

    span: dict[str, Any] = {"since": NOW, "until": NOW + timedelta(days=1), **how}
    return await rows(answers_access.who_could(store.events, tool, compiled, **span))


async def rows(found: AsyncIterator[JsonObject]) -> list[Any]:
    return [row async for row in found]


async def test_contract_and_rules_say_who_could_the_strongest_first(store: Store) -> None:
    await in_force(store, "r1", -5)
    found = await asked(store, a_revision())
    assert [row["what"] for row in found] == [
        *("contract", "deny", "require_approval", "allow", "otherwise"),
    ]
    contract, denies, asks, allows, rest = found
    assert (contract["scopes"], contract["also"]) == ("crm:read + desk", "effect read, class low")
    assert (denies["tenants"], denies["users"], denies["when"]) == (
        *("globex", "kim", "now.getHours() < 6"),
    )
    assert denies["also"] == "phase acting; in shadow: never enforced"
    assert asks["also"] == "approval by 1 of ann | lead"
    assert (allows["rule"], allows["roles"], allows["scopes"]) == (
        *("reading", "lead | support + staff", "crm:read"),
    )
    assert allows["place"] == "crm.yaml:3"
    assert rest["also"] == "deny (no_matching_rule)"
    assert {row["revision"] for row in found} == {"r1"}
    assert all(set(row) <= set(WHO_COULD) for row in found)


async def test_of_a_tenant_only_rules_for_it_are_told(store: Store) -> None:
    await in_force(store, "r1", -5)
    found = await asked(store, a_revision(), tenant="acme")
    assert "deny" not in [row["what"] for row in found]


async def test_all_revisions_of_the_day_are_told_each_once(store: Store) -> None:
    for id, hours in (("r0", -9), ("r1", -5), ("r1", 1), ("r2", 2), ("gone", 3), ("r9", 30)):
        await in_force(store, id, hours)
    found = await asked(store, a_revision())
    told = [(row["revision"], row["from"][:13]) for row in found]
    assert list(dict.fromkeys(told)) == [
        ("r1", "2026-11-30T04"),
        ("r2", "2026-11-30T11"),
        ("gone", "2026-11-30T12"),
    ]
    assert found[-1]["what"] == "not kept"


async def test_a_tool_without_a_contract_could_be_called_by_nobody_unless_told(
    store: Store,
) -> None:
    await in_force(store, "r1", -5)
    first, *_ = await asked(store, a_revision(), "crm.other")
    assert (first["what"], first["also"]) == ("no contract", "so nobody could call it")
    first, *_ = await asked(store, a_revision(unreviewed=Unreviewed.OBSERVE), "crm.other")
    assert first["what"] == "allow"


async def test_who_called_is_told_with_how_it_was_decided(store: Store) -> None:
    kind, stage = EventKind.AUTHORIZATION, Stage.DECIDED

    def called(user: str, decision: str, **more: Any) -> Any:
        body = {"tool": "crm.find", "decision": decision}
        actor = an_actor(user=user, roles=frozenset({"b", "a"}))
        return an_event(**{"kind": kind, "stage": stage, "body": body, "actor": actor} | more)

    store.events.append(
        [
            called("sam", "allow"),
            called("sam", "deny"),
            called("sam", "allow"),
            called("kim", "allow", tenant="globex"),
            called("old", "allow", at=NOW - timedelta(hours=1)),
        ]
    )
    await store.events.kept()
    found = await asked(store, None)
    assert [(row["users"], row["tenants"], row["also"], row["calls"]) for row in found] == [
        ("sam", "acme", "allow 2, deny 1", 3),
        ("kim", "globex", "allow 1", 1),
    ]
    assert found[0]["roles"] == "a + b"
    assert [row["users"] for row in await asked(store, None, tenant="globex")] == ["kim"]

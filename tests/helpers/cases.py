"""Builders of the values that decisions depend on: every one valid, each field can be set."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gateway.case import Case, Facts, Origin
from gateway.contracts import pins, schemas
from gateway.policy import compile as policies
from gateway.policy import files as policy_files
from gateway.revision import Revision, Unreviewed
from gateway.types.actors import Actor
from gateway.types.calls import AuthMethod, Nobody, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect, Kind, Risk, Tool

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ALLOW_ALL = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"


class AbsentCaller(Nobody):
    """A caller that asked for nothing."""

    protocol_version = "2026-07-28"
    transport = "http"


def a_principal(**changes: Any) -> Principal:
    fields: dict[str, Any] = {
        "issuer": "keys",
        "subject": "sam-key",
        "client": "test",
        "tenant": "acme",
        "user": "sam",
        "roles": frozenset({"support"}),
        "scopes": frozenset({"crm:read"}),
        "method": AuthMethod.API_KEY,
    }
    return Principal(**(fields | changes))


def a_call(
    name: str = "crm__find", arguments: JsonObject | None = None, **changes: Any
) -> ProposedCall:
    fields: dict[str, Any] = {
        "call_id": "call_1",
        "name": name,
        "arguments": {} if arguments is None else arguments,
        "meta": {},
        "principal": a_principal(),
        "caller": AbsentCaller(),
        "received_at": NOW,
    }
    return ProposedCall(**(fields | changes))


def a_definition(
    name: str = "find", properties: Mapping[str, Any] | None = None, **changes: Any
) -> JsonObject:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties or {})}
    return {"name": name, "description": "d", "inputSchema": schema} | changes


def a_tool(definition: JsonObject | None = None, server: str = "crm", **changes: Any) -> Tool:
    definition = a_definition() if definition is None else definition
    name = str(definition["name"])
    fields: dict[str, Any] = {
        "server": server,
        "name": name,
        "exposed_name": f"{server}__{name}",
        "definition": definition,
        "pin": pins.pin(definition),
    }
    return Tool(**(fields | changes))


def a_contract(tool: Tool | None = None, **changes: Any) -> Contract:
    tool = tool or a_tool()
    fields: dict[str, Any] = {
        "tool": tool.key,
        "pin": tool.pin,
        "effect": Effect.READ,
        "risk": Risk.LOW,
        "definition": tool.definition,
    }
    return Contract(**(fields | changes))


def a_revision(
    contracts: Sequence[Contract] = (),
    policy: str = ALLOW_ALL,
    unreviewed: Unreviewed = Unreviewed.REFUSE,
) -> Revision:
    compiled = policies.compile_policy([policy_files.load(policy, file="policy.yaml")])
    compiled.revision = "sha256:test"
    return Revision(
        id="sha256:test",
        contracts={contract.tool: contract for contract in contracts},
        schemas={contract.pin: schemas.compile_tool(contract.definition) for contract in contracts},
        policy=compiled,
        unreviewed=unreviewed,
    )


def an_actor(**changes: Any) -> Actor:
    fields: dict[str, Any] = {
        "user": "sam",
        "tenant": "acme",
        "roles": frozenset({"support"}),
        "scopes": frozenset({"crm:read"}),
        "client": "test",
        "method": "api_key",
        "issuer": "keys",
    }
    return Actor(**(fields | changes))


def a_case(
    sent: JsonObject | None = None,
    /,
    *,
    tool: Tool | None = None,
    contract: Contract | None = None,
    policy: str = ALLOW_ALL,
    origins: Mapping[str, tuple[Origin, ...]] | None = None,
    **changes: Any,
) -> Case:
    tool = tool or a_tool()
    contract = contract or a_contract(tool)
    fields: dict[str, Any] = {
        "call": a_call(tool.exposed_name, sent),
        "tool": tool,
        "contract": contract,
        "actor": an_actor(),
        "phase": Phase.ACTING,
        "facts": Facts(now=NOW, origins=origins or {}),
        "revision": a_revision([contract] if tool.kind is Kind.TOOL else [], policy),
    }
    return Case(**(fields | changes))


def a_resource(uri: str = "crm://notes/1", server: str = "crm", **changes: Any) -> Tool:
    definition: JsonObject = {"uri": uri, "name": "note"}
    fields: dict[str, Any] = {
        "server": server,
        "name": uri,
        "exposed_name": uri,
        "definition": definition,
        "pin": pins.pin(definition),
        "kind": Kind.RESOURCE,
    }
    return Tool(**(fields | changes))


def a_prompt(name: str = "greet", server: str = "crm", **changes: Any) -> Tool:
    definition: JsonObject = {"name": name, "arguments": [{"name": "who"}]}
    fields: dict[str, Any] = {
        "server": server,
        "name": name,
        "exposed_name": f"{server}__{name}",
        "definition": definition,
        "pin": pins.pin(definition),
        "kind": Kind.PROMPT,
    }
    return Tool(**(fields | changes))

"""What spans of many calls have in common, made once for all that are alike.

Of about forty attributes that the spans of a call have, five are its own. What calls have to share
to be alike is a value, and their common attributes are made of that value alone: nothing of one
call can get into the spans of another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from gateway.telemetry import attributes as keys
from gateway.telemetry.facts import CallFacts
from gateway.types.calls import Method
from gateway.types.decisions import ShadowDecision
from gateway.types.outcomes import Status
from gateway.types.tools import Kind

Pseudonym: TypeAlias = Callable[[str, str], str]  # (tenant, user) → what stands for the user
Value: TypeAlias = "str | int | float | tuple[str, ...]"
Values: TypeAlias = dict[str, Value]

_NETWORK: Final = {"http": "tcp", "stdio": "pipe"}


class Alike(NamedTuple):
    """All that calls have to have in common to be alike."""

    method: Method
    kind: Kind | None
    target: str
    server: str
    exposed_name: str
    pin: str
    cause: str
    transport: str
    protocol: str
    user: tuple[str, str, frozenset[str]] | None  # tenant, user, roles
    phase: str
    effect: str
    risk: str
    verdict: str
    code: str
    rule: str
    revision: str
    shadow: tuple[ShadowDecision, ...]
    observed: str
    enforcement: str
    status: Status
    reason: str
    executed: str
    failure: str
    error_code: int | None
    downstream_failure: str
    downstream_transport: str
    downstream_address: str
    downstream_version: str


@dataclass(slots=True, kw_only=True, eq=False)
class Shared:
    """Values that spans of many calls have; told from others by being the same object."""

    values: Values


@dataclass(slots=True, kw_only=True)
class Mould:
    """What the spans of calls that are alike are made with."""

    kind: Kind | None
    name: str
    authorize_name: str
    failure: str
    downstream_failure: str
    server: Shared
    authorize: Shared
    client: Shared


def alike(facts: CallFacts) -> Alike:
    """Return what the call has to share with others."""
    tool, actor = facts.tool, facts.actor
    return Alike(
        method=facts.method,
        kind=facts.kind,
        target=facts.target,
        server=facts.server,
        exposed_name=tool.exposed_name if tool is not None else "",
        pin=tool.pin if tool is not None else "",
        cause=facts.cause,
        transport=facts.transport,
        protocol=facts.protocol,
        user=(actor.tenant, actor.user, actor.roles) if actor is not None else None,
        phase=facts.phase,
        effect=facts.effect,
        risk=facts.risk,
        verdict=facts.verdict,
        code=facts.code,
        rule=facts.rule,
        revision=facts.revision,
        shadow=facts.shadow,
        observed=facts.observed,
        enforcement=facts.enforcement,
        status=facts.status,
        reason=facts.reason,
        executed=facts.executed,
        failure=facts.failure,
        error_code=facts.error_code,
        downstream_failure=facts.downstream_failure,
        downstream_transport=facts.downstream_transport,
        downstream_address=facts.downstream_address,
        downstream_version=facts.downstream_version,
    )


def mould_of(key: Alike, pseudonym: Pseudonym | None) -> Mould:
    """Return what the spans of such calls are made with.

    A URI would make a name of its own of every resource, so their spans are named by the method.
    """
    target, method = key.target, key.method.value
    return Mould(
        kind=key.kind,
        name=f"{method} {target}" if target else method,
        authorize_name=f"authorize {target or method}",
        failure=key.failure,
        downstream_failure=key.downstream_failure,
        server=Shared(values=_server(key, pseudonym)),
        authorize=Shared(values=_authorize(key)),
        client=Shared(values=_client(key)),
    )


def put_address(values: Values, text: str, address_key: str, port_key: str) -> None:
    """Note an address, its port apart where it has one."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.endswith("]")):
        values[address_key] = text  # no port: a name, or a bare IPv6 address
        return
    values[address_key] = host.strip("[]")
    values[port_key] = int(port)


def _server(key: Alike, pseudonym: Pseudonym | None) -> Values:
    values: Values = {
        **_common(key),
        **_mcp(key, key.failure),
        **_judgement(key),
        keys.PROTOCOL: key.protocol,
        keys.NETWORK: _NETWORK.get(key.transport, ""),
        keys.PHASE: key.phase,
        keys.STATUS: key.status.value,
        keys.EXECUTED: key.executed,
        keys.LIMIT if key.status is Status.LIMIT_EXCEEDED else keys.REASON: key.reason,
        keys.SCHEMA_HASH: key.pin,
    }
    if key.target and key.exposed_name != key.target:
        values[keys.EXPOSED_NAME] = key.exposed_name
    if key.user is not None:
        tenant, user, roles = key.user
        values[keys.TENANT] = tenant
        values[keys.ROLES] = tuple(sorted(roles))
        if pseudonym is not None:
            values[keys.USER] = pseudonym(tenant, user)
    return values


def _authorize(key: Alike) -> Values:
    values: Values = {
        **_common(key),
        **_judgement(key),
        keys.ENFORCEMENT: key.enforcement,
        keys.OBSERVED: key.observed,
    }
    for shadow in key.shadow:
        if shadow.effect != key.verdict:
            values[keys.SHADOW] = shadow.effect.value
            values[keys.SHADOW_RULE] = shadow.rule
            break
    return values


def _client(key: Alike) -> Values:
    values: Values = {
        **_common(key),
        **_mcp(key, key.downstream_failure),
        keys.RPC_STATUS: "" if key.error_code is None else str(key.error_code),
        keys.PROTOCOL: key.downstream_version,
        keys.NETWORK: _NETWORK.get(key.downstream_transport, ""),
    }
    put_address(values, key.downstream_address, keys.SERVER_ADDRESS, keys.SERVER_PORT)
    return values


def _common(key: Alike) -> Values:
    """Return what says what was called; a resource's URI is a value of each call."""
    values: Values = {keys.SERVER: key.server, keys.CAUSE: key.cause}
    if key.kind is Kind.TOOL:
        values[keys.TOOL] = key.target
    elif key.kind is Kind.PROMPT:
        values[keys.PROMPT] = key.target
    return values


def _mcp(key: Alike, failure: str) -> Values:
    return {
        keys.METHOD: key.method.value,
        keys.OPERATION: "execute_tool" if key.method is Method.CALL_TOOL else "",
        keys.ERROR_TYPE: failure,
    }


def _judgement(key: Alike) -> Values:
    return {
        keys.DECISION: key.verdict,
        keys.CODE: key.code,
        keys.RULE: key.rule,
        keys.REVISION: key.revision,
        keys.RISK: key.risk,
        keys.EFFECT: key.effect,
    }

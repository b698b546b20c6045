"""What a call that may change something asks for: its operation, before that is claimed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from gateway import ids, jsontext
from gateway.case import Case
from gateway.events import concealed
from gateway.operations import keys
from gateway.store.vault import Vault
from gateway.types.decisions import DecisionEffect
from gateway.types.guarantees import InjectPlace
from gateway.types.json import Json, JsonObject
from gateway.types.operations import IntentKey, KeySource, Operation, OpState, RetryClass
from gateway.types.tools import Contract

# Classes that do no harm beside one another.
_SENT_BESIDE: Final = frozenset({RetryClass.READ, RetryClass.NATURAL})
_SECOND: Final = 1_000_000
# What hosts call one use of a tool, the same when they send its request again.
_TRANSPORT_KEYS: Final = ("claudecode/toolUseId", "callId", "codex/callId")


def operation(
    case: Case, *, vault: Vault, shown: Callable[[Case], str], has_headers: bool = True
) -> Operation:
    """Return the operation of a call; raises `keys.KeyRefused` for a caller's key that is none.

    `shown` gives the arguments as people may see them; what was asked for is sealed. A server
    without headers gets no key in one, and so does not know a repeated request by it.
    """
    asked_for, contract = case.call.operation, case.contract
    injection = contract.idempotency.inject
    if injection is not None and injection.place is InjectPlace.HEADER and not has_headers:
        injection = None
    retry = contract.idempotency.retry
    retry = RetryClass.NEVER if retry is RetryClass.KEYED and injection is None else retry
    if asked_for is not None:  # its row is there, with a key of its own
        own = keys.own(case.arguments or {}, contract.idempotency.inject)
        digest = vault.digest(case.actor.tenant, own)
        return replace(
            asked_for,
            key=replace(asked_for.key, arguments=digest),
            call_id=case.call.call_id,
            state=OpState.READY,
            pin=contract.pin,
            revision=case.revision.id,
            retry=retry,
            injection=keys.place(injection),
            shown=shown(case),
            arguments=_sealed(case, vault, asked_for.key),
        )
    key, op_id = _key(case, vault), ids.new("op")
    compensation = contract.compensation
    return Operation(
        op_id=op_id,
        tenant=case.actor.tenant,
        run_id=case.run_id,
        user=case.actor.user,
        server=case.tool.server,
        tool=case.tool.key,
        pin=contract.pin,
        revision=case.revision.id,
        key=key,
        retry=retry,
        state=OpState.READY,
        call_id=case.call.call_id,
        downstream_key=keys.downstream_key(injection, key, op_id) if injection else "",
        injection=keys.place(injection),
        compensation=str(compensation.kind) if compensation is not None else "",
        shown=shown(case),
        arguments=_sealed(case, vault, key),
    )


def _sealed(case: Case, vault: Vault, key: IntentKey) -> str:
    """Seal what is sent, for whom, and what was asked for where policy has written into it."""
    arguments = case.arguments or {}
    body: JsonObject = {"arguments": arguments, "principal": _principal(case)}
    if case.call.arguments != arguments:
        body["asked"] = case.call.arguments
    if case.bound_by is not None:
        body["bound_by"] = str(case.bound_by)
    if case.call.concealed:
        body["concealed"] = concealed.to_json(case.call.concealed)
    return vault.seal(case.actor.tenant, key.key, jsontext.dump(body))


def is_alone(case: Case, asked_for: Operation) -> bool:
    """Whether a new operation must not be sent beside the same one that is open.

    The key may be another one by accident, unless its caller gave it; and calls of a tool that
    nobody has reviewed are each one of their own.
    """
    is_by_accident = asked_for.key.source is not KeySource.CALLER and case.contract.reviewed
    return is_by_accident and asked_for.retry not in _SENT_BESIDE


def known_for(contract: Contract) -> int:
    """Return for how many microseconds a server knows a request again by its key."""
    injection = contract.idempotency.inject
    return round(injection.known_for_s * _SECOND) if injection is not None else 0


def _key(case: Case, vault: Vault) -> IntentKey:
    call = case.call
    key = keys.derive(
        tenant=case.actor.tenant,
        principal=call.principal.owner,
        server=case.tool.server,
        tool=case.tool.key,
        within=case.within,
        arguments=case.arguments or {},
        idempotency=case.contract.idempotency,
        caller_key=keys.of_caller(call.meta, call.idempotency_key),
        transport_id=_transport_id(call.meta),
        digest=partial(vault.digest, case.actor.tenant),
    )
    is_held = case.decision.effect is DecisionEffect.REQUIRE_APPROVAL
    if case.contract.reviewed or key.source is KeySource.CALLER or is_held:
        return key  # who is held has to find his request again
    # Nobody has said what it does: it may well be a read, of which each is one of its own.
    return replace(key, key=jsontext.digest(["v1", "unreviewed", call.call_id]))


def _transport_id(meta: JsonObject) -> str | None:
    for name in _TRANSPORT_KEYS:
        value = meta.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def _principal(case: Case) -> JsonObject:
    """Return who asked, so that checks and the way back are made as the same principal."""
    principal = case.call.principal
    roles: list[Json] = [*sorted(principal.roles)]
    scopes: list[Json] = [*sorted(principal.scopes)]
    return {
        "issuer": principal.issuer,
        "subject": principal.subject,
        "client": principal.client,
        "tenant": principal.tenant,
        "user": principal.user,
        "roles": roles,
        "scopes": scopes,
        "method": str(principal.method),
    }

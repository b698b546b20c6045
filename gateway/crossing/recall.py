"""An operation as a case again: for late answers, checks and the way back, whoever runs them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.errors import JsonError, WeighbridgeError
from gateway.events import concealed
from gateway.store.vault import Vault, VaultBroken
from gateway.types.calls import AuthMethod, Nobody, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation
from gateway.types.runs import BindingKind, Place
from gateway.types.tools import Sensitivity, Tool

_EMPTY: Final[JsonObject] = {}


class Forgotten(WeighbridgeError):
    """What an operation was asked for is no longer kept, or can't be read here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an operation was asked for, and by whom."""

    arguments: JsonObject  # as sent
    original: JsonObject  # as asked for, before policy wrote into them
    principal: Principal
    concealed: Mapping[str, Sensitivity] = field(default_factory=dict[str, Sensitivity])
    bound_by: BindingKind = BindingKind.META  # how its call had found its run


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Reads what an operation keeps, and makes calls and cases of it."""

    vault: Vault
    case_for: Callable[[ProposedCall, Tool], Case | None]
    """The case of a call of a tool, or None when nobody has reviewed that."""
    tool: Callable[[str], Tool | None]
    """The tool with a key, when its server is there."""
    clock: Clock

    def asked(self, operation: Operation) -> Asked:
        """Return what was asked for; raises `Forgotten`."""
        try:
            sealed = self.vault.open(operation.tenant, operation.key.key, operation.arguments)
            body = jsontext.parse_result(sealed)
        except (VaultBroken, JsonError) as error:
            raise Forgotten(f"what `{operation.op_id}` was asked for can't be read") from error
        if not isinstance(body, dict):
            raise Forgotten(f"what `{operation.op_id}` was asked for can't be read")
        arguments = _object(body.get("arguments"))
        return Asked(
            arguments=arguments,
            original=_object(body.get("asked", arguments)),
            principal=_principal(_object(body.get("principal"))),
            concealed=concealed.from_json(body.get("concealed")),
            bound_by=BindingKind(str(body.get("bound_by", BindingKind.META))),
        )

    def call(self, operation: Operation, *, call_id: str) -> ProposedCall:
        """Return the call of an operation once more, from nobody who waits; raises `Forgotten`."""
        asked = self.asked(operation)
        run_id = operation.run_id
        return ProposedCall(
            call_id=call_id,
            name=operation.tool,
            arguments=asked.original,
            meta=_EMPTY,
            principal=asked.principal,
            caller=Nobody(),
            received_at=self.clock.now(),
            concealed=asked.concealed,
            run=Place(kind=asked.bound_by, value=run_id) if run_id else None,
        )

    def case(self, operation: Operation) -> Case:
        """Return the case of an operation's last attempt, as far as it is kept.

        Raises `Forgotten`, also when nobody has a contract for its tool any more.
        """
        call = self.call(operation, call_id=operation.call_id)
        tool = self.tool(operation.tool) or _away(operation)
        case = self.case_for(call, tool)
        if case is None:
            raise Forgotten(f"there is no contract for `{operation.tool}` any more")
        contract = case.contract
        return replace(
            case,
            arguments=self.asked(operation).arguments,
            operation=operation,
            run_id=operation.run_id,
            effect=contract.effect,
            risk=contract.risk,
        )


def _away(operation: Operation) -> Tool:
    """Stand for a tool whose server is not there."""
    name = operation.tool.removeprefix(f"{operation.server}.")
    return Tool(
        server=operation.server,
        name=name,
        exposed_name=operation.tool,
        definition=_EMPTY,
        pin=operation.pin,
    )


def _principal(kept: JsonObject) -> Principal:
    return Principal(
        issuer=str(kept.get("issuer", "")),
        subject=str(kept.get("subject", "")),
        client=str(kept.get("client", "")),
        tenant=str(kept.get("tenant", "")),
        user=str(kept.get("user", "")),
        roles=_texts(kept.get("roles")),
        scopes=_texts(kept.get("scopes")),
        method=AuthMethod(str(kept.get("method", AuthMethod.LOCAL))),
    )


def _texts(value: Json) -> frozenset[str]:
    return frozenset(str(each) for each in value) if isinstance(value, list) else frozenset()


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}

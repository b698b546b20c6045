"""The binding: what a decision is about, as one digest that every vote repeats."""

from collections.abc import Sequence
from typing import Final

from gateway import jsontext
from gateway.types.json import Json
from gateway.types.values import value

_VERSION: Final = 1
SHORT: Final = 8  # hex digits that a person compares or types


@value
class Bound:
    """The call that is decided, without the operation that it belongs to; digests as text."""

    tenant: str
    principal: Sequence[str]  # issuer, subject, client, tenant, user, method
    run_id: str
    server: str
    tool: str
    pin: str
    contract: str  # digest over what was reviewed
    arguments: str  # keyed digest over what is sent: the rest of a binding is no secret


def bind(bound: Bound, op_id: str) -> str:
    """Return `sha256:…` over the RFC 8785 form; rule and revision are not in it (ADR 0013).

    The key that a server gets is made of the operation, so it is bound as well.
    """
    what: Json = {
        "v": _VERSION,
        "tenant": bound.tenant,
        "principal": list(bound.principal),
        "run": bound.run_id,
        "server": bound.server,
        "tool": bound.tool,
        "pin": bound.pin,
        "contract": bound.contract,
        "arguments": bound.arguments,
        "operation": op_id,
    }
    return jsontext.digest(what)


def short(binding: str) -> str:
    """Return the first hex digits, for people."""
    return binding.removeprefix("sha256:")[:SHORT]

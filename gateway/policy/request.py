"""What a decision may depend on, and how expressions see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.policy.methods import Target
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import value


@value
class PolicyRequest:
    """One request as the policy sees it; arguments are already valid against the pinned schema.

    For what a server asks, the target is the one of the call that it works on, and the arguments
    are the question's own.
    """

    tool: str  # `server.name` of a tool or prompt, the URI of a resource
    server: str
    effect: Effect
    risk: Risk
    pin: str  # of the definition that the server publishes now
    pinned: str  # of the definition that people reviewed
    actor: Actor
    phase: Phase
    arguments: JsonObject
    now: datetime  # UTC
    run_id: str
    method: Method = Method.CALL_TOOL
    kind: Kind = Kind.TOOL
    cause: Cause = Cause.CALLER

    @property
    def target(self) -> Target:
        """What decides which rules are about the request."""
        return Target(self.method, self.kind, self.tool, self.server)


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that expressions may use: its CEL type, and where its value comes from."""

    type: str
    read: Callable[[PolicyRequest, Risk], Json | datetime]


# The second operand is the class of the call after rules have raised it.
VARIABLES: Mapping[str, Variable] = {
    "args": Variable("dyn", lambda call, _: call.arguments),
    "identity.user": Variable("string", lambda call, _: call.actor.user),
    "identity.tenant": Variable("string", lambda call, _: call.actor.tenant),
    "identity.roles": Variable("list<string>", lambda call, _: [*sorted(call.actor.roles)]),
    "identity.scopes": Variable("list<string>", lambda call, _: [*sorted(call.actor.scopes)]),
    "identity.client": Variable("string", lambda call, _: call.actor.client),
    "request.method": Variable("string", lambda call, _: str(call.method)),
    "request.cause": Variable("string", lambda call, _: str(call.cause)),
    "resource.uri": Variable(
        "string", lambda call, _: call.tool if call.kind is Kind.RESOURCE else ""
    ),
    "tool.name": Variable("string", lambda call, _: call.tool),
    "tool.server": Variable("string", lambda call, _: call.server),
    "tool.effect": Variable("string", lambda call, _: str(call.effect)),
    "tool.risk": Variable("string", lambda _, risk: str(risk)),
    "tool.schema_hash": Variable("string", lambda call, _: call.pin),
    "tool.pinned_hash": Variable("string", lambda call, _: call.pinned),
    "run.id": Variable("string", lambda call, _: call.run_id),
    "run.phase": Variable("string", lambda call, _: str(call.phase)),
    "now": Variable("timestamp", lambda call, _: call.now),
}

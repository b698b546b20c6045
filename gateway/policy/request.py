"""What a decision may depend on, and how expressions see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.policy.methods import Target
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase, Run
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
    run: Run | None = None
    is_tainted: bool = False  # others could write into what the run or the actor was shown
    any_run: bool = False  # asked for a list: what a rule says of runs may hold, or may not

    @property
    def target(self) -> Target:
        """What decides which rules are about the request."""
        return Target(self.method, self.kind, self.tool, self.server)

    @property
    def template(self) -> str:
        """The template of the run, or an empty text."""
        return self.run.template if self.run is not None else ""


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that expressions may use: its CEL type, and where its value comes from."""

    type: str
    read: Callable[[PolicyRequest, Risk], Json | datetime]


def _fields(call: PolicyRequest, *, known: bool) -> JsonObject:
    """Return what the run has collected and an expression can hold; the rest is missing to it.

    What nobody but a model has said is apart: a filter by it would let through what he likes.
    """
    if call.run is None:
        return {}
    return {
        name: each.value
        for name, each in call.run.fields.items()
        if each.is_known is known and _is_held(each.value)
    }


def _is_tainted(call: PolicyRequest) -> bool:
    return call.is_tainted or (call.run is not None and call.run.is_tainted)


def _is_held(value: Json) -> bool:
    match value:
        case bool() | float() | str():
            return True
        case int():
            return -(2**63) <= value < 2**63
        case list():
            return all(map(_is_held, value))
        case dict():
            return all(map(_is_held, value.values()))
        case _:
            return False  # a decimal, or nothing: that was never collected


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
    "run.fields": Variable("map<string, dyn>", lambda call, _: _fields(call, known=True)),
    "run.id": Variable("string", lambda call, _: call.run_id),
    "run.objective": Variable("string", lambda call, _: call.run.objective if call.run else ""),
    "run.phase": Variable("string", lambda call, _: str(call.phase)),
    "run.said": Variable("map<string, dyn>", lambda call, _: _fields(call, known=False)),
    "run.stop": Variable("string", lambda call, _: str((call.run and call.run.stop_reason) or "")),
    "run.tainted": Variable("bool", lambda call, _: _is_tainted(call)),
    "run.task": Variable("string", lambda call, _: call.run.task_id if call.run else ""),
    "run.template": Variable("string", lambda call, _: call.template),
    "now": Variable("timestamp", lambda call, _: call.now),
}

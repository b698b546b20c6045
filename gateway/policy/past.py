"""Calls that were made, as far as rules and tests can be drafted from them."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from gateway.policy.methods import USE
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import value


@value
class Past:
    """One call that was judged; what the log does not hold of it is in `unknown`."""

    call: str
    at: datetime  # when it came in, UTC
    actor: Actor
    kind: Kind
    method: Method
    key: str  # `server.name`, or the URI of a resource
    server: str
    arguments: JsonObject  # with something else in unknown places
    unknown: Mapping[JsonPointer, str] = field(default_factory=dict[JsonPointer, str])
    """Places in the arguments, `""` for all of them, and why they are not known."""
    phase: Phase = Phase.ACTING  # in which it was made
    run: JsonObject | None = None  # as a test has it (`run_cases.RunUnderTest`)
    gone: tuple[str, ...] = ()  # what of its run is not known
    cause: Cause = Cause.CALLER
    pin: str = ""  # of the definition that was published, where it was not the reviewed one
    decided: DecisionEffect = DecisionEffect.DENY
    rule: str = ""  # that decided; empty where none did
    code: str = ""
    does: Effect | None = None  # after the contract's conditions; None: not known
    risk: Risk | None = None  # after rules raised it

    @property
    def is_use(self) -> bool:
        """Whether it is what is usually done with such a thing."""
        return self.method is USE[self.kind]

    @property
    def template(self) -> str:
        """The template of its run, or an empty text."""
        said: Json = self.run.get("template") if self.run is not None else None
        return said if isinstance(said, str) else ""

"""Permissions that nobody used: tools that rules grant a role, and no call of the period was of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.policy.unused import granted
from gateway.replay.types import Recorded
from gateway.revision import Revision
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.values import value

_MOST_SEEN: Final = 20_000  # actors with tools that need not be looked at again


@value
class Unused:
    """What one role may use and did not."""

    role: str
    tools: tuple[str, ...]  # `server.name`, or `server.*` where it used nothing there

    def as_json(self) -> JsonObject:
        """Return it for programs."""
        return {"role": self.role, "tools": list(self.tools)}

    def __str__(self) -> str:
        return f"{self.role} on {', '.join(self.tools)}"


@dataclass(slots=True, kw_only=True)
class Permissions:
    """Takes calls one by one; whoever was let through, or asked about, has used a permission."""

    granted: Mapping[str, Sequence[str]]  # role → tools
    _used: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _seen: set[tuple[Actor, str]] = field(default_factory=set[tuple[Actor, str]])

    @classmethod
    def of(cls, revision: Revision) -> "Permissions":
        """Return what a revision grants to roles that its rules name."""
        contracts = [*revision.contracts.values()]
        return cls(granted=granted(revision.policy.rules, contracts))

    def take(self, call: Recorded) -> None:
        """Take in a call as it was judged."""
        used = (call.actor, call.tool)
        if call.method is not Method.CALL_TOOL or used in self._seen:
            return
        if call.judged.effect is DecisionEffect.DENY:
            return
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(used)
        self._used.update((role, call.tool) for role in call.actor.roles if role in self.granted)

    def unused(self) -> tuple[Unused, ...]:
        """Return what nobody used, by role."""
        found = ((role, self._left(role, tools)) for role, tools in sorted(self.granted.items()))
        return tuple(Unused(role=role, tools=tools) for role, tools in found if tools)

    def _left(self, role: str, tools: Sequence[str]) -> tuple[str, ...]:
        by_server: dict[str, list[str]] = {}
        for tool in sorted(tools):
            by_server.setdefault(tool.partition(".")[0], []).append(tool)
        left: list[str] = []
        for server, some in by_server.items():
            never = [tool for tool in some if (role, tool) not in self._used]
            left += [f"{server}.*"] if len(never) == len(some) > 1 else never
        return tuple(left)

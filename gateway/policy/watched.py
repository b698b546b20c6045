"""What rules in shadow mode would have done, counted from the log: enough to decide on them."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """One word of a rule in shadow mode on one call."""

    rule: str
    would: DecisionEffect
    code: str
    decided: DecisionEffect
    decided_by: str  # a rule's id; empty: nothing allowed the call
    tenant: str
    user: str
    tool: str
    at: datetime
    call: str

    @property
    def changes(self) -> bool:
        """Whether the call would have been decided another way, had this rule alone been enforced.

        The strongest effect wins, so a weaker one counts only where no rule had decided.
        """
        order = list(DecisionEffect)
        if order.index(self.would) < order.index(self.decided):
            return True
        return self.would is not self.decided and not self.decided_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Everything that one rule in shadow mode would have said in one way."""

    rule: str
    would: DecisionEffect
    calls: int = 0
    changed: int = 0  # of these, how many would have been decided another way
    errors: int = 0  # of these, how many because the condition could not be evaluated
    users: frozenset[tuple[str, str]] = frozenset()  # tenant and user
    tools: frozenset[str] = frozenset()
    was: frozenset[DecisionEffect] = frozenset()  # what became of those that would have changed
    first: datetime | None = None
    last: datetime | None = None
    example: str = ""  # the last call that would have been decided another way, else the last

    def with_(self, seen: Glimpse, *, is_error: bool) -> "Watched":
        """Return the counts with one more call, in the order of the log."""
        is_better = seen.changes or not self.changed
        return replace(
            self,
            calls=self.calls + 1,
            changed=self.changed + seen.changes,
            errors=self.errors + is_error,
            users=self.users | {(seen.tenant, seen.user)},
            tools=self.tools | {seen.tool},
            was=self.was | {seen.decided} if seen.changes else self.was,
            first=self.first or seen.at,
            last=seen.at,
            example=seen.call if is_better else self.example,
        )

    def to_json(self) -> JsonObject:
        """Render for programs."""
        return {
            "rule": self.rule,
            "would": self.would.value,
            "calls": self.calls,
            "changed": self.changed,
            "errors": self.errors,
            "was": [each.value for each in DecisionEffect if each in self.was],
            "users": len(self.users),
            "tools": list[Json](sorted(self.tools)),
            "first": self.first.isoformat() if self.first else None,
            "last": self.last.isoformat() if self.last else None,
            "example": self.example,
        }


@dataclass(slots=True)
class Watching:
    """Counts glimpses by rule."""

    _found: dict[tuple[str, DecisionEffect], Watched] = field(
        default_factory=dict[tuple[str, DecisionEffect], Watched]
    )

    def see(self, seen: Glimpse) -> None:
        """Count one, in the order of the log."""
        key = (seen.rule, seen.would)
        known = self._found.get(key) or Watched(rule=seen.rule, would=seen.would)
        self._found[key] = known.with_(seen, is_error=seen.code == "policy_evaluation_error")

    def all(self) -> tuple[Watched, ...]:
        """Return what was counted: what would have changed most first."""
        return tuple(
            sorted(
                self._found.values(),
                key=lambda each: (-each.changed, -each.calls, each.rule, each.would),
            )
        )

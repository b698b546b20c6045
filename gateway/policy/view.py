"""One call under evaluation: its class as rules raise it, and its values converted once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from gateway.policy.cel import Bindings, Environment, Scope
from gateway.policy.compiled import CompiledRule
from gateway.policy.request import PolicyRequest, Variable
from gateway.types.json import Json
from gateway.types.tools import Risk


class Vocabulary:
    """What the expressions of one policy may name, and which of those names they do use."""

    __slots__ = ("_sets", "_variables", "environment")

    def __init__(
        self,
        environment: Environment,
        variables: Mapping[str, Variable],
        sets: Mapping[str, list[Json]],
        texts: Sequence[str],
    ) -> None:
        def used(name: str) -> bool:
            # White space may stand around the dot, so the last part alone is looked for.
            return any(name.rpartition(".")[2] in text for text in texts)

        self.environment = environment
        self._variables = tuple((name, each.read) for name, each in variables.items() if used(name))
        self._sets = {name: values for name, values in sets.items() if used(name)}

    @property
    def sets(self) -> Mapping[str, Sequence[Json]]:
        """The sets that expressions name, without `sets.` before them."""
        return {name.removeprefix("sets."): values for name, values in self._sets.items()}

    def scope(self, request: PolicyRequest, risk: Risk) -> Scope:
        """Convert what the expressions use, and nothing else, for one call."""
        return self.environment.scope(self.values(request, risk))

    def values(self, request: PolicyRequest, risk: Risk) -> Bindings:
        """Return what the expressions use, and nothing else, of one call."""
        values: dict[str, Json | datetime] = {
            name: read(request, risk) for name, read in self._variables
        }
        values.update(self._sets)
        return values


class View:
    """A call as the rules see it while it is decided."""

    __slots__ = ("_known", "_scope", "_vocabulary", "request", "risk")

    def __init__(self, request: PolicyRequest, vocabulary: Vocabulary) -> None:
        self.request = request
        self.risk = request.risk
        self._vocabulary = vocabulary
        self._scope: Scope | None = None
        self._known: dict[str, bool] = {}

    def scope(self) -> Scope:
        """Return the values for expressions; converted when the first one needs them."""
        if self._scope is None:
            self._scope = self._vocabulary.scope(self.request, self.risk)
        return self._scope

    def values(self) -> Bindings:
        """Return the values for expressions as they are, for what is evaluated later."""
        return self._vocabulary.values(self.request, self.risk)

    def meets(self, rule: CompiledRule) -> bool:
        """Say whether a rule's condition holds, or it has none; raises `ConditionError`."""
        if rule.condition is None:
            return True
        known = self._known.get(rule.id)
        if known is None:
            known = self._known[rule.id] = rule.condition.holds(self.scope())
        return known

    def raise_to(self, classes: Iterable[Risk]) -> None:
        """Raise the class of the call to the highest of these; it never falls."""
        highest = max(classes, key=lambda risk: risk.rank, default=self.risk)
        if highest.rank > self.risk.rank:
            self.risk, self._scope, self._known = highest, None, {}

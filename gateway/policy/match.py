"""The structured part of a rule, compiled: fast when it must answer, and able to say why not."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.policy.methods import EVERY, Target, about
from gateway.policy.patterns import glob, meets
from gateway.policy.request import PolicyRequest
from gateway.policy.rules import InSet, Match, Scalar
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """What of a rule can be told without an expression; None or empty means "any"."""

    methods: frozenset[Method] = EVERY
    names_methods: bool = False  # the rule says so itself, rather than by what it is about
    kind: Kind | None = None  # what the patterns are over
    patterns: tuple[str, ...] = ()
    selects: Callable[[str], bool] = lambda _key: True
    servers: frozenset[str] | None = None
    effects: frozenset[Effect] | None = None
    risk: frozenset[Risk] | None = None
    roles_any: frozenset[str] | None = None
    roles_all: frozenset[str] = frozenset()
    scopes_any: frozenset[str] | None = None
    scopes_all: frozenset[str] = frozenset()
    tenants: frozenset[str] | None = None
    users: frozenset[str] | None = None
    phases: frozenset[Phase] | None = None
    templates: frozenset[str] | None = None
    authenticated_by: frozenset[str] | None = None
    causes: frozenset[Cause] | None = None

    def selects_target(self, target: Target) -> bool:
        """Say whether the rule is about such a request at all."""
        return self._may_select(target) and self.selects(target.key)

    def touches_template(self, target: Target) -> bool:
        """Say whether the rule is about some of the URIs that a template stands for."""
        return self._may_select(target) and (
            not self.patterns or any(meets(pattern, target.key) for pattern in self.patterns)
        )

    def _may_select(self, target: Target) -> bool:
        return (
            target.method in self.methods
            and (self.kind is None or target.kind is self.kind)
            and (self.servers is None or target.server in self.servers)
        )

    def why_not_target(self, target: Target) -> str:
        """Name the first thing about a target that doesn't match, or return an empty string."""
        if target.method not in self.methods:
            if self.kind is None and not self.names_methods:
                return f"names no {target.kind}s, so it is about tools"
            if self.kind in (None, target.kind):
                return f"method is {target.method}"
        if self.kind is not None and self.kind is not target.kind:
            return f"is about {self.kind}s"
        if self.servers is not None and target.server not in self.servers:
            return f"server is {target.server}" if target.server else "the server is not known"
        if self.patterns and not self.selects(target.key):
            return f"not covered by {_list(f'`{each}`' for each in self.patterns)}"
        return ""

    def named_servers(self) -> frozenset[str]:
        """Return the servers that the rule names, be it in a pattern over `server.name`."""
        named = set(self.servers or ())
        if self.kind is not Kind.RESOURCE:
            heads = {each.partition(".")[0] for each in self.patterns if "." in each}
            named |= {head for head in heads if not set("*?") & set(head)}
        return frozenset(named)

    def matches(self, request: PolicyRequest, risk: Risk) -> bool:
        """Say whether everything but the target matches; `risk` is the class after raising."""
        actor = request.actor
        return (
            (self.effects is None or request.effect in self.effects)
            and (self.risk is None or risk in self.risk)
            and (self.phases is None or request.phase in self.phases)
            and (self.templates is None or request.template in self.templates)
            and (self.roles_any is None or not self.roles_any.isdisjoint(actor.roles))
            and self.roles_all <= actor.roles
            and (self.scopes_any is None or not self.scopes_any.isdisjoint(actor.scopes))
            and self.scopes_all <= actor.scopes
            and (self.tenants is None or actor.tenant in self.tenants)
            and (self.users is None or actor.user in self.users)
            and (self.authenticated_by is None or actor.method in self.authenticated_by)
            and (self.causes is None or request.cause in self.causes)
        )

    @property
    def is_about_runs(self) -> bool:
        """Whether something about the run has to match."""
        return self.phases is not None or self.templates is not None

    def in_any_run(self) -> "Matcher":
        """Return the matcher without what it says of runs."""
        return replace(self, phases=None, templates=None) if self.is_about_runs else self

    def why_not(self, request: PolicyRequest, risk: Risk) -> str:
        """Name the first thing that doesn't match, or return an empty string."""
        actor = request.actor
        single: Sequence[tuple[str, str, frozenset[str] | None]] = (
            ("effect", request.effect, self.effects),
            ("risk", risk, self.risk),
            ("phase", request.phase, self.phases),
            ("the run's template", request.template or "none", self.templates),
            ("tenant", actor.tenant, self.tenants),
            ("user", actor.user, self.users),
            ("authentication", actor.method, self.authenticated_by),
            ("cause", request.cause, self.causes),
        )
        for word, value, wanted in single:
            if wanted is not None and value not in wanted:
                return f"{word} is {value}"
        held: Sequence[tuple[str, frozenset[str], frozenset[str] | None, frozenset[str]]] = (
            ("role", actor.roles, self.roles_any, self.roles_all),
            ("scope", actor.scopes, self.scopes_any, self.scopes_all),
        )
        for word, has, some, every in held:
            if some is not None and some.isdisjoint(has):
                return f"no {word} of {_list(some)}"
            if not every <= has:
                return f"no {word} {_list(every - has)}"
        return ""

    def why(self, request: PolicyRequest) -> str:
        """Name the conditions that were there and held, for a trace."""
        actor = request.actor
        parts = [
            ("role", (self.roles_any or frozenset()) & actor.roles | self.roles_all),
            ("scope", (self.scopes_any or frozenset()) & actor.scopes | self.scopes_all),
        ]
        return ", ".join(f"{word} {_list(names)}" for word, names in parts if names)


def compile_match(
    match: Match, sets: Mapping[str, tuple[Scalar, ...]], *, denies: bool = False
) -> Matcher:
    """Compile the structured part of a rule; an unknown set holds nobody.

    A rule that `denies` and names no target is about every request, any other about tools.
    """
    tenants = match.tenants
    if isinstance(tenants, InSet):
        tenants = tuple(str(value) for value in sets.get(tenants.in_set, ()))
    return Matcher(
        methods=about(match.kind, _set(match.methods), denies=denies),
        names_methods=match.methods is not None,
        kind=match.kind,
        patterns=match.patterns,
        selects=glob(match.patterns) if match.patterns else Matcher().selects,
        servers=_set(match.servers),
        effects=_set(match.effects),
        risk=_set(match.risk),
        roles_any=_set(match.roles.any) if match.roles else None,
        roles_all=frozenset((match.roles and match.roles.all) or ()),
        scopes_any=_set(match.scopes.any) if match.scopes else None,
        scopes_all=frozenset((match.scopes and match.scopes.all) or ()),
        tenants=_set(tenants),
        users=_set(match.users),
        phases=_set(match.phases),
        templates=_set(match.templates),
        authenticated_by=_set(match.authenticated_by),
        causes=_set(match.causes),
    )


def _set(names: Iterable[_T] | None) -> frozenset[_T] | None:
    return None if names is None else frozenset(names)


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))

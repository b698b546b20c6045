"""Requests that nobody makes, to try rules with: what can be chosen of one, and what it is then."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from gateway.policy.compiled import CompiledRule
from gateway.policy.covering import Row
from gateway.policy.methods import Target
from gateway.policy.run_cases import RunUnderTest
from gateway.types.calls import AuthMethod
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase


class Absent(Enum):
    """Stands for a value that isn't given at all."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
Maybe: TypeAlias = Json | Absent
NO_RUN: Final = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One request that could be made: everything that a decision may depend on."""

    target: Target
    arguments: JsonObject
    roles: tuple[str, ...]
    scopes: tuple[str, ...]
    tenant: str
    user: str
    client: str
    authenticated_by: AuthMethod
    cause: Cause
    phase: Phase
    now: datetime
    run: RunUnderTest | None

    @property
    def size(self) -> tuple[int, int]:
        """Order for "the smaller example": what has to be there first, then how long it is."""
        run = self.run
        held = 0 if run is None else 1 + len(run.fields) + len(run.said) + run.tainted
        unusual = (self.phase is not Phase.ACTING) + (self.cause is not Cause.CALLER)
        parts = len(self.arguments) + len(self.roles) + len(self.scopes) + held + unusual
        return parts, len(repr(self.arguments)) + len(repr((self.roles, self.scopes)))

    def to_json(self) -> JsonObject:
        """Return what a reader has to know to see the same; what is as always is left out."""
        said: JsonObject = {
            "roles": list[Json](self.roles),
            "scopes": list[Json](self.scopes),
            "tenant": self.tenant,
            "user": self.user,
            "client": self.client,
            "authenticated_by": self.authenticated_by.value,
            "cause": self.cause.value,
            "phase": self.phase.value,
            "now": self.now.isoformat(),
            "arguments": self.arguments,
        }
        if self.run is not None:
            said["run"] = self.run.model_dump(mode="json", exclude_defaults=True)
        return said


Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What can be chosen of requests about one target; the first value of each is the plain one."""

    target: Target
    roles: tuple[Names, ...]
    scopes: tuple[Names, ...]
    tenants: tuple[str, ...]
    users: tuple[str, ...]
    clients: tuple[str, ...]
    ways_in: tuple[AuthMethod, ...]
    causes: tuple[Cause, ...]
    phases: tuple[Phase, ...]
    moments: tuple[datetime, ...]
    templates: tuple[str | None, ...] = (NO_RUN,)  # an empty text: a run without one
    tainted: tuple[bool, ...] = (False,)
    arguments: Mapping[str, tuple[Maybe, ...]] = field(default_factory=dict[str, tuple[Maybe, ...]])
    fields: Mapping[str, tuple[Maybe, ...]] = field(default_factory=dict[str, tuple[Maybe, ...]])
    said: Mapping[str, tuple[Maybe, ...]] = field(default_factory=dict[str, tuple[Maybe, ...]])
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def of_call(self) -> tuple[Sequence[object], ...]:
        """What is chosen of the caller and the run; arguments and fields come after it."""
        return (
            *(self.roles, self.scopes, self.tenants, self.users, self.clients, self.ways_in),
            *(self.causes, self.phases, self.moments, self.templates, self.tainted),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What expressions call each axis, in the order of a row."""
        return (
            *("identity.roles", "identity.scopes", "identity.tenant", "identity.user"),
            *("identity.client", "authenticated_by", "request.cause", "run.phase", "now"),
            *("run.template", "run.tainted"),
            *(f"args.{name}" for name in self.arguments),
            *(f"run.fields.{name}" for name in self.fields),
            *(f"run.said.{name}" for name in self.said),
            *(f"run.{name}" for name in self.counts),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each axis has, in the order of a row."""
        more = (*self.arguments.values(), *self.fields.values(), *self.said.values())
        return tuple(map(len, (*self.of_call, *more, *self.counts.values())))

    def probe(self, row: Row) -> Probe:
        """Return the request that a row of choices stands for."""
        (roles, scopes, tenant, user, client, way, cause, phase, moment, template, tainted) = row[
            : len(self.of_call)
        ]
        rest = iter(row[len(self.of_call) :])
        arguments = _chosen(self.arguments, rest)
        fields, said = _chosen(self.fields, rest), _chosen(self.said, rest)
        counts = {
            name: some[at] for (name, some), at in zip(self.counts.items(), rest, strict=True)
        }
        return Probe(
            target=self.target,
            arguments=arguments,
            roles=self.roles[roles],
            scopes=self.scopes[scopes],
            tenant=self.tenants[tenant],
            user=self.users[user],
            client=self.clients[client],
            authenticated_by=self.ways_in[way],
            cause=self.causes[cause],
            phase=self.phases[phase],
            now=self.moments[moment],
            run=_run(self.templates[template], fields, said, counts, tainted=self.tainted[tainted]),
        )

    def room(self, rule: CompiledRule, scopes: Collection[str]) -> tuple[tuple[int, ...], ...]:
        """Return for each axis the choices by which a rule can match; `scopes` are needed anyway.

        An axis without any says that no request of these meets the rule.
        """
        matcher = rule.matcher
        needed = matcher.scopes_all | frozenset(scopes)
        of_call = (
            _those(
                self.roles,
                lambda some: (
                    (matcher.roles_any is None or not matcher.roles_any.isdisjoint(some))
                    and matcher.roles_all.issubset(some)
                ),
            ),
            _those(
                self.scopes,
                lambda some: (
                    (matcher.scopes_any is None or not matcher.scopes_any.isdisjoint(some))
                    and needed.issubset(some)
                ),
            ),
            _those(self.tenants, _in(matcher.tenants)),
            _those(self.users, _in(matcher.users)),
            _all_of(self.clients),
            _those(self.ways_in, _in(matcher.authenticated_by)),
            _those(self.causes, _in(matcher.causes)),
            _those(self.phases, _in(matcher.phases)),
            _all_of(self.moments),
            _those(self.templates, _in(matcher.templates)),
            _all_of(self.tainted),
        )
        return (*of_call, *(tuple(range(size)) for size in self.sizes[len(of_call) :]))


def _chosen(axes: Mapping[str, tuple[Maybe, ...]], rest: Iterator[int]) -> JsonObject:
    found: JsonObject = {}
    for name, some in axes.items():
        value = some[next(rest)]
        if not isinstance(value, Absent):
            found[name] = value
    return found


def _run(
    template: str | None,
    fields: JsonObject,
    said: JsonObject,
    counts: Mapping[str, int],
    *,
    tainted: bool,
) -> RunUnderTest | None:
    if template is NO_RUN:
        return None
    return RunUnderTest.model_validate(
        {
            "template": template or None,
            "fields": fields,
            "said": {name: value for name, value in said.items() if name not in fields},
            "tainted": tainted,
            **counts,
        }
    )


_T = TypeVar("_T")


def _those(values: Sequence[_T], fits: Callable[[_T], bool]) -> tuple[int, ...]:
    return tuple(at for at, value in enumerate(values) if fits(value))


def _all_of(values: Sequence[object]) -> tuple[int, ...]:
    return tuple(range(len(values)))


def _in(wanted: Collection[object] | None) -> Callable[[object], bool]:
    return lambda value: wanted is None or value in wanted

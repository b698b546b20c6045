"""What can be chosen of requests about one target, told from what two policies speak of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.policy.cel import Condition
from gateway.policy.compiled import CompiledRule
from gateway.policy.mentions import Mentions, mentions, parts, together
from gateway.policy.methods import Target
from gateway.policy.probes import ABSENT, NO_RUN, Axes, Maybe, Names
from gateway.policy.sample_arguments import values
from gateway.policy.sample_texts import People, Pool, pool
from gateway.types.calls import AuthMethod
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind

NOW: Final = datetime(2026, 1, 5, 12, tzinfo=UTC)  # a Monday, like no other
_MOST: Final = 12  # names of one kind
_UNNAMED: Final = 8  # optional arguments that no expression names
_COUNTS: Final = ("evidence", "calls", "tokens", "open_ops", "pending_approvals")
_FIELD: Final = "r-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the policies, as far as requests are made of it."""

    rules: Sequence[CompiledRule]
    sets: Mapping[str, Sequence[Json]]
    guards: Mapping[str, str]  # of templates of runs, by name: the expressions
    terms: Mapping[str, str]  # and all that they say
    contract: Contract | None  # of the target, where it is a tool

    def about(self, target: Target) -> tuple[CompiledRule, ...]:
        """Return the rules that are about a target."""
        return tuple(rule for rule in self.rules if rule.matcher.selects_target(target))


def axes(target: Target, sides: Sequence[Side]) -> Axes:
    """Return what can be chosen: whatever one of the sides speaks of, and something else."""
    rules = [rule for side in sides for rule in side.about(target)]
    found = [*_mentions(target, sides)]
    templates = _templates(rules, sides)
    guards = together(
        mentions(side.guards[name]) for side in sides for name in templates if name in side.guards
    )
    every = together(found)
    people = People(
        tenants=_tenants(rules, found),
        users=_others(
            (name for rule in rules for name in sorted(rule.matcher.users or ())),
            _words_beside("identity.user", found),
            other="somebody",
        ),
        clients=_others((), _words_beside("identity.client", found), other="client"),
        fields=(_FIELD,),
        now=NOW,
    )
    fields = dict.fromkeys((*every.fields, *_guarded(guards)))
    is_run = bool(templates) or every.speaks_of(
        "run.fields", "run.said", "run.tainted", "run.template", "run.task", "run.objective"
    )
    minds = any(side.contract and side.contract.when_tainted for side in sides)
    is_tainted = minds or every.speaks_of("run.tainted") or guards.speaks_of("tainted")
    return Axes(
        target=target,
        roles=_holdings(_roles(rules, found), [rule.matcher.roles_all for rule in rules]),
        scopes=_holdings(_scopes(rules, found, sides), _needed(rules, sides)),
        tenants=people.tenants,
        users=people.users,
        clients=people.clients,
        ways_in=_ways_in(rules),
        causes=_causes(rules, target, every),
        phases=(Phase.ACTING, *(each for each in Phase if each is not Phase.ACTING)),
        moments=_moments(every),
        templates=(NO_RUN, "", *templates) if is_run or is_tainted else (NO_RUN,),
        tainted=(False, True) if is_tainted else (False,),
        arguments=_arguments(found, people, sides),
        fields={name: _field(name, found) for name in fields},
        said={name: _field(name, found) for name in every.said if name not in fields},
        counts={
            name: tuple(sorted({0, *(n for n in _whole(guards) if n >= 0)}))[:_MOST]
            for name in _COUNTS
            if guards.speaks_of(name)
        },
    )


def texts(rule: CompiledRule) -> tuple[str, ...]:
    """Return every expression of a rule that speaks of a call."""
    demands = rule.obligations
    conditions = (
        rule.condition,
        *(each.source for each in demands.constraints),
        *(each.total for each in demands.limits),
        *(each.where for each in demands.rows),
    )
    return tuple(each.text for each in conditions if isinstance(each, Condition))


def _mentions(target: Target, sides: Sequence[Side]) -> Iterator[Mentions]:
    """Yield what each part of an expression about a target speaks of, once."""
    seen: set[tuple[str, str]] = set()
    for side in sides:
        about = [text for rule in side.about(target) for text in texts(rule)]
        raising = [each.when for each in side.contract.raises] if side.contract else []
        for text in (part for each in (*about, *raising) for part in parts(each)):
            found = mentions(text, side.sets)
            key = (text, repr(found.words) + repr(found.numbers))
            if key not in seen:
                seen.add(key)
                yield found


def _words_beside(name: str, found: Iterable[Mentions]) -> Iterator[str]:
    """Yield the words of expressions that speak of something."""
    return (word for each in found if each.speaks_of(name) for word in each.words)


def _others(*named: Iterable[str], other: str) -> tuple[str, ...]:
    """Return who is named, after somebody who isn't."""
    every = dict.fromkeys(name for names in named for name in names)
    return (other, *[name for name in every if name and name != other][: _MOST - 1])


def _tenants(rules: Iterable[CompiledRule], found: Sequence[Mentions]) -> tuple[str, ...]:
    named = [name for rule in rules for name in sorted(rule.matcher.tenants or ())]
    tenants = _others(named, _words_beside("identity.tenant", found), other="other-tenant")
    return tenants if len(tenants) > 1 else (*tenants, "own-tenant")


def _roles(rules: Iterable[CompiledRule], found: Sequence[Mentions]) -> Iterator[str]:
    for rule in rules:
        yield from sorted((rule.matcher.roles_any or frozenset()) | rule.matcher.roles_all)
    yield from _words_beside("identity.roles", found)


def _scopes(
    rules: Iterable[CompiledRule], found: Sequence[Mentions], sides: Iterable[Side]
) -> Iterator[str]:
    for side in sides:
        yield from sorted(side.contract.scopes if side.contract else ())
    for rule in rules:
        yield from sorted((rule.matcher.scopes_any or frozenset()) | rule.matcher.scopes_all)
    yield from _words_beside("identity.scopes", found)


def _needed(rules: Iterable[CompiledRule], sides: Sequence[Side]) -> Iterator[frozenset[str]]:
    """Yield the scopes that are needed together: by a rule, by a contract, and by both."""
    contracts = [side.contract.scopes for side in sides if side.contract]
    yield from contracts
    for rule in rules:
        yield rule.matcher.scopes_all
        yield from (rule.matcher.scopes_all | each for each in contracts)


def _holdings(named: Iterable[str], together_: Iterable[frozenset[str]]) -> tuple[Names, ...]:
    """Return what somebody may hold: nothing, each alone, all, all but each, what goes together."""
    every = tuple(dict.fromkeys(named))[:_MOST]
    found: list[Names] = [(), *((name,) for name in every), every]
    found += [tuple(sorted(some)) for some in together_ if len(some) > 1]
    if len(every) > 2:
        found += [tuple(other for other in every if other != name) for name in every]
    return tuple({frozenset(some): some for some in reversed(found)}.values())[::-1]


def _ways_in(rules: Iterable[CompiledRule]) -> tuple[AuthMethod, ...]:
    is_asked = any(rule.matcher.authenticated_by is not None for rule in rules)
    return (AuthMethod.JWT, AuthMethod.API_KEY, AuthMethod.LOCAL) if is_asked else (AuthMethod.JWT,)


def _causes(rules: Iterable[CompiledRule], target: Target, every: Mentions) -> tuple[Cause, ...]:
    is_asked = any(rule.matcher.causes is not None for rule in rules)
    if target.kind is not Kind.TOOL or not (is_asked or every.speaks_of("request.cause")):
        return (Cause.CALLER,)
    return tuple(Cause)


def _moments(every: Mentions) -> tuple[datetime, ...]:
    """Return when to ask: around what is named, and over a day, week or year where it counts."""
    if not every.speaks_of("now"):
        return (NOW,)
    found = [NOW]
    for moment in every.moments:
        found += [moment + timedelta(seconds=step) for step in (0, 1, -1)]
    if "getHours" in every.calls or "getMinutes" in every.calls:
        found += [NOW.replace(hour=hour, minute=30) for hour in range(24)]
    if every.calls & {"getDayOfWeek", "getDate", "getDayOfMonth", "getDayOfYear"}:
        found += [NOW + timedelta(days=step) for step in range(1, 31)]
    if every.calls & {"getMonth", "getFullYear", "getDayOfYear"}:
        found += [NOW.replace(month=month, day=15) for month in range(1, 13)]
    return tuple(dict.fromkeys(found))


def _templates(rules: Iterable[CompiledRule], sides: Sequence[Side]) -> tuple[str, ...]:
    """Return the templates that rules name, and those of which the sides say different things."""
    named = dict.fromkeys(name for rule in rules for name in sorted(rule.matcher.templates or ()))
    known = dict.fromkeys(name for side in sides for name in side.terms)
    differing = [name for name in known if len({side.terms.get(name) for side in sides}) > 1]
    return tuple(dict.fromkeys((*named, *differing)))[:_MOST]


def _guarded(guards: Mentions) -> Iterator[str]:
    return (
        name.removeprefix("fields.").partition(".")[0]
        for name in sorted(guards.names)
        if name.startswith("fields.")
    )


def _field(name: str, found: Sequence[Mentions]) -> tuple[Maybe, ...]:
    beside = [each for each in found if name in each.fields or name in each.said]
    words = [word for each in beside for word in each.words]
    numbers = [number for each in beside for number in each.numbers]
    return (ABSENT, *tuple(dict.fromkeys((_FIELD, *words, *numbers)))[: _MOST // 2])


def _whole(said: Mentions) -> Iterator[int]:
    return (int(number) + step for number in said.numbers for step in (-1, 0, 1))


def _arguments(
    found: Sequence[Mentions], people: People, sides: Sequence[Side]
) -> dict[str, tuple[Maybe, ...]]:
    schemas: list[JsonObject] = [
        schema
        for side in sides
        if side.contract and isinstance(schema := side.contract.input_schema, dict)
    ]
    named = dict.fromkeys(name for each in found for name in each.arguments)
    properties = dict.fromkeys(
        name
        for schema in schemas
        if isinstance(known := schema.get("properties"), dict)
        for name in known
    )
    unnamed = [name for name in properties if name not in named]
    kept = {*[name for name in unnamed if not _is_required(name, schemas)][:_UNNAMED]}
    tried: dict[str, tuple[Maybe, ...]] = {}
    for name in properties if schemas else named:
        is_required = _is_required(name, schemas)
        if not (name in named or is_required or name in kept):
            continue
        some = _tried(name, schemas, pool((e for e in found if name in e.arguments), people))
        tried[name] = some if is_required else (ABSENT, *(some if name in named else some[:1]))
        if is_required and name not in named:
            tried[name] = some[:1]
    return tried


def _is_required(name: str, schemas: Sequence[JsonObject]) -> bool:
    required = [schema.get("required") for schema in schemas]
    return bool(required) and all(isinstance(each, list) and name in each for each in required)


def _tried(name: str, schemas: Sequence[JsonObject], some: Pool) -> tuple[Json, ...]:
    found: dict[str, Json] = {}
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, dict) and name in properties:
            found.update({repr(each): each for each in values(properties[name], schema, some)})
    if not schemas:  # of a prompt, or a question: nobody says what it is
        found.update({repr(each): each for each in values({}, {}, some)})
    return tuple(found.values())

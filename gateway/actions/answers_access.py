"""Who could call a tool on a day: by the rules and the contract of then, and who did.

What was in force is told by `policy_activated` events, and what it said by the kept revisions.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from gateway.actions import questions
from gateway.actions.answers_policy import Archived, before, before_archived, changes
from gateway.actions.questions import Log
from gateway.policy.compiled import CompiledRule
from gateway.policy.methods import Target
from gateway.revision import Revision, Unreviewed
from gateway.store.selection import Selection
from gateway.types.calls import Method
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind

WHO_COULD: Final = (
    *("revision", "from", "what", "rule", "tenants", "users", "roles", "scopes", "also"),
    *("when", "place", "calls"),
)
NOT_KNOWN: Final = "not known"
"""What a row says that stands for what only archives tell."""
_ANYBODY: Final = "any"

Compiled = Callable[[str], Awaitable[Revision | None]]
"""Finds a revision by its id, compiled; None for one that is not kept, or not readable any more."""


async def who_could(
    log: Log,
    tool: str,
    compiled: Compiled,
    *,
    since: datetime,
    until: datetime,
    tenant: str = "",
    left: Archived | None = None,
) -> AsyncIterator[JsonObject]:
    """Yield what the rules and the contract let whom do with a tool, and who called it then.

    For each revision that was in force at some moment of the time. `left` is what left the log:
    where only that tells what was in force, or who called, a row says so. Raises StoreUnavailable.
    """
    first = await before(log, since)
    if left is not None and first is None:
        first = await before_archived(log, since, left)
    if left is not None and (first is None or left.holds(since)):
        yield {"what": NOT_KNOWN, "also": f"events 1 to {left.size} are in archives, which tell it"}
    in_force = [] if first is None else [first]
    in_force += [each async for each in changes(log, Selection(since=since, until=until))]
    last = ""
    for change in in_force:
        if change.revision == last:
            continue
        last = change.revision
        base: JsonObject = {"revision": change.revision, "from": change.at}
        found = await compiled(change.revision)
        if found is None:
            yield base | {"what": "not kept", "also": "this revision can't be read any more"}
            continue
        for row in _may(found, tool, tenant):
            yield base | row
    async for row in _callers(log, tool, since=since, until=until, tenant=tenant):
        yield row


def _may(revision: Revision, tool: str, tenant: str) -> Iterator[JsonObject]:
    """Yield the contract, the rules that are about the tool, strongest first, and the rest."""
    contract = revision.contracts.get(tool)
    if contract is not None:
        yield {
            "what": "contract",
            "scopes": " + ".join(sorted(contract.scopes)) or _ANYBODY,
            "also": f"effect {contract.effect}, class {contract.risk}"
            + ("" if contract.reviewed else ", not reviewed"),
            "place": contract.place,
        }
    elif revision.unreviewed is Unreviewed.REFUSE:
        yield {"what": "no contract", "also": "so nobody could call it"}
    target = Target(Method.CALL_TOOL, Kind.TOOL, tool, tool.partition(".")[0])
    rules = [rule for rule in revision.policy.rules if rule.matcher.selects_target(target)]
    order = ["deny", "require_approval", "allow"]
    decisive = [rule for rule in rules if rule.effect is not None and _is_for(rule, tenant)]
    for rule in sorted(decisive, key=lambda rule: order.index(str(rule.effect))):
        yield _rule(rule)
    yield {"what": "otherwise", "also": f"deny ({revision.policy.fallback.code})"}


def _is_for(rule: CompiledRule, tenant: str) -> bool:
    return not tenant or rule.matcher.tenants is None or tenant in rule.matcher.tenants


def _rule(rule: CompiledRule) -> JsonObject:
    matcher = rule.matcher
    others: Mapping[str, Iterable[str] | None] = {
        "effect": matcher.effects,
        "class": matcher.risk,
        "phase": matcher.phases,
        "template": matcher.templates,
        "login": matcher.authenticated_by,
        "cause": matcher.causes,
    }
    also = [f"{name} {_any(values)}" for name, values in others.items() if values is not None]
    if rule.approval is not None:
        also.append(f"approval by {_approvers(rule)}")
    if rule.shadow:
        also.append("in shadow: never enforced")
    return {
        "what": str(rule.effect),
        "rule": rule.id,
        "tenants": _any(matcher.tenants),
        "users": _any(matcher.users),
        "roles": _both(matcher.roles_any, matcher.roles_all),
        "scopes": _both(matcher.scopes_any, matcher.scopes_all),
        "also": "; ".join(also),
        "when": rule.condition.text if rule.condition is not None else "",
        "place": rule.place,
    }


def _approvers(rule: CompiledRule) -> str:
    factors = rule.approval.factors if rule.approval is not None else ()
    return " and ".join(f"{each.count} of {_any([*each.roles, *each.users])}" for each in factors)


def _any(names: Iterable[str] | None) -> str:
    return _ANYBODY if names is None else " | ".join(sorted(map(str, names))) or "nobody"


def _both(some: frozenset[str] | None, every: frozenset[str]) -> str:
    parts = ([_any(some)] if some is not None else []) + sorted(every)
    return " + ".join(parts) or _ANYBODY


async def _callers(
    log: Log, tool: str, *, since: datetime, until: datetime, tenant: str
) -> AsyncIterator[JsonObject]:
    wanted = Selection(
        kinds=(EventKind.AUTHORIZATION.value,),
        stages=(Stage.DECIDED.value,),
        tools=(tool,),
        tenants=(tenant,) if tenant else (),
        since=since,
        until=until,
    )
    found = dict[tuple[str, str, str], dict[str, int]]()
    async for event in questions.each(log, wanted):
        told = event.json()
        actor, body = _object(told.get("actor")), _object(told.get("body"))
        roles = actor.get("roles")
        named = " + ".join(map(str, roles)) if isinstance(roles, list) else ""
        key = str(told.get("tenant", "")), str(actor.get("user", "")), named
        counts = found.setdefault(key, {})
        decision = str(body.get("decision", ""))
        counts[decision] = counts.get(decision, 0) + 1
    for (of, user, named), counts in sorted(found.items()):
        yield {
            "what": "called",
            "tenants": of,
            "users": user,
            "roles": named,
            "also": ", ".join(f"{name} {count}" for name, count in sorted(counts.items())),
            "calls": sum(counts.values()),
        }


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}

"""Permissions that nobody used: rules that never decided, roles that never called a tool."""

from collections.abc import Iterable, Iterator, Sequence

from gateway.policy.compiled import CompiledRule
from gateway.policy.past import Past
from gateway.policy.survey import tool_target
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Contract, Kind

_GRANTS = (DecisionEffect.ALLOW, DecisionEffect.REQUIRE_APPROVAL)


def unused(
    rules: Sequence[CompiledRule], contracts: Iterable[Contract], pasts: Iterable[Past]
) -> tuple[str, ...]:
    """Say, one sentence each, what was granted by some rule and used by no call."""
    known = [*contracts]
    decided: set[str] = set()
    used: set[tuple[str, str]] = set()
    for past in pasts:
        decided.add(past.rule)
        if past.kind is Kind.TOOL and past.decided in _GRANTS:
            used.update((role, past.key) for role in past.actor.roles)
    enforced = [rule for rule in rules if not rule.shadow and rule.effect is not None]
    return (
        *(
            f"rule `{rule.id}` never decided ({rule.place})"
            for rule in enforced
            if rule.id not in decided
        ),
        *_roles(enforced, known, used),
    )


def granted(rules: Iterable[CompiledRule], contracts: Sequence[Contract]) -> dict[str, list[str]]:
    """Return the tools that enforced rules grant to roles, with people or without, by role."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        if rule.shadow or rule.effect not in _GRANTS:
            continue
        named = sorted((rule.matcher.roles_any or frozenset()) | rule.matcher.roles_all)
        for contract in contracts:
            if rule.matcher.selects_target(tool_target(contract)):
                for role in named:
                    tools = found.setdefault(role, [])
                    if contract.tool not in tools:
                        tools.append(contract.tool)
    return found


def _roles(
    rules: Sequence[CompiledRule], contracts: Sequence[Contract], used: set[tuple[str, str]]
) -> Iterator[str]:
    for role, tools in sorted(granted(rules, contracts).items()):
        left = sorted(tool for tool in tools if (role, tool) not in used)
        if left and len(left) == len(tools):
            yield f"role `{role}` used nothing that rules grant it: {', '.join(left)}"
        elif left:
            yield f"role `{role}` never used {', '.join(left)}"

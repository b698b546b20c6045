"""What two policies could be asked about: tools under contract, and what patterns stand for."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gateway.policy.compiled import CompiledRule
from gateway.policy.exemplars import of_glob
from gateway.policy.methods import ASKS, OF, USE, Target
from gateway.types.calls import Method
from gateway.types.tools import Kind

_MOST: Final = 200  # of resources, prompts and questions, each
_ELSEWHERE: Final = "other-server"  # of resources that no rule names a server for


def targets(
    rules: Sequence[CompiledRule], tools: Iterable[str], servers: Iterable[str] = ()
) -> tuple[Target, ...]:
    """Return what to ask about; `servers` are the configured ones."""
    named = sorted(tools)
    every = (
        *_tools(rules, named),
        *[*_others(Kind.RESOURCE, rules, [*servers])][:_MOST],
        *[*_others(Kind.PROMPT, rules, [*servers])][:_MOST],
        *[*_questions(rules, named)][:_MOST],
    )
    return tuple(dict.fromkeys(every))


def _tools(rules: Sequence[CompiledRule], tools: Sequence[str]) -> Iterator[Target]:
    methods = _named(rules) & OF[Kind.TOOL]
    for tool in tools:
        for method in dict.fromkeys((USE[Kind.TOOL], *sorted(methods))):
            yield Target(method, Kind.TOOL, tool, tool.partition(".")[0])


def _others(kind: Kind, rules: Sequence[CompiledRule], servers: Sequence[str]) -> Iterator[Target]:
    """Yield something that each pattern stands for, at each server that may have it."""
    about = [rule for rule in rules if rule.matcher.kind is kind]
    methods = dict.fromkeys((USE[kind], *sorted(_named(rules) & OF[kind])))
    named = sorted({name for rule in about for name in rule.matcher.servers or ()})
    for pattern in dict.fromkeys(each for rule in about for each in rule.matcher.patterns):
        key = of_glob(pattern)
        for method in methods:
            if kind is Kind.PROMPT:
                yield Target(method, kind, key, key.partition(".")[0])
                continue
            for server in dict.fromkeys((*named, *servers, _ELSEWHERE)):
                yield Target(method, kind, key, server)


def _questions(rules: Sequence[CompiledRule], tools: Sequence[str]) -> Iterator[Target]:
    for method in sorted(_named(rules) & ASKS):
        for tool in tools:
            target = Target(method, Kind.TOOL, tool, tool.partition(".")[0])
            if any(rule.matcher.selects_target(target) for rule in rules):
                yield target


def _named(rules: Iterable[CompiledRule]) -> frozenset[Method]:
    """Return the methods that rules name themselves."""
    return frozenset[Method]().union(
        *(rule.matcher.methods for rule in rules if rule.matcher.names_methods)
    )

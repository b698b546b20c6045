"""Which requests a rule is about, told from what it names (ADR 0011)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gateway.policy.patterns import is_template
from gateway.types.calls import Method
from gateway.types.tools import Kind

EVERY: Final = frozenset(Method)
ASKS: Final = frozenset(method for method in Method if method.is_ask)
# What can be done with each kind; what a server asks meanwhile is about any of them.
OF: Final[Mapping[Kind, frozenset[Method]]] = {
    Kind.TOOL: frozenset({Method.CALL_TOOL, *(method for method in Method if method.is_task)}),
    Kind.RESOURCE: frozenset({Method.READ_RESOURCE, Method.SUBSCRIBE, Method.COMPLETE}),
    Kind.PROMPT: frozenset({Method.GET_PROMPT, Method.COMPLETE}),
}

# What is done with each kind when nothing else is said.
USE: Final[Mapping[Kind, Method]] = {
    Kind.TOOL: Method.CALL_TOOL,
    Kind.RESOURCE: Method.READ_RESOURCE,
    Kind.PROMPT: Method.GET_PROMPT,
}

# What a method is about where nothing else is said: prompts are completed as well.
_ABOUT: Final[Mapping[Method, Kind]] = {
    **{method: kind for kind, method in USE.items()},
    Method.SUBSCRIBE: Kind.RESOURCE,
    Method.COMPLETE: Kind.RESOURCE,
}


def kind_of(method: Method) -> Kind:
    """Return what a call of a method is about, unless something says otherwise."""
    return _ABOUT.get(method, Kind.TOOL)


class Target(NamedTuple):
    """What a request is about: all that decides which rules are about it."""

    method: Method
    kind: Kind
    key: str  # `server.name`, or the URI of a resource
    server: str

    @property
    def is_template(self) -> bool:
        """Whether it stands for several resources."""
        return self.kind is Kind.RESOURCE and is_template(self.key)


def about(kind: Kind | None, named: frozenset[Method] | None, *, denies: bool) -> frozenset[Method]:
    """Return the methods that a rule is about.

    `kind` is what its patterns are over, None without any; `named` is its `methods`. A rule that
    names neither permits nothing but tools, and forbids everything.
    """
    if kind is not None:
        return OF[kind] if named is None else named & (OF[kind] | ASKS)
    if named is not None:
        return named
    return EVERY if denies else OF[Kind.TOOL]

"""The ground that the static checks stand on: every rule, its place, and the tools it is about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.policy.compile import sets_of
from gateway.policy.files import Path, PolicyFile
from gateway.policy.findings import Finding, Level
from gateway.policy.match import Matcher, compile_match
from gateway.policy.methods import Target
from gateway.policy.rules import Rule, Scalar
from gateway.policy.run_files import WrittenTemplate
from gateway.types.calls import Method
from gateway.types.tools import Contract, Effect, Kind, Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One rule with its place, its compiled match and the known tools that it is about."""

    file: PolicyFile
    index: int
    rule: Rule
    matcher: Matcher
    tools: tuple[Contract, ...]

    @property
    def is_enforced(self) -> bool:
        """Whether the rule has a say, instead of being watched only."""
        return "shadow" not in (self.rule.mode, self.file.content.mode)

    def finding(self, level: Level, check: str, message: str, *path: str | int) -> Finding:
        """Make a finding that points at a value of the rule."""
        return self.finding_at(level, check, message, self.place(*path))

    def finding_at(self, level: Level, check: str, message: str, place: tuple[int, int]) -> Finding:
        """Make a finding that points at a line and column of the rule's file."""
        line, column = place
        return Finding(
            level=level,
            check=check,
            message=message,
            file=self.file.name,
            line=line,
            column=column,
        )

    def path(self, *path: str | int) -> Path:
        """Return the path of a value of the rule in its file."""
        return ("rules", self.index, *path)

    def place(self, *path: str | int) -> tuple[int, int]:
        """Return line and column of a value of the rule."""
        return self.file.document.place(self.path(*(path or ("id",))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Everything that the static checks look at."""

    files: Sequence[PolicyFile]
    rules: tuple[Surveyed, ...]
    contracts: tuple[Contract, ...]
    sets: Mapping[str, tuple[Scalar, ...]]
    roles: frozenset[str]
    configured: frozenset[str] = frozenset()  # servers; empty when no configuration is known
    are_all_roles: bool = False  # nobody who decides can have another one
    templates: tuple[WrittenTemplate, ...] = ()

    @property
    def servers(self) -> list[str]:
        """The servers that are known: configured, or under a contract."""
        return sorted({*self.configured, *(each.tool.partition(".")[0] for each in self.contracts)})


def survey(
    files: Sequence[PolicyFile],
    contracts: Iterable[Contract],
    roles: Iterable[str],
    servers: Iterable[str] = (),
    *,
    are_all_roles: bool = False,
    templates: Iterable[WrittenTemplate] = (),
) -> Survey:
    """Look at files that are in order; `roles` and `servers` are known from elsewhere."""
    known, sets = tuple(contracts), sets_of(files)
    rules = tuple(_rules(files, known, sets))
    named = frozenset(
        name
        for each in rules
        if each.rule.match.roles is not None
        for name in (*(each.rule.match.roles.any or ()), *(each.rule.match.roles.all or ()))
    )
    return Survey(
        files=files,
        rules=rules,
        contracts=known,
        sets=sets,
        roles=named | frozenset(roles),
        configured=frozenset(servers),
        are_all_roles=are_all_roles,
        templates=tuple(templates),
    )


def _rules(
    files: Sequence[PolicyFile],
    contracts: Sequence[Contract],
    sets: Mapping[str, tuple[Scalar, ...]],
) -> Iterator[Surveyed]:
    for file in files:
        for index, rule in enumerate(file.content.rules):
            matcher = compile_match(rule.match, sets, denies=rule.decision == "deny")
            about = tuple(each for each in contracts if is_about(matcher, each))
            yield Surveyed(file=file, index=index, rule=rule, matcher=matcher, tools=about)


def is_about(matcher: Matcher, contract: Contract) -> bool:
    """Say whether a rule could ever match a call of a tool, by name, effect and class."""
    return (
        matcher.selects_target(tool_target(contract))
        and (matcher.effects is None or not matcher.effects.isdisjoint(effects_of(contract)))
        and (matcher.risk is None or any(each in matcher.risk for each in risks_of(contract)))
    )


def tool_target(contract: Contract) -> Target:
    """Return what a call of the tool is about."""
    server = contract.tool.partition(".")[0]
    return Target(Method.CALL_TOOL, Kind.TOOL, contract.tool, server)


def effects_of(contract: Contract) -> frozenset[Effect]:
    """Return the effects that a call may have: the contract's, and what raises it."""
    raised = {each.effect for each in contract.raises if each.effect is not None}
    # A server's own hint turns a write into a destructive call.
    hinted = {Effect.DESTRUCTIVE} if contract.effect is Effect.WRITE else set[Effect]()
    return frozenset({contract.effect, *raised, *hinted})


def risks_of(contract: Contract) -> Iterable[Risk]:
    """Return the classes that a call may have: rules and conditions only ever raise it."""
    return (risk for risk in Risk if risk.rank >= contract.risk.rank)

"""The package of a hand-over: all that somebody needs to go on, what nobody knows first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.runs.templates import Template
from gateway.types.approvals import Approval
from gateway.types.json import Json
from gateway.types.operations import Operation, OpState, VerificationState
from gateway.types.runs import Evidence, Run, Trust

_UNKNOWN: Final = OpState.INDETERMINATE
_UNDER_WAY: Final = frozenset({OpState.READY, OpState.DISPATCHING, OpState.COMPENSATING})
_UNSURE: Final = frozenset({VerificationState.FAILED, VerificationState.INCONCLUSIVE})
_ANYBODYS: Final = frozenset({"host", "user", "model"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What values take to be seen, by the contracts in force."""

    tools: Mapping[str, frozenset[str]]
    """The scopes that a tool (`server.name`) needs."""
    types: Mapping[str, Sequence[frozenset[str]]] = field(
        default_factory=dict[str, Sequence[frozenset[str]]]
    )
    """The scopes of each tool whose results yield a type; those of one are enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Who takes over; `scopes` None stands for somebody who may see all that is kept."""

    scopes: frozenset[str] | None = None

    def sees_tool(self, tool: str, reach: Reach) -> bool:
        """Whether he could have called a tool himself; nobody sees what no contract tells of."""
        needed = reach.tools.get(tool)
        return self.scopes is None or (needed is not None and needed <= self.scopes)

    def sees_source(self, source: str, reach: Reach) -> bool:
        """Whether a tool that he could call yields values of a field's source."""
        scopes = self.scopes
        if scopes is None or source in _ANYBODYS:
            return True
        return any(needed <= scopes for needed in reach.types.get(source, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A collected value; `value` is None where it is withheld."""

    name: str
    value: Json
    is_withheld: bool
    trust: Trust
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A call that changes something, and its arguments as people may see them."""

    operation: Operation
    arguments: Json  # None where they are withheld

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows if it took effect."""
        return self.operation.state is _UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What is handed over; nothing in it is a result, or a text that was read."""

    run: Run
    reason: str
    unknown: tuple[Deed, ...]
    deeds: tuple[Deed, ...]  # all others, the newest first
    approvals: tuple[Approval, ...]  # that still wait
    fields: tuple[Given, ...]
    missing: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    withheld: int
    next: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What is there of a run, as the store has it."""

    run: Run
    template: Template | None
    operations: Sequence[Operation]
    approvals: Sequence[Approval]
    evidence: Sequence[Evidence]


def package(remains: Remains, receiver: Receiver, reach: Reach) -> Package:
    """Gather what a receiver may see of a run."""
    deeds = [
        Deed(
            operation=each,
            arguments=_shown(each) if receiver.sees_tool(each.tool, reach) else None,
        )
        for each in sorted(remains.operations, key=lambda op: op.created_at, reverse=True)
    ]
    fields = given(remains.run, receiver, reach)
    hidden = sum(not receiver.sees_tool(each.operation.tool, reach) for each in deeds)
    evidence = tuple(
        each for each in remains.evidence if not each.tool or receiver.sees_tool(each.tool, reach)
    )
    hidden += len(remains.evidence) - len(evidence)
    pending = tuple(each for each in remains.approvals if each.state.is_open)
    missing = _missing(remains.run, remains.template)
    return Package(
        run=remains.run,
        reason=remains.run.note,
        unknown=tuple(each for each in deeds if each.is_unknown),
        deeds=tuple(each for each in deeds if not each.is_unknown),
        approvals=pending,
        fields=fields,
        missing=missing,
        evidence=evidence,
        withheld=hidden + sum(each.is_withheld for each in fields),
        next=tuple(_next(deeds, pending, missing)),
    )


def given(run: Run, receiver: Receiver, reach: Reach) -> tuple[Given, ...]:
    """Return what a run has collected, as far as somebody may see it: the only way out of it."""
    return tuple(
        Given(
            name=name,
            value=collected.value if is_seen else None,
            is_withheld=not is_seen,
            trust=collected.trust,
            source=collected.source,
        )
        for name, collected in sorted(run.fields.items())
        for is_seen in [receiver.sees_source(collected.source, reach)]
    )


def _missing(run: Run, template: Template | None) -> tuple[str, ...]:
    if template is None:
        return ()
    return tuple(
        name for name, rule in template.fields.items() if rule.required and name not in run.fields
    )


def _next(
    deeds: Sequence[Deed], pending: Sequence[Approval], missing: Sequence[str]
) -> Iterable[str]:
    """Say what to do, in order: what can't be undone by waiting comes first."""
    for each in deeds:
        if each.is_unknown:
            op = each.operation
            yield (
                f"find out whether `{op.tool}` took effect, and settle it: "
                f"`weighbridge ops resolve {op.op_id} --happened|--not-happened --evidence TEXT`"
            )
    for each in deeds:
        if each.operation.state in _UNDER_WAY:
            yield f"wait for `{each.operation.tool}` (`{each.operation.op_id}`) to end"
    for each in deeds:
        if each.operation.verification in _UNSURE:
            op = each.operation
            yield f"look whether `{op.tool}` (`{op.op_id}`) did what it was to do"
    for each in pending:
        yield f"decide about `{each.tool}`: `weighbridge approvals show {each.approval_id}`"
    if missing:
        yield f"find {', '.join(f'`{name}`' for name in missing)}"


def _shown(op: Operation) -> Json:
    try:
        return jsontext.parse_result(op.shown.encode())
    except JsonError:  # a text that was cut
        return op.shown

"""Step 1: what does the name stand for? Gathers every fact that judging needs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Protocol, TypeAlias, assert_never

from gateway import jsontext
from gateway.case import Case, Facts, Origin
from gateway.clock import Clock
from gateway.contracts import draft
from gateway.results import envelope
from gateway.revision import Revision, Unreviewed
from gateway.types.actors import Actor
from gateway.types.calls import Method, Principal, ProposedCall
from gateway.types.json import Json, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Phase
from gateway.types.tools import Ambiguous, Contract, Effect, Kind, Risk, SourceKind, Tool

SeenLookup: TypeAlias = Callable[
    [Actor, Mapping[JsonPointer, tuple[Json, tuple[str, ...]]]],
    Awaitable[Mapping[JsonPointer, tuple[Origin, ...]]],
]


# The contract of every resource and prompt: nobody has to write one to read (ADR 0011).
READ_ONLY: Final = Contract(
    tool="", pin="", effect=Effect.READ, risk=Risk.LOW, definition={}, place="built in"
)


class Catalogue(Protocol):
    """The stored map of everything that callers can name."""

    def find(self, exposed_name: str) -> Tool | None:
        """Return the tool that an exposed name stands for."""
        ...

    def prompt(self, exposed_name: str) -> Tool | None:
        """Return the prompt that an exposed name stands for."""
        ...

    def resource(self, uri: str) -> Tool | Ambiguous | None:
        """Return what can be read under a URI, plain or qualified."""
        ...

    def template(self, uri_template: str) -> Tool | Ambiguous | None:
        """Return what a URI template describes."""
        ...


def no_tasks(call: ProposedCall) -> Tool | None:
    """Know of no task."""
    del call


@dataclass(slots=True, kw_only=True)
class Resolve:
    """Turns a proposal into a complete case; after it, judging reads nothing."""

    catalogue: Catalogue
    revision: Callable[[], Revision]
    clock: Clock
    default_phase: Phase
    seen: SeenLookup
    sees: Callable[[Case], bool]
    """Whether what a case is about would be listed for its actor."""
    tasks: Callable[[ProposedCall], Tool | None] = no_tasks
    """The tool whose task a call is about, when the task is the caller's."""
    _drafts: dict[str, Contract] = field(default_factory=dict[str, Contract])

    async def __call__(self, call: ProposedCall) -> Case | Refusal:
        """Return the case, or the refusal that an unknown name gets."""
        tool = self.find(call)
        if isinstance(tool, Ambiguous):
            return self._ambiguous(call, tool)
        if tool is None:
            return unknown(call)
        case = self.case_for(call, tool)
        if case is None:
            return unknown(call, code="unreviewed")
        wanted = _wanted(case.contract, call)
        if not wanted:
            return case
        origins = await self.seen(case.actor, wanted)
        return replace(case, facts=Facts(now=case.facts.now, origins=origins))

    def case_for(self, call: ProposedCall, tool: Tool) -> Case | None:
        """Return the case without looked-up facts, or None for a tool that nobody reviewed."""
        revision = self.revision()
        contract = contract_of(tool, revision, self._drafted)
        if contract is None:
            return None
        return Case(
            call=call,
            tool=tool,
            contract=contract,
            actor=actor_of(call.principal),
            phase=self.default_phase,
            facts=Facts(now=call.received_at),
            revision=revision,
        )

    def find(self, call: ProposedCall) -> Tool | Ambiguous | None:
        """Return what the name in a call stands for, by the method of the call."""
        match call.method:
            case Method.CALL_TOOL:
                return self.catalogue.find(call.name)
            case Method.READ_RESOURCE | Method.SUBSCRIBE:
                return self.catalogue.resource(call.name)
            case Method.GET_PROMPT:
                return self.catalogue.prompt(call.name)
            case Method.COMPLETE:
                return self._referred(call)
            case Method.GET_TASK | Method.UPDATE_TASK | Method.CANCEL_TASK:
                return self.tasks(call)
            case Method.ELICIT | Method.SAMPLE | Method.LIST_ROOTS | Method.LOG:
                raise ValueError(f"{call.method} goes to clients, never to servers")
            case _:
                assert_never(call.method)

    def _referred(self, call: ProposedCall) -> Tool | Ambiguous | None:
        """Return what an argument is to be completed for (MCP, server/utilities/completion)."""
        ref = call.params.get("ref")
        kind = ref.get("type") if isinstance(ref, dict) else None
        if kind == "ref/prompt":
            return self.catalogue.prompt(call.name)
        if kind == "ref/resource":
            return self.catalogue.template(call.name) or self.catalogue.resource(call.name)
        return None

    def _ambiguous(self, call: ProposedCall, found: Ambiguous) -> Refusal:
        """Name the URIs that are certain, of what this caller may know of."""
        cases = (self.case_for(call, tool) for tool in found.candidates)
        known = [case.tool.exposed_name for case in cases if case is not None and self.sees(case)]
        if not known:
            return unknown(call, code="ambiguous_uri")
        named = ", ".join(f"`{uri}`" for uri in sorted(known))
        return Refusal(
            status=Status.INVALID_ARGUMENTS,
            code="ambiguous_uri",
            reason=f"several servers have `{envelope.shown(found.uri)}`",
            next=f"name the server as well: {named}",
        )

    def _drafted(self, tool: Tool) -> Contract:
        known = self._drafts.get(tool.key)
        if known is None or known.pin != tool.pin:
            known = self._drafts[tool.key] = draft.draft(tool).contract
        return known


def contract_of(
    tool: Tool, revision: Revision, drafted: Callable[[Tool], Contract]
) -> Contract | None:
    """Return what is enforced about something, or None for a tool that nobody reviewed."""
    if tool.kind is not Kind.TOOL:
        return replace(READ_ONLY, tool=tool.key, pin=tool.pin)
    contract = revision.contracts.get(tool.key)
    if contract is not None and contract.reviewed:
        return contract
    if revision.unreviewed is not Unreviewed.OBSERVE:
        return None
    return contract or drafted(tool)


@lru_cache(maxsize=1024)
def actor_of(principal: Principal) -> Actor:
    """Say who acts: from the verified credential and from nothing else."""
    return Actor(
        user=principal.user,
        tenant=principal.tenant,
        roles=principal.roles,
        scopes=principal.scopes,
        client=principal.client,
        method=principal.method.value,
        issuer=principal.issuer,
    )


def unknown(call: ProposedCall, *, code: str = "") -> Refusal:
    """Return the one answer for names that don't exist, whatever the reason."""
    missing = envelope.missing(call.name, call.method)
    return replace(missing, code=code or missing.code, hidden=True)


def _wanted(
    contract: Contract, call: ProposedCall
) -> dict[JsonPointer, tuple[Json, tuple[str, ...]]]:
    """Name the argument values whose origin the contract asks about, with the accepted types."""
    wanted: dict[JsonPointer, tuple[Json, tuple[str, ...]]] = {}
    for rule in contract.provenance:
        types = tuple(
            operand
            for source in rule.sources
            if source.kind is SourceKind.RESULTS
            for operand in source.operands
        )
        if not types:
            continue
        try:
            wanted[rule.pointer] = (jsontext.get(call.arguments, rule.pointer), types)
        except KeyError:
            continue
    return wanted

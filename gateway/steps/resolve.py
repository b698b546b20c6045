"""Step 1: what does the name stand for? Gathers every fact that judging needs."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, assert_never

from gateway.case import Case, Facts, Origin, Traced
from gateway.clock import Clock
from gateway.contracts import draft
from gateway.crossing.belonging import Belonging
from gateway.results import envelope
from gateway.revision import Revision, Unreviewed
from gateway.runs.origins import Asked
from gateway.steps import provenance
from gateway.types.actors import Actor
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import Json, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Phase
from gateway.types.tools import Ambiguous, Contract, Effect, Kind, Risk, SourceTrust, Tool
from gateway.types.values import maker, replaced

_case = maker(Case)
_facts = maker(Facts)


class SeenIndex(Protocol):
    """What callers were given before; every method raises StoreUnavailable."""

    async def trace(
        self,
        actor: Actor,
        run_id: str,
        asked: Mapping[JsonPointer, Asked],
        doubted: Collection[JsonPointer],
    ) -> Traced:
        """Return where values were given in a run, or to this actor without one.

        And for doubted ones that were not, ids that were and are one slip away.
        """
        ...

    async def is_tainted(self, actor: Actor) -> bool:
        """Say whether an actor got results that others can write, in whatever run."""
        ...


# The contract of every resource and prompt: nobody has to write one to read (ADR 0011).
READ_ONLY: Final = Contract(
    tool="", pin="", effect=Effect.READ, risk=Risk.LOW, definition={}, place="built in"
)


_NOTHING: Final = Traced(origins={}, near={})
# Names of the module for what every call asks: to find a member takes longer than to compare it.
_CALL: Final = Method.CALL_TOOL
_TOOL: Final = Kind.TOOL
# One for all calls of which nothing is looked up.
_NO_ORIGINS: Final[Mapping[JsonPointer, tuple[Origin, ...]]] = {}
_NO_NEAR: Final[Mapping[JsonPointer, Json]] = {}


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


def not_kept(tool: Tool) -> None:
    """Keep no definition."""
    del tool


@dataclass(slots=True, kw_only=True)
class Resolve:
    """Turns a proposal into a complete case; after it, judging reads nothing."""

    catalogue: Catalogue
    revision: Callable[[], Revision]
    clock: Clock
    default_phase: Phase
    seen: SeenIndex
    sees: Callable[[Case], bool]
    """Whether what a case is about would be listed for its actor."""
    belonging: Belonging
    tasks: Callable[[ProposedCall], Tool | None] = no_tasks
    """The tool whose task a call is about, when the task is the caller's."""
    kept: Callable[[Tool], None] = not_kept
    """Keep a definition that nobody reviewed, by which calls are judged from now on."""
    _drafts: dict[str, Contract] = field(default_factory=dict[str, Contract])

    async def __call__(self, call: ProposedCall) -> Case | Refusal:
        """Return the case, or the refusal that an unknown name gets."""
        # At the first look what nearly all calls are about.
        tool = self.catalogue.find(call.name) if call.method is _CALL else self.find(call)
        if isinstance(tool, Ambiguous):
            return self._ambiguous(call, tool)
        if tool is None:
            return unknown(call)
        case = self.case_for(call, tool)
        if case is None:
            return unknown(call, code="unreviewed")
        if self.belonging.places(case):
            placed = await self.belonging.placed(case)
            if isinstance(placed, Refusal):
                return placed if self.sees(case) else replace(placed, hidden=True)
            case = placed
        contract = case.contract
        if contract.provenance or contract.when_tainted is not None or case.revision.reads_taint:
            return await self.traced(case)
        return case

    async def traced(self, case: Case) -> Case:
        """Look up what was given before, as far as the contract asks for it."""
        asked = provenance.asked(case)
        known = _NOTHING
        if asked:
            doubted = provenance.doubtful(case)
            known = await self.seen.trace(case.actor, case.run_id, asked, doubted)
        is_tainted = _minds_taint(case) and await self.seen.is_tainted(case.actor)
        facts = replaced(case.facts, origins=known.origins, near=known.near, is_tainted=is_tainted)
        return replaced(case, facts=facts)

    def observed(self, call: ProposedCall) -> Case | None:
        """Return the case of a call that passes whatever is decided; None when nothing is named."""
        tool = self.find(call)
        if tool is None or isinstance(tool, Ambiguous):
            return None
        return self.case_for(call, tool, observes=True)

    def case_for(self, call: ProposedCall, tool: Tool, *, observes: bool = False) -> Case | None:
        """Return the case without looked-up facts, or None for a tool that nobody reviewed.

        With `observes` such a tool has its case as well, by a draft.
        """
        revision = self.revision()
        contract = revision.contracts.get(tool.key) if tool.kind is _TOOL else None
        if contract is None or not contract.reviewed:  # `contract_of` would return any other
            contract = contract_of(tool, revision, self._drafted, observes=observes)
            if contract is None:
                return None
        return _case(
            call=call,
            tool=tool,
            contract=contract,
            actor=call.principal.actor,
            phase=self.default_phase,
            facts=_facts(now=call.received_at, origins=_NO_ORIGINS, near=_NO_NEAR),
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
            self.kept(tool)
        return known


def _minds_taint(case: Case) -> bool:
    return case.contract.when_tainted is not None or case.revision.reads_taint


def contract_of(
    tool: Tool,
    revision: Revision,
    drafted: Callable[[Tool], Contract],
    *,
    observes: bool = False,
) -> Contract | None:
    """Return what is enforced about something, or None for a tool that nobody reviewed.

    With `observes` nothing is, and such a tool goes by its draft.
    """
    if tool.kind is not Kind.TOOL:
        # A mailbox is one by whichever way it is read.
        is_open = tool.server in revision.open_servers
        trust = SourceTrust.EXTERNAL if is_open else READ_ONLY.result_trust
        return replace(READ_ONLY, tool=tool.key, pin=tool.pin, result_trust=trust)
    contract = revision.contracts.get(tool.key)
    if contract is not None and contract.reviewed:
        return contract
    if not observes and revision.unreviewed is not Unreviewed.OBSERVE:
        return None
    return contract or drafted(tool)


def unknown(call: ProposedCall, *, code: str = "") -> Refusal:
    """Return the one answer for names that don't exist, whatever the reason."""
    missing = envelope.missing(call.name, call.method)
    return replace(missing, code=code or missing.code, hidden=True)

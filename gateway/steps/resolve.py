"""Step 1: which tool does the name stand for? Gathers every fact that judging needs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeAlias

from gateway import jsontext
from gateway.case import Case, Facts, Origin
from gateway.clock import Clock
from gateway.contracts import draft
from gateway.revision import Revision, Unreviewed
from gateway.types.actors import Actor
from gateway.types.calls import Principal, ProposedCall
from gateway.types.json import Json, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Phase
from gateway.types.tools import Contract, SourceKind, Tool

SeenLookup: TypeAlias = Callable[
    [Actor, Mapping[JsonPointer, tuple[Json, tuple[str, ...]]]],
    Awaitable[Mapping[JsonPointer, tuple[Origin, ...]]],
]


class Catalogue(Protocol):
    """The stored map of exposed names."""

    def find(self, exposed_name: str) -> Tool | None:
        """Return the tool that an exposed name stands for."""
        ...


@dataclass(slots=True, kw_only=True)
class Resolve:
    """Turns a proposal into a complete case; after it, judging reads nothing."""

    catalogue: Catalogue
    revision: Callable[[], Revision]
    clock: Clock
    default_phase: Phase
    seen: SeenLookup
    _drafts: dict[str, Contract] = field(default_factory=dict[str, Contract])

    async def __call__(self, call: ProposedCall) -> Case | Refusal:
        """Return the case, or the refusal that an unknown name gets."""
        tool = self.catalogue.find(call.name)
        if tool is None:
            return unknown(call.name)
        case = self.case_for(call, tool)
        if case is None:
            return unknown(call.name, code="unreviewed")
        wanted = _wanted(case.contract, call)
        if not wanted:
            return case
        origins = await self.seen(case.actor, wanted)
        return _with_origins(case, origins)

    def case_for(self, call: ProposedCall, tool: Tool) -> Case | None:
        """Return the case without looked-up facts, or None for a tool that nobody reviewed."""
        revision = self.revision()
        contract = revision.contracts.get(tool.key)
        if contract is None or not contract.reviewed:
            if revision.unreviewed is not Unreviewed.OBSERVE:
                return None
            contract = contract or self._drafted(tool)
        return Case(
            call=call,
            tool=tool,
            contract=contract,
            actor=actor_of(call.principal),
            phase=self.default_phase,
            facts=Facts(now=call.received_at),
            revision=revision,
        )

    def _drafted(self, tool: Tool) -> Contract:
        known = self._drafts.get(tool.key)
        if known is None or known.pin != tool.pin:
            known = self._drafts[tool.key] = draft.draft(tool).contract
        return known


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


def unknown(name: str, *, code: str = "unknown_tool") -> Refusal:
    """Return the one answer for names that don't exist, whatever the reason."""
    shown = name if len(name) <= 128 else name[:128] + "…"
    return Refusal(
        status=Status.UNKNOWN_TOOL, code=code, reason=f"there is no tool `{shown}`", hidden=True
    )


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


def _with_origins(case: Case, origins: Mapping[JsonPointer, tuple[Origin, ...]]) -> Case:
    return Case(
        call=case.call,
        tool=case.tool,
        contract=case.contract,
        actor=case.actor,
        phase=case.phase,
        facts=Facts(now=case.facts.now, origins=origins),
        revision=case.revision,
        run_id=case.run_id,
    )

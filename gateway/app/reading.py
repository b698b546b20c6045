"""The reads that the gateway makes by itself, through its own pipeline."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gateway import ids
from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.reads import NotRead
from gateway.events import concealed
from gateway.operations.templates import Known, fill, of_result
from gateway.types.calls import Nobody, ProposedCall
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate
from gateway.types.json import Json
from gateway.types.operations import Delivered, Delivery, Rejected
from gateway.types.outcomes import Finished, Status
from gateway.types.runs import BindingKind, Place
from gateway.types.tools import Sensitivity

Look: TypeAlias = Callable[[ProposedCall], Awaitable[tuple[Finished, Delivery | None]]]
Origin: TypeAlias = Callable[[str], Awaitable[str]]

# The same read may show something later.
_FOR_NOW: Final = frozenset(
    {
        Status.UNAVAILABLE,
        Status.BUSY,
        Status.TIMEOUT,
        Status.LIMIT_EXCEEDED,
        Status.UNKNOWN_TOOL,  # its server may not be there yet
    }
)


async def _nobody_knows(call_id: str) -> str:
    del call_id
    return ""


async def _nowhere(call: ProposedCall) -> tuple[Finished, Delivery | None]:
    raise RuntimeError(f"{call.name}: there is no pipeline yet")


@dataclass(slots=True, kw_only=True)
class Reading:
    """Makes reads as the principal of a case; `look` is the pipeline's, once there is one."""

    exposed: Callable[[str], str | None]
    """The name that callers use for the tool with a key, when its server is there."""
    clock: Clock
    look: Look = _nowhere
    origin: Origin = _nobody_knows
    """Where a call stands in its trace, as `traceparent`; empty when that is not known."""

    async def read(
        self, case: Case, call: CallTemplate, known: Known, *, deadline_s: float, cause: Cause
    ) -> Json | NotRead:
        """Make one read; see `crossing.reads.Reads`."""
        name = self.exposed(call.tool)
        if name is None:
            return NotRead(reason=f"`{call.tool}` is not there", for_now=True)
        proposed = ProposedCall(
            call_id=ids.new("call"),
            name=name,
            arguments=fill(call.args, known),
            meta={},
            principal=case.call.principal,
            caller=Nobody(),
            received_at=self.clock.now(),
            cause=cause.value,
            parent=case.call.call_id,
            concealed=_concealed(case, known),
            run=_run(case),
        )
        try:
            async with asyncio.timeout(deadline_s):
                origin = await self.origin(proposed.parent)
                linked = replace(proposed, trace_header=origin) if origin else proposed
                finished, delivery = await self.look(linked)
        except TimeoutError:
            return NotRead(reason=f"`{call.tool}` gave no answer in {deadline_s:g} s", for_now=True)
        return _data(call, finished, delivery)


def _run(case: Case) -> Place | None:
    """Return the run that a read is made in: that of the write which it is made for."""
    kind = case.bound_by or BindingKind.META
    return Place(kind=kind, value=case.run_id) if case.run_id else None


def _concealed(case: Case, known: Known) -> dict[str, Sensitivity]:
    """Return what may stand in no event of a read: it is filled with values of another call."""
    contract = case.contract
    found = concealed.named(known.args) | concealed.values(known.args, contract.sensitive)
    for data in (known.result, known.old):
        found |= concealed.values(data, {**contract.sensitive, **contract.sensitive_results})
    return {**found, **case.call.concealed}


def _data(call: CallTemplate, finished: Finished, delivery: Delivery | None) -> Json | NotRead:
    match delivery:
        case Rejected():
            return NotRead(reason=f"`{call.tool}` answered with an error", not_found=True)
        case Delivered() if delivery.result.get("isError") is True:
            return NotRead(reason=f"`{call.tool}` says that it failed", not_found=True)
        case Delivered() if finished.status is Status.OK:
            return of_result(delivery.result)
        case _:
            status = finished.status
            reason = f"`{call.tool}` was not read: {status.value}"
            return NotRead(reason=reason, for_now=status in _FOR_NOW)

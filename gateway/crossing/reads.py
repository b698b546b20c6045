"""Reads that the gateway makes by itself, to see what a write came to."""

import logging
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from gateway.case import Case
from gateway.errors import WeighbridgeError
from gateway.operations.templates import Known
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate
from gateway.types.json import Json

_log = logging.getLogger("weighbridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Why a read showed nothing; it is never evidence, neither for a write nor against it."""

    reason: str
    not_found: bool = False  # its tool did answer, and says that there is no such thing
    for_now: bool = False  # the same read may show something later: away, busy, over a limit


Old: TypeAlias = Json | NotRead
"""What a read showed before the write; None where no contract asks for one."""


class Reads(Protocol):
    """The way of a read through the whole pipeline, as the principal of a case."""

    async def read(
        self, case: Case, call: CallTemplate, known: Known, *, deadline_s: float, cause: Cause
    ) -> Json | NotRead:
        """Fill a template, make the read, and return its data (`of_result`), within the deadline.

        The data is what was received, before fields are kept back: a masked value would look like
        a wrong one, and nothing of it leaves. Whatever turns out to be no read is not sent.
        Raises what `fill` raises, and the cancellation of its caller.
        """
        ...


async def take(
    reads: Reads,
    case: Case,
    call: CallTemplate,
    known: Known,
    *,
    deadline_s: float,
    cause: Cause = Cause.VERIFICATION,
) -> Json | NotRead:
    """Make one read; whatever goes wrong is a reason, and so is an answer without data."""
    try:
        data = await reads.read(case, call, known, deadline_s=deadline_s, cause=cause)
    except WeighbridgeError as error:
        return NotRead(reason=f"`{call.tool}` can't be asked: {error}")
    except Exception:  # the write took place; a fault in checking it must not hide its answer
        _log.exception("the read by `%s` failed", call.tool)
        return NotRead(reason=f"`{call.tool}` could not be asked")
    if data is None:
        return NotRead(reason=f"`{call.tool}` answered without data")
    return data

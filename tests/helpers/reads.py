"""Reads that answer as they are told to, for tests of what is made of the answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.case import Case
from gateway.crossing.reads import NotRead
from gateway.operations.templates import Known, fill
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate
from gateway.types.json import Json, JsonObject

NOT_FOUND = NotRead(reason="`crm.get` failed", not_found=True)
BUSY = NotRead(reason="`crm.get` is busy", for_now=True)
DENIED = NotRead(reason="`crm.get` is denied")


@dataclass(slots=True)
class Scripted:
    """Gives its answers one after the other, the last one for good; errors are raised."""

    answers: Sequence[Json | NotRead | Exception]
    asked: list[tuple[str, JsonObject]] = field(default_factory=list[tuple[str, JsonObject]])
    deadlines: list[float] = field(default_factory=list[float])
    causes: list[Cause] = field(default_factory=list[Cause])

    async def read(
        self, case: Case, call: CallTemplate, known: Known, *, deadline_s: float, cause: Cause
    ) -> Json | NotRead:
        """Answer a filled read."""
        del case
        self.asked.append((call.tool, fill(call.args, known)))
        self.deadlines.append(deadline_s)
        self.causes.append(cause)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

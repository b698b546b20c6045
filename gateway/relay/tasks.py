"""Work that goes on after its call was answered (extension `io.modelcontextprotocol/tasks`).

The id that a caller gets holds, sealed, the server, the tool and the server's own id, and whose it
is: nobody else can ask after it, through whichever replica.
"""

from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case
from gateway.relay.seals import SealBroken, Seals
from gateway.types.calls import ProposedCall
from gateway.types.decisions import OutputPolicy, RedactAs, Redaction
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.relay import Outbound

ID: Final = "taskId"
_PURPOSE: Final = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an id stands for."""

    server: str
    tool: str  # by the server's own name
    id: str  # the server's own
    output: OutputPolicy  # what of the result may leave, as it was decided for the call


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Seals ids of tasks and opens them."""

    seals: Seals

    def created(self, case: Case, delivered: Delivered) -> Delivered:
        """Return the result that begins a task, with an id that its caller alone can use."""
        own = delivered.result.get(ID)
        if not isinstance(own, str):
            return delivered
        output = case.decision.output
        claims: JsonObject = {
            "server": case.tool.server,
            "tool": case.tool.name,
            "id": own,
            "owner": list(case.call.principal.owner),
            "keep": list(output.keep),
            "redact": [[each.path, each.form.value] for each in output.redact],
        }
        result: JsonObject = {**delivered.result, ID: self.seals.seal(_PURPOSE, claims)}
        return replace(delivered, result=result)

    def find(self, call: ProposedCall) -> Task | None:
        """Return the task that a call is about, if it is the caller's."""
        try:
            claims = self.seals.open(_PURPOSE, call.name)
        except SealBroken:
            return None
        if claims["owner"] != list(call.principal.owner):
            return None
        return Task(
            server=str(claims["server"]),
            tool=str(claims["tool"]),
            id=str(claims["id"]),
            output=_output(claims),
        )

    def unsealed(self, call: ProposedCall, outbound: Outbound) -> Outbound:
        """Return a request about a task with the id that its server knows."""
        task = self.find(call)
        own = task.id if task is not None else ""  # it was found when the case was made
        return replace(outbound, params={**outbound.params, ID: own})

    def named(self, case: Case, delivered: Delivered) -> Delivered:
        """Return what a server says of a task, under the id that the caller knows."""
        if ID not in delivered.result:
            return delivered
        return replace(delivered, result={**delivered.result, ID: case.call.name})

    def decided(self, case: Case) -> Case:
        """Return a case whose results are minimised as it was decided when its task began."""
        task = self.find(case.call)
        if task is None:
            return case
        return replace(case, decision=replace(case.decision, output=task.output))


def _output(claims: JsonObject) -> OutputPolicy:
    keep, redact = claims["keep"], claims["redact"]
    assert isinstance(keep, list)  # noqa: S101 - sealed by ourselves
    assert isinstance(redact, list)  # noqa: S101 - sealed by ourselves
    return OutputPolicy(
        keep=tuple(str(path) for path in keep),
        redact=tuple(
            Redaction(path=str(each[0]), form=RedactAs(each[1]))
            for each in redact
            if isinstance(each, list)
        ),
    )

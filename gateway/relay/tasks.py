"""Work that goes on after its call was answered (extension `io.modelcontextprotocol/tasks`).

The id that a caller gets holds, sealed, the server, the tool and the server's own id, and whose it
is: nobody else can ask after it, through whichever replica.
"""

from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case
from gateway.relay.seals import SealBroken, Seals
from gateway.types.calls import Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from gateway.types.relay import Outbound

EXTENSION: Final = "io.modelcontextprotocol/tasks"
ID: Final = "taskId"
_PURPOSE: Final = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an id stands for."""

    server: str
    tool: str  # by the server's own name
    id: str  # the server's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Seals ids of tasks and opens them."""

    seals: Seals

    def sealed(self, case: Case, delivered: Delivered) -> Delivered:
        """Return a result that names a task, with the id that its caller may use."""
        own = delivered.result.get(ID)
        if not isinstance(own, str):
            return delivered
        claims: JsonObject = {
            "server": case.tool.server,
            "tool": case.tool.name,
            "id": own,
            "owner": list(case.call.principal.owner),
        }
        result: JsonObject = {**delivered.result, ID: self.seals.seal(_PURPOSE, claims)}
        return replace(delivered, result=result)

    def unsealed(self, call: ProposedCall, outbound: Outbound) -> Outbound:
        """Return a request about a task with the id that its server knows."""
        task = self.find(call.name, call.principal)
        own = task.id if task is not None else ""  # found before, when the case was made
        return replace(outbound, params={**outbound.params, ID: own})

    def find(self, token: str, principal: Principal) -> Task | None:
        """Return the task behind an id, if it is this caller's."""
        try:
            claims = self.seals.open(_PURPOSE, token)
        except SealBroken:
            return None
        server, tool, own = claims.get("server"), claims.get("tool"), claims.get("id")
        if claims.get("owner") != list(principal.owner):
            return None
        if not (isinstance(server, str) and isinstance(tool, str) and isinstance(own, str)):
            return None
        return Task(server=server, tool=tool, id=own)

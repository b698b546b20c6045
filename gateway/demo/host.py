"""The host of a demo's agents: the program around the model, which looks after runs over `/v1`."""

from dataclasses import dataclass

from gateway.client import AsyncClient, Package, RunsError
from gateway.demo.agent import Said
from gateway.demo.scene import Request, Surprise


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Asks as hosts do, with a key of its own that opens nothing else."""

    url: str  # of the admin listener
    key: str

    async def ask(self, request: Request, run: str) -> Said:
        """Make one request about a run; a refusal is what came of it."""
        async with AsyncClient(self.url, self.key) as client:
            try:
                reply = await request.ask(client, run)
            except RunsError as error:
                return Said(status=error.problem.code, reason=str(error))
        said, surprise = "", ""
        try:
            said = request.observe(reply)
        except Surprise as error:
            surprise = str(error)
        unknown = reply.unknown[0].op_id if isinstance(reply, Package) and reply.unknown else ""
        return Said(
            status=reply.phase, reason=said, run=reply.run_id, op_id=unknown, surprise=surprise
        )

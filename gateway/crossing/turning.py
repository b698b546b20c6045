"""Where hosts tell of turns of a model in a run."""

from collections.abc import Sequence

from gateway import ids
from gateway.crossing.run_wishes import By, Kind, RunRefused, Sees
from gateway.crossing.running import Running
from gateway.events import turns
from gateway.events.turns import Turn
from gateway.store.run_attempts import KeyUsed
from gateway.types.events import Event
from gateway.types.runs import Attempt, Run


async def turned(
    running: Running, run_id: str, sees: Sees, by: By, turn: Turn, *, attempt: Attempt | None = None
) -> Run:
    """Keep what a turn was, and add its tokens to what was spent on the run.

    An `attempt` that was made before changes nothing. Raises RunRefused and StoreUnavailable.
    """
    run = await running.open(run_id, sees)
    id, now = ids.ulid(), running.clock.now()

    def told(before: Run, after: Run) -> Sequence[Event]:
        del before
        return [turns.told(turn, after, running.redactor, id=id, at=now, actor=by.actor)]

    try:
        return await running.runs.told_of(run, told, tokens=turn.tokens, attempt=attempt)
    except KeyUsed as error:
        raise RunRefused(kind=Kind.KEY_USED, reason=str(error)) from None

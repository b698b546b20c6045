"""Which tools of its own the gateway shows agents: by configuration, and where they are of use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.actions.runs import reach
from gateway.app.keeping import Keeping
from gateway.config.settings import ExposeSettings
from gateway.crossing import bringing
from gateway.crossing.belonging import Belonging
from gateway.crossing.running import Running
from gateway.relay.errands import Errands
from gateway.relay.repeat import Again
from gateway.relay.run_tools import RunTools, Sighted
from gateway.relay.run_words import Bringers
from gateway.relay.tools import OwnTools
from gateway.relay.wait import Wait
from gateway.revision import Revision
from gateway.runs.origins import Asked
from gateway.types.actors import Actor
from gateway.types.calls import Principal
from gateway.types.guarantees import Repeat
from gateway.types.json import Json
from gateway.types.own import Own
from gateway.types.runs import Bound, Place, Trust
from gateway.types.tools import SourceTrust


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """Decides about each tool anew, so that a reload is seen at once."""

    expose: ExposeSettings
    revision: Callable[[], Revision]
    holds: Callable[[], bool] = lambda: True
    """Whether calls are held, or answered from the record, at all; runs there are in any case."""

    def tools(self, *, wait: Wait, again: Again, runs: RunTools, errands: Errands) -> OwnTools:
        """Return all of them, shown or not."""
        is_on = runs.running.is_on
        return OwnTools(
            tools=(
                wait.tool(
                    self._where(
                        Own.WAIT, lambda revision: self.holds() and revision.policy.holds_any
                    )
                ),
                again.tool(
                    self._where(
                        Own.REPEAT, lambda revision: self.holds() and _lets_repeat(revision)
                    )
                ),
                *runs.tools(lambda name: self._where(name, lambda revision: is_on())),
            ),
            errands=errands,
        )

    def _where(self, name: Own, is_of_use: Callable[[Revision], bool]) -> Callable[[], bool]:
        return lambda: self.expose.shows(name) and is_of_use(self.revision())


def run_tools(keeping: Keeping, running: Running, belonging: Belonging) -> RunTools:
    """Return the tools by which agents work in runs, over one store."""

    async def bound(principal: Principal, places: Sequence[Place]) -> Sequence[Bound]:
        return await keeping.store.runs.bound(principal, places, with_counts=True)

    async def seen(actor: Actor, run_id: str, value: Json, types: Sequence[str]) -> Sighted:
        if not types:  # no type stands for any here
            return Sighted()
        asked = {"": Asked(value=value, types=frozenset(types))}
        found = await keeping.find_origins(actor, run_id, asked)
        origins = sorted(found.get("", ()), key=lambda each: types.index(each.type))
        sure = next((each for each in origins if each.trust is not SourceTrust.EXTERNAL), None)
        if sure is not None:
            return Sighted(type=sure.type)
        return Sighted(type=origins[0].type, trust=Trust.HINT) if origins else Sighted()

    def bringers(actor: Actor) -> Bringers:
        revision, now = belonging.revision(), running.clock.now()
        return Bringers(
            of_types=lambda types: bringing.of_types(revision, actor, types, now=now),
            of_evidence=lambda: bringing.of_evidence(revision, actor, now=now),
        )

    return RunTools(
        running=running,
        bound=bound,
        owner=keeping.store.runs.owner,
        seen=seen,
        tainted=keeping.is_tainted,
        reach=lambda: reach(belonging.revision().contracts),
        bringers=bringers,
        chain=belonging.chain,
    )


def _lets_repeat(revision: Revision) -> bool:
    return any(
        each.reviewed and each.idempotency.repeat is not Repeat.DENY
        for each in revision.contracts.values()
    )

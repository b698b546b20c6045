"""Whether several people have to agree to a changed policy, and the look at whether they have."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from gateway.actions.activation import Activation, Reloaded
from gateway.actions.agreement import Agreement
from gateway.app.keeping import Keeping
from gateway.clock import Clock
from gateway.config.settings import Settings
from gateway.config.terms import terms
from gateway.errors import StoreUnavailable
from gateway.revision import Unreviewed
from gateway.store.revisions import StoredRevision
from gateway.store.store import Store

_log = logging.getLogger("weighbridge")


def agreement(store: Store, settings: Settings, clock: Clock) -> Agreement | None:
    """Return what people have to agree by, or None where a changed file is enough."""
    if not settings.activation.is_shared:
        return None

    async def newest() -> StoredRevision | None:
        return next(iter(await store.revisions.latest(1)), None)

    return Agreement(
        proposals=store.proposals,
        newest=newest,
        people=settings.activation.people,
        say=settings.say,
        clock=clock,
    )


def activation_of(
    settings: Settings, keeping: Keeping, clock: Clock, tell: Callable[[Reloaded, str], None]
) -> Activation:
    """Return what holds the revision in force, which has yet to start."""
    return Activation(
        folder=settings.policies,
        unreviewed=Unreviewed(settings.contracts.unreviewed),
        clock=clock,
        keep=keeping.keep_revision,
        tell=tell,
        servers=frozenset(settings.servers),
        terms=terms(settings),
        agreement=agreement(keeping.store, settings, clock),
    )


@dataclass(slots=True, kw_only=True)
class Agreeing:
    """Puts in force what people agreed on, by whatever gateway or command."""

    activation: Activation
    every_s: float = 2.0

    async def run(self) -> None:
        """Look for ever; a store that is away is looked at again at the next turn."""
        while True:
            try:
                await self.activation.follow()
            except StoreUnavailable as error:
                _log.debug("whether people have agreed could not be seen: %s", error)
            except Exception:  # the loop must outlive any proposal
                _log.exception("what people agreed on could not be put in force")
            await anyio.sleep(self.every_s)

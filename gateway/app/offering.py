"""Which tools of its own the gateway shows agents: by configuration, and where they are of use."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.config.settings import ExposeSettings
from gateway.relay.errands import Errands
from gateway.relay.repeat import Again
from gateway.relay.tools import OwnTools
from gateway.relay.wait import Wait
from gateway.revision import Revision
from gateway.types.guarantees import Repeat
from gateway.types.own import Own


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """Decides about each tool anew, so that a reload is seen at once."""

    expose: ExposeSettings
    revision: Callable[[], Revision]

    def tools(self, *, wait: Wait, again: Again, errands: Errands) -> OwnTools:
        """Return all of them, shown or not."""
        return OwnTools(
            tools=(
                wait.tool(self._where(Own.WAIT, lambda revision: revision.policy.holds_any)),
                again.tool(self._where(Own.REPEAT, _lets_repeat)),
            ),
            errands=errands,
        )

    def _where(self, name: Own, is_of_use: Callable[[Revision], bool]) -> Callable[[], bool]:
        return lambda: self.expose.shows(name) and is_of_use(self.revision())


def _lets_repeat(revision: Revision) -> bool:
    return any(
        each.reviewed and each.idempotency.repeat is not Repeat.DENY
        for each in revision.contracts.values()
    )

"""Where to look at a call."""

from datetime import datetime

from gateway.replay.types import Recorded
from gateway.types.json import JsonObject
from gateway.types.values import value


@value
class Example:
    """One call, to look at."""

    call: str
    run: str
    seq: int  # of its `authorization` event
    at: datetime
    user: str
    tenant: str

    @classmethod
    def of(cls, call: Recorded) -> "Example":
        """Return where to look at a call."""
        return cls(
            call=call.call,
            run=call.run,
            seq=call.seq,
            at=call.at,
            user=call.actor.user,
            tenant=call.tenant,
        )

    def as_json(self) -> JsonObject:
        """Return it for programs."""
        return {
            "call": self.call,
            "run": self.run,
            "seq": self.seq,
            "at": self.at.isoformat(),
            "user": self.user,
            "tenant": self.tenant,
        }

    def __str__(self) -> str:
        run = f" in {self.run}" if self.run else ""
        return f"{self.call}{run}, event {self.seq:,}, {self.user} of {self.tenant}"

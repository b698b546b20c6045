"""Whether decisions are enforced now: all that a running gateway rereads of its configuration."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from gateway.actions.observed import Tally
from gateway.config.load import load
from gateway.errors import WeighbridgeError
from gateway.listing import Listing
from gateway.pipeline import Pipeline
from gateway.relay.questions import CAPABILITY_OF
from gateway.types.calls import Method
from gateway.types.decisions import Mode

_log = logging.getLogger("weighbridge")

OBSERVES = "decisions are only recorded (`mode: observe`): every call passes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How calls are handled in one mode, and what is listed."""

    pipeline: Pipeline
    listing: Listing


@dataclass(slots=True, kw_only=True)
class Stance:
    """The mode in force, and the way of calls for each."""

    mode: Mode = Mode.ENFORCE
    problem: str = ""  # why the configuration file on disk says nothing about it
    tally: Tally = field(default_factory=Tally)
    """What would have become of the calls that passed."""
    ways: dict[Mode, Way] = field(default_factory=dict[Mode, Way])

    @property
    def observes(self) -> bool:
        """Whether decisions are only recorded."""
        return self.mode is Mode.OBSERVE

    def questions(self, allowed: Iterable[Method]) -> Iterable[Method]:
        """Return what servers may ask callers: what rules allow, or anything."""
        return CAPABILITY_OF if self.observes else allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """Takes the mode over from the configuration file, and nothing else of it."""

    path: Path
    environ: Mapping[str, str]
    stance: Stance
    turn: Callable[[Mode, str], None]
    """Go by another mode from now on, and say why."""
    policies: Callable[[], Awaitable[None]]
    """Take the policy folder as it is now: whoever switched went by it, so it comes first."""

    async def __call__(self, because: str) -> None:
        """Look at the file; one that can't be used changes nothing, and is told once."""
        stance = self.stance
        try:
            loaded = await anyio.to_thread.run_sync(load, self.path, self.environ)
        except WeighbridgeError as error:
            problem = str(error).splitlines()[0]
            if problem != stance.problem:
                _log.warning("the mode stays `%s`: %s", stance.mode, problem)
            stance.problem = problem
            return
        stance.problem = ""
        mode = loaded.settings.mode
        if mode is not stance.mode:
            await self.policies()
            self.turn(mode, because)

"""The store of a configuration, with what it takes to read and write operations in it."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio

from gateway.actions import pinning
from gateway.actions.approvals import ApprovalRefused
from gateway.actions.operations import OperationRefused
from gateway.approvals.lines import Unreadable
from gateway.cli import opening, output
from gateway.cli.options import load
from gateway.clock import SystemClock
from gateway.config.load import Loaded
from gateway.contracts.schemas import compile_tool
from gateway.crossing.deciding import Deciding
from gateway.crossing.proposing import faults
from gateway.crossing.run_wishes import RunRefused
from gateway.crossing.running import Running
from gateway.errors import WeighbridgeError
from gateway.events.redact import Redactor
from gateway.operations.keys import own
from gateway.runs.templates import Template
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.json import JsonObject
from gateway.types.tools import Contract

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """An open store, and the configuration that names it."""

    store: Store
    loaded: Loaded

    @property
    def vault(self) -> Vault:
        """What operations keep is sealed with this."""
        return Vault(self.store.keys.operations)

    @property
    def redactor(self) -> Redactor:
        """What people type is redacted by this."""
        return Redactor(self.store.keys.redaction, self.loaded.secrets)

    @property
    def window_s(self) -> float:
        """For how long calls that repeat a settled one are answered with its end."""
        return self.loaded.settings.operations.window

    @property
    def deciding(self) -> Deciding:
        """What takes the word of whoever decides in this terminal.

        A running gateway sees what was decided when it looks at the request again.
        """
        return Deciding(
            approvals=self.store.approvals,
            redactor=self.redactor,
            clock=SystemClock(),
            vault=self.vault,
            targets=self.loaded.settings.approvals.targets,
            own=self._own,
            faults=self._faults,
        )

    def running(self, templates: Mapping[str, Template]) -> Running:
        """Return what changes runs on the word of whoever sits at this terminal.

        A running gateway sees it at the next call of the run.
        """
        return Running(
            runs=self.store.runs,
            templates=lambda: templates,
            is_on=lambda: True,
            idle_s=self.loaded.settings.runs.idle,
            redactor=self.redactor,
            clock=SystemClock(),
        )

    def _own(self, tool: str, arguments: JsonObject) -> JsonObject:
        contract = self.contracts().get(tool)
        return arguments if contract is None else own(arguments, contract.idempotency.inject)

    def _faults(self, tool: str, arguments: JsonObject) -> Sequence[str]:
        """Return what is wrong with arguments; of a tool without a contract nothing is known."""
        contract = self.contracts().get(tool)
        if contract is None:
            return ()
        return faults(contract, compile_tool(contract.definition), arguments)

    def contracts(self) -> Mapping[str, Contract]:
        """Return the contracts as they are on disk, by `server.name`; raises FileError."""
        found = pinning.contracts(self.loaded.settings.policies / "contracts")
        return {name: contract for name, (_, contract) in found.items()}


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Ledger]:
    """Open the store of a configuration."""
    loaded = load(path)
    async with opening.opened(path) as store:
        yield Ledger(store=store, loaded=loaded)


def run(work: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run the work of a command, and end the command with one line for what is refused."""
    try:
        return anyio.run(work)
    except (OperationRefused, ApprovalRefused, RunRefused, Unreadable) as error:
        output.fail(str(error), output.EXIT_FAILED)
    except WeighbridgeError as error:
        output.fail(str(error))

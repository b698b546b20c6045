"""Folders as people who run a gateway have them, and the commands over them, in this process."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gateway.app.gateway import Gateway
from gateway.app.start import open_gateway
from gateway.app.stopping import Stopping
from gateway.cli.main import main
from gateway.clock import SystemClock
from gateway.config.load import Loaded, load
from gateway.store.store import Store
from gateway.types.tools import Contract
from tests.helpers.databases import ORIGIN
from tests.helpers.gateway import ALLOW
from tests.journeys import house

Json = house.Json


@dataclass(frozen=True)
class Workspace:
    """A configuration file with the policy folder and the store beside it."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=lambda: {"PATH": "/usr/bin:/bin"})

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "config.yaml"

    @property
    def store_url(self) -> str:
        """The store that the configuration names."""
        return f"sqlite:///{self.folder}/store.db"

    def loaded(self) -> Loaded:
        """Return the configuration as it is now."""
        return load(self.config, self.environ)

    def run(self, *words: str) -> Result:
        """Run a command with this configuration."""
        return weighbridge(*words, "--config", str(self.config))

    def json(self, *words: str) -> tuple[int, Any]:
        """Run a command for programs; returns its exit code and what it printed."""
        done = self.run(*words, "--json")
        assert done.stdout, done.stderr
        return done.exit_code, json.loads(done.stdout)

    def store(self) -> "closing[Store]":
        """Open the store beside whoever else has it open."""
        return closing(Store.open(self.store_url, origin=ORIGIN))

    @asynccontextmanager
    async def opened(self, stopping: Stopping | None = None) -> AsyncGenerator[Gateway]:
        """Run the gateway without a front; its servers were listed, or have failed once."""
        stopping = stopping or Stopping(SystemClock())
        async with open_gateway(
            self.loaded(), self.folder, self.environ, front="test", stopping=stopping
        ) as gateway:
            # Longer than a gateway waits: on a busy machine a process takes seconds to start.
            await gateway.servers.first_lists(within_s=15)
            yield gateway


def a_workspace(
    folder: Path,
    servers: Mapping[str, Json] | None = None,
    *,
    policy: str = ALLOW,
    contracts: Sequence[Contract] = (),
    **sections: Any,
) -> Workspace:
    """Write the files; `sections` are those of the configuration."""
    configuration = house.config(servers or {}, **sections)
    text = house.contracts(*contracts) if contracts else ""
    house.prepare(folder, configuration, policy=policy, contracts=text)
    return Workspace(folder)


def weighbridge(*words: str, environ: Mapping[str, str | None] | None = None) -> Result:
    """Run a command as a person types it."""
    return CliRunner().invoke(main, list(words), env=environ)

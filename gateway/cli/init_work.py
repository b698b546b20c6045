"""The work of `init`: servers are started, files made in a stage, the client switched last."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import anyio

from gateway.actions import pinning, revisions, starter, taking_over
from gateway.actions.starter import Case
from gateway.actions.taking_over import Plan
from gateway.app.inspect import Inspection, inspect
from gateway.cli import init_files
from gateway.cli.init_choice import Chosen
from gateway.cli.init_files import RECORD, Record
from gateway.clients import references
from gateway.clock import SystemClock
from gateway.config import load as loading
from gateway.config.terms import terms
from gateway.errors import ConfigurationError, FileError
from gateway.revision import Unreviewed
from gateway.servers.state import ServerState, ServerStatus
from gateway.types.tools import Contract
from gateway.types.values import value
from gateway.yamltext.editors import schema_line

START_S: Final = 60.0  # for all servers together
_NAMES: Final = (taking_over.CONFIG, taking_over.POLICIES, taking_over.SECRETS, RECORD)
_IGNORED: Final = f"{taking_over.SECRETS}\n{RECORD}\nweighbridge.db*\n*.before-weighbridge*\n"
_LOGIN: Final = "wants a login, which the client does"

Told = Callable[[ServerState | None, int], None]


@value
class Done:
    """What `init` has done."""

    plan: Plan
    client: Path
    backup: Path
    folder: Path
    states: Mapping[str, ServerState]
    lacking: Mapping[str, str]  # servers that can't be started from here, and why
    contracts: int
    undrafted: tuple[str, ...]
    is_ignored: bool  # whether version control leaves the secrets out, as far as we wrote that down


class Work:
    """One take-over, up to the switch of the client's file."""

    def __init__(self, chosen: Chosen, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = Path(os.path.abspath(folder))  # links in it stay what they are
        self._chosen = chosen
        sources = chosen.plan.passed.items()
        # As the client will give them; the configuration does not hold those that are secrets.
        defaults = {name: references.default_of(source) for name, source in sources}
        self._environ: Mapping[str, str] = {
            **environ,
            **{name: each for name, each in defaults.items() if each and not environ.get(name)},
        }

    @property
    def config(self) -> Path:
        """Where the configuration is to be."""
        return self.folder / taking_over.CONFIG

    @property
    def wanted(self) -> tuple[str, ...]:
        """The variables that the client will give, and that aren't set here: servers need them."""
        plan = self._chosen.plan
        found = (each for each, source in plan.passed.items() if ":-" not in source)
        return tuple(each for each in found if not self._environ.get(each))

    def give(self, values: Mapping[str, str]) -> None:
        """Take values of such variables, to start the servers by; they are kept nowhere."""
        self._environ = {**self._environ, **values}

    def check(self) -> None:
        """Raise FileError if the files have no place, or the client's text can't be edited."""
        init_files.check_free(self.folder, _NAMES)
        self._switched(self._chosen.plan)

    def run(self, told: Told) -> Done:
        """Do it; whatever raises before the last step leaves the client's file as it was."""
        inspection = self._inspected(self._chosen.plan, told)
        plan = self._without_logins(inspection)
        if not plan.taken:
            raise ConfigurationError(f"nothing was changed: each of its servers {_LOGIN}")
        with init_files.staged(self.folder) as stage:
            contracts, undrafted = _drafted(stage, plan, inspection)
            is_ignored = self._laid(stage, plan)
            self._tested(stage, plan, contracts)
            backup = self._switch(stage, plan)
        return Done(
            plan=plan,
            client=self._chosen.original.path,
            backup=backup,
            folder=self.folder,
            states={each.name: each for each in inspection.states},
            lacking=inspection.misconfigured,
            contracts=len(contracts),
            undrafted=undrafted,
            is_ignored=is_ignored,
        )

    def _inspected(self, plan: Plan, told: Told) -> Inspection:
        environ = {**self._environ, **plan.values}
        loaded = loading.of_text(taking_over.servers(plan), self.config, environ)
        count = len(plan.taken)
        told(None, count)

        async def look() -> Inspection:
            return await inspect(
                loaded,
                self.folder,
                environ,
                within_s=START_S,
                told=lambda state: told(state, count),
            )

        logging.disable(logging.WARNING)  # what the log would say of a server is told here
        try:
            return anyio.run(look)
        finally:
            logging.disable(logging.NOTSET)

    def _without_logins(self, inspection: Inspection) -> Plan:
        """Leave servers to the client that it logs in to: behind the gateway nobody would."""
        plan = self._chosen.plan
        refused = {
            each.name
            for each in inspection.states
            if each.status is not ServerStatus.READY and "(HTTP 401)" in each.reason
        }
        leave = {
            each.entry.name: _LOGIN
            for each in plan.taken
            if each.name in refused and "headers" not in each.section
        }
        if not leave:
            return plan
        path = self._chosen.original.path.absolute()
        return taking_over.plan(plan.source, path, self._environ, leave)

    def _laid(self, stage: Path, plan: Plan) -> bool:
        """Write the files into the stage; say whether version control will leave secrets out."""
        made = {
            taking_over.CONFIG: taking_over.config(plan),
            f"{taking_over.POLICIES}/starter.yaml": starter.POLICY,
        }
        if plan.values:
            made[taking_over.SECRETS] = taking_over.secrets(plan)
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            made[".gitignore"] = _IGNORED
        # Not every secret is known for one: what nobody else could read stays so.
        is_private = not self._chosen.original.mode & 0o077
        secret = {taking_over.SECRETS, *([taking_over.CONFIG] if is_private else [])}
        init_files.lay(stage, made, frozenset(secret))
        return not ignore.exists() or taking_over.SECRETS in ignore.read_text(errors="replace")

    def _tested(self, stage: Path, plan: Plan, contracts: Iterable[Contract]) -> None:
        """Write the tests of the policy, and make sure that a gateway would take all of it."""
        names = [each.name for each in plan.taken]
        cases = starter.cases(contracts, names)
        built = self._built(stage, plan, cases)
        if built.report is not None and built.report.failed:
            # A definition may keep its tool from being called with what its schema takes.
            failed = {each.name for each in built.report.results if not each.passed}
            cases = tuple(each for each in cases if each.name not in failed)
            built = self._built(stage, plan, cases)
        if built.problem:
            raise ConfigurationError(f"nothing was changed: {built.problem}")

    def _built(self, stage: Path, plan: Plan, cases: Iterable[Case]) -> revisions.Built:
        config, folder = stage / taking_over.CONFIG, stage / taking_over.POLICIES
        settings = loading.load(config, self._environ).settings
        file = "tests/starter.yaml"
        (folder / file).unlink(missing_ok=True)
        init_files.lay(folder, {file: starter.tests(cases)})
        return revisions.build(
            revisions.read(folder),
            unreviewed=Unreviewed(settings.contracts.unreviewed),
            at=SystemClock().now(),
            prefix=f"{self.folder / taking_over.POLICIES}/",
            servers=[each.name for each in plan.taken],
            terms=terms(settings),
        )

    def _switch(self, stage: Path, plan: Plan) -> Path:
        original, after = self._chosen.original, self._switched(plan)
        backup = init_files.back_up(original)
        try:
            record = Record(
                client=original.path.absolute(),
                backup=backup,
                before=init_files.digest(original.data),
                after=init_files.digest(after),
            )
            init_files.lay(stage, {RECORD: init_files.record_text(record)})
            with init_files.moved(stage, self.folder):
                init_files.replace(original, after)
        except BaseException:
            backup.unlink(missing_ok=True)
            raise
        return backup

    def _switched(self, plan: Plan) -> bytes:
        entry = taking_over.entry(plan, own_command(), self.config)
        return taking_over.switched(plan, entry).encode()


def own_command() -> list[str]:
    """Return the absolute command of this very installation."""
    called = Path(sys.argv[0])
    for script in (called, Path(sys.executable).with_name("weighbridge")):
        if script.name == "weighbridge" and os.access(script, os.X_OK):
            return [os.path.abspath(script)]
    return [sys.executable, "-m", "gateway"]


def _drafted(
    stage: Path, plan: Plan, inspection: Inspection
) -> tuple[list[Contract], tuple[str, ...]]:
    """Draft contracts for what the servers publish; names the servers for which that can't be."""
    folder = stage / taking_over.POLICIES / "contracts"
    folder.mkdir(parents=True)
    undrafted: list[str] = []
    for server in (each.name for each in plan.taken):
        tools = [each for each in inspection.tools if each.server == server]
        path = folder / f"{server}.yaml"
        try:
            pinning.pin(folder, tools)
            if path.exists() and not (text := path.read_text()).startswith("# yaml-language"):
                path.write_text(schema_line("contracts") + text)
            pinning.contracts(folder)
        except FileError:
            path.unlink(missing_ok=True)
            undrafted.append(server)
    return [contract for _, contract in pinning.contracts(folder).values()], tuple(undrafted)

"""A running gateway, as the fronts, the admin listener and the commands see it."""

import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway import __version__
from gateway.actions.activation import Activation
from gateway.actions.state import Snapshot, counted_here
from gateway.app.approving import Approving
from gateway.app.attending import Attending
from gateway.app.checkpointing import Checkpointing
from gateway.app.following import follow
from gateway.app.runs import RunSweeper
from gateway.app.stance import Stance
from gateway.app.subscribing import subscribe
from gateway.app.sweeping import Sweeper
from gateway.app.watch import ToolWatch
from gateway.contracts.standing import tally
from gateway.crossing.running import Running
from gateway.listing import Listing, Page
from gateway.pipeline import Pipeline
from gateway.revision import Revision, Unreviewed
from gateway.servers.fleet import Servers
from gateway.servers.state import ServerState
from gateway.store.store import Store
from gateway.telemetry.health import SignalState
from gateway.telemetry.telemetry import Telemetry
from gateway.types.calls import Caller, Principal, ProposedCall
from gateway.types.decisions import Mode
from gateway.types.extensions import TASKS
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished
from gateway.types.refused import TurnedAway
from gateway.types.relay import Told, lane_of
from gateway.types.tools import Kind, Listed, Tool
from gateway.types.workers import Worker


@dataclass(slots=True, kw_only=True)
class Gateway:
    """Everything wired; `app.start` makes one."""

    pipeline: Pipeline
    approving: Approving
    running: Running
    attending: Attending
    sweeper: Sweeper
    run_sweeper: RunSweeper
    checkpointing: Checkpointing
    listing: Listing
    servers: Servers
    activation: Activation
    tool_watch: ToolWatch
    store: Store
    telemetry: Telemetry
    misconfigured: dict[str, str]
    front: str
    worker: Worker | None = None  # which of several that serve one port
    identity_problems: Callable[[], tuple[str, ...]] = tuple  # of the front that asks who calls
    note_turned_away: Callable[[TurnedAway], None] = lambda what: None  # until there is a log
    patience_s: float = 0.0  # for servers that are starting, before the first list or call
    stance: Stance = field(default_factory=Stance)
    changed: list[Callable[[Kind], None]] = field(default_factory=list[Callable[[Kind], None]])

    def handle(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        """Weigh one call."""
        if self.patience_s and not self._is_there(call):
            return self._handle_late(call)
        return self.pipeline.handle(call)

    async def _handle_late(self, call: ProposedCall) -> Finished:
        await self._first_lists()  # a client may know the name from another day
        return await self.pipeline.handle(call)

    async def watch(
        self, call: ProposedCall, told: Callable[[], None]
    ) -> Callable[[], None] | Finished:
        """Weigh a subscription; returns the way out of it, or why there is none."""
        return await subscribe(self.pipeline, self.servers.catalog.server, call, told)

    async def follow(self, call: ProposedCall, told: Told) -> Callable[[], None] | Finished:
        """Weigh a `tasks/get` and follow its task; returns the way out, or why there is none."""
        catalog, clock = self.servers.catalog, self.listing.clock
        return await follow(self.pipeline, catalog.server, clock, call, told)

    async def list_items(
        self, kind: Listed, principal: Principal, caller: Caller, *, cursor: str | None
    ) -> Page:
        """Return a page of what this principal may see; raises BadCursor."""
        del caller  # a list is the same on every transport
        if self.patience_s:
            await self._first_lists()
        return self.listing.page(kind, principal, cursor)

    def offers(self) -> JsonObject:
        """Return the capabilities of the gateway as a server.

        All but the extensions are there whichever servers are up: those only change the lists.
        """
        offered: JsonObject = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        }
        extensions = self.servers.catalog.extensions()
        if self.activation.current().policy.holds_any and not self.stance.observes:
            extensions = {**extensions, TASKS: extensions.get(TASKS, {})}
        return {**offered, "extensions": extensions} if extensions else offered

    def tool_schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema under which this principal sees a tool, or None."""
        return self.listing.schema(principal, name)

    def on_changed(self, callback: Callable[[Kind], None]) -> Callable[[], None]:
        """Call back when any list may have changed; returns the way out."""
        self.changed.append(callback)
        return lambda: self.changed.remove(callback)

    def roots_changed(self, principal: Principal, session: str) -> None:
        """Hand on that a client's roots changed."""
        self.servers.roots_changed(lane_of(principal, session))

    def turned_away(self, what: TurnedAway) -> None:
        """Take note of a request that never became a call."""
        self.note_turned_away(what)

    def turn(self, mode: Mode) -> None:
        """Go by another mode from now on; calls under way end as they began."""
        way = self.stance.ways[mode]
        self.stance.mode = mode
        self.pipeline, self.listing = way.pipeline, way.listing
        self.servers.rules_changed()  # and what servers may ask
        self.lists_changed()

    async def reload(self, because: str) -> None:
        """Take the policy folder as it is now, if it can be used."""
        await self.activation.reload(because)

    def lists_changed(self, kind: Kind | None = None) -> None:
        """Look at what changed, and tell the fronts; rules may change every list."""
        self.tool_watch.look()
        for changed in Kind if kind is None else (kind,):
            for callback in tuple(self.changed):
                callback(changed)

    def not_ready(self) -> tuple[str, ...]:
        """Say why the gateway can't do its work, if it can't."""
        reasons = [
            f"the required server `{state.name}` is {state.status}"
            for state in self.servers.missing
        ]
        if not self.store.events.health.ok:
            reasons.append("the event log can't be written")
        return tuple(reasons)

    def warnings(self) -> tuple[str, ...]:
        """Say what some callers will meet, though the gateway as a whole can do its work."""
        return tuple(f"keys of an issuer: {problem}" for problem in self.identity_problems())

    def snapshot(self) -> Snapshot:
        """Return the state for `weighbridge status`."""
        revision = self.activation.current()
        states, counts = self.servers.states(), self._tallies(revision)
        health = self.store.events.health
        telemetry = self.telemetry.state()
        store: JsonObject = {
            "ok": health.ok,
            "backlog": health.backlog,
            "committed": health.committed,
            "commits": health.commits,
            "reason": health.reason,
            "sealing": self.store.sealed.problem(),
        }
        keys = [tool.key for tool in self.servers.catalog.tools() if tool.quarantine is None]
        unpinned = [key for key in keys if key not in revision.contracts]
        unreviewed = [
            key
            for key in keys
            if key in revision.contracts and not revision.contracts[key].reviewed
        ]
        return Snapshot(
            version=__version__,
            pid=os.getpid(),
            pids=counted_here(),
            front=self.front,
            worker=self.worker,
            mode=str(self.stance.mode),
            mode_problem=self.stance.problem,
            observed=self.stance.tally.to_json() if self.stance.observes else None,
            revision=revision.id,
            problem=self.activation.problem,
            warnings=self.activation.warnings,
            servers=[
                *(_server(state, counts[state.name]) for state in states),
                *(
                    {"name": name, "status": "misconfigured", "reason": reason}
                    for name, reason in self.misconfigured.items()
                ),
            ],
            quarantined=[
                {
                    "tool": f"{state.name}.{tool.name}",
                    "pointer": tool.pointer,
                    "reason": tool.reason,
                }
                for state in states
                for tool in state.quarantined
            ],
            unpinned=unpinned,
            unreviewed=unreviewed,
            changed=[tool.key for tool, _ in self.tool_watch.changed()],
            store=store,
            telemetry=[_signal(telemetry.traces), _signal(telemetry.metrics)],
            proposed=self.activation.proposed,
            identity=self.identity_problems(),
            approvals={"pending": self.attending.pending},
            checkpoints=self.checkpointing.as_json(),
        )

    def _is_there(self, call: ProposedCall) -> bool:
        found = self.pipeline.resolve.find(call)
        return found is not None and not (isinstance(found, Tool) and found.away is not None)

    async def _first_lists(self) -> None:
        await self.servers.first_lists(self.patience_s)
        self.patience_s = 0.0  # a server that takes longer is told of by a change of the list

    def _tallies(self, revision: Revision) -> dict[str, dict[str, int]]:
        """Count each server's tools by how they stand to their contracts."""
        observe = revision.unreviewed is Unreviewed.OBSERVE
        tools = self.servers.catalog.tools()
        found = {
            state.name: tally(
                (tool for tool in tools if tool.server == state.name),
                revision.contracts,
                observe=observe,
            )
            for state in self.servers.states()
        }
        for name, counts in found.items() if self.stance.observes else ():
            counts["exposed"] = sum(tool.server == name for tool in tools)  # whatever they are
        return found


def _server(state: ServerState, tools: Mapping[str, int]) -> JsonObject:
    return {
        "name": state.name,
        "status": state.status.value,
        "since": state.since.isoformat(timespec="seconds"),
        "reason": state.reason or state.list_error,
        "transport": state.transport,
        "version": state.version,
        "tools": {**tools},
        "stale": state.stale,
        "required": state.required,
        "attempts": state.attempts,
        "in_flight": state.in_flight,
        "stderr": state.stderr_tail[-400:],
    }


def _signal(state: SignalState) -> JsonObject:
    found: dict[str, Json] = {
        "signal": state.signal,
        "exporter": state.exporter,
        "endpoint": state.endpoint,
        "exported": state.exported,
        "dropped": state.dropped,
    }
    return found

"""Which part is built from which, in one place."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gateway import ids
from gateway.actions.activation import Activation, Reloaded
from gateway.app.agreeing import activation_of
from gateway.app.approving import Approving, approving, faults_of, own_arguments
from gateway.app.approving import Around as Asking
from gateway.app.attending import attending
from gateway.app.checkpointing import checkpointing
from gateway.app.entries import entries, misconfigured
from gateway.app.gateway import Gateway
from gateway.app.keeping import Keeping
from gateway.app.naming import naming
from gateway.app.observing import ways
from gateway.app.offering import Offering, run_tools
from gateway.app.operating import Around, Operating, operating
from gateway.app.owner import ProcessOwner
from gateway.app.runs import RunSweeper, belonging
from gateway.app.stance import Stance
from gateway.app.watch import ToolWatch
from gateway.case import Case
from gateway.clock import Clock
from gateway.config.load import Loaded
from gateway.config.terms import terms
from gateway.crossing.belonging import Belonging
from gateway.crossing.failpoints import Reached, go_on
from gateway.crossing.presence import Callers
from gateway.crossing.remains import Remains
from gateway.crossing.running import Running
from gateway.errors import StoreUnavailable
from gateway.events import admin
from gateway.events.redact import Redactor
from gateway.identity.standing import Standing
from gateway.judging import sees
from gateway.listing import Listing
from gateway.pipeline import Pipeline
from gateway.relay.outbound import Outbounds
from gateway.relay.parking import Parking
from gateway.relay.questions import Questions, capabilities_for
from gateway.relay.relay import Relay
from gateway.relay.repeat import Again
from gateway.relay.rounds import Rounds
from gateway.relay.run_tools import RunTools
from gateway.relay.seals import Seals
from gateway.relay.states import States
from gateway.relay.tasks import Tasks
from gateway.relay.tools import OwnTools
from gateway.servers.catalog import Catalog
from gateway.servers.fleet import Servers
from gateway.servers.opening import Surroundings
from gateway.steps import policy
from gateway.steps.dispatch import Dispatch
from gateway.steps.normalise import Normalise
from gateway.steps.record import Record
from gateway.steps.resolve import Resolve
from gateway.telemetry.telemetry import Telemetry
from gateway.types.calls import ProposedCall
from gateway.types.events import Event
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer, Refusal
from gateway.types.tools import Tool
from gateway.types.workers import Worker

_log = logging.getLogger("weighbridge")

_STATE_MARGIN_S = 60.0  # a client that was asked at the last moment still has to come back


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The parts that everything else is built from."""

    loaded: Loaded
    folder: Path  # of the configuration file
    environ: Mapping[str, str]
    front: str
    clock: Clock
    keeping: Keeping
    telemetry: Telemetry
    worker: Worker | None = None  # which of several that serve one port
    reached: Reached = go_on

    async def gateway(self, owner: ProcessOwner) -> Gateway:
        """Build the gateway with its first revision in force; raises ConfigurationError."""
        settings, redactor = self.loaded.settings, self._redactor()
        stance = Stance(mode=settings.mode)
        servers = Servers(
            entries(settings, self.environ),
            Surroundings(
                environment=self.environ,
                folder=self.folder,
                clock=self.clock,
                mask=redactor.text,
                asks=lambda name: capabilities_for(
                    stance.questions(activation.current().policy.questions(name))
                ),
            ),
            naming(settings.expose),
        )
        activation = activation_of(settings, self.keeping, self.clock, self._reloaded)
        await activation.start()
        servers.catalog.expect(lambda: activation.current().contracts)
        mark = self.worker.mark if self.worker is not None else ""
        tasks = Tasks(seals=Seals(self.keeping.store.keys.seals(), self.clock, mark=mark))
        resolve = Resolve(
            catalogue=servers.catalog,
            revision=activation.current,
            clock=self.clock,
            default_phase=settings.runs.default_phase,
            seen=self.keeping,
            sees=sees,
            belonging=self._belonging(activation),
            tasks=lambda call: _tool_of_task(tasks, servers.catalog, call),
            kept=self.keeping.store.definitions.keep,
        )
        states = States(seals=tasks.seals, for_s=settings.limits.ask_timeout + _STATE_MARGIN_S)
        relay = self._relay(states, tasks)

        def window_s(case: Case) -> float:
            return parts.claim.window_s(case)

        def answer(call: ProposedCall, operation: Operation) -> Answer | Refusal:
            return parts.asked_after(call, operation)

        people = approving(
            self.keeping.store,
            settings.approvals,
            Asking(
                redactor=redactor,
                clock=self.clock,
                states=states,
                window_s=window_s,
                own=lambda tool, arguments: own_arguments(activation.current(), tool, arguments),
                faults=lambda tool, arguments: faults_of(activation.current(), tool, arguments),
                answer=answer,
                most_requests=settings.listen.max_concurrency,
            ),
        )
        around = self._around(servers.catalog, resolve, owner, relay.outbounds, people)
        parts = operating(self.keeping.store, settings.operations, around)
        running = self._running(activation, resolve.belonging)
        own_tools = self._own_tools(
            activation,
            servers.catalog,
            people,
            run_tools(self.keeping, running, resolve.belonging),
            stance,
        )
        pipeline = self._pipeline(
            servers.catalog, resolve, parts, relay, people, own_tools=own_tools
        )
        gateway = Gateway(
            pipeline=pipeline,
            approving=people,
            running=running,
            attending=attending(
                self.keeping.store,
                settings.approvals,
                due=people.deciding,
                redactor=redactor,
                page=people.pages.of,
                ended=self.telemetry.approval_ended,
                clock=self.clock,
            ),
            sweeper=parts.sweeper(pipeline),
            run_sweeper=RunSweeper(
                runs=self.keeping.store.runs,
                call_off=people.deciding.call_off,
                is_on=lambda: resolve.belonging.is_on,
                clock=self.clock,
                keep=timedelta(seconds=settings.operations.keep),
            ),
            checkpointing=checkpointing(self.keeping.store, settings, self.clock),
            listing=Listing(
                catalogue=servers.catalog,
                resolve=resolve,
                revision=activation.current,
                clock=self.clock,
                own=own_tools.definitions,
            ),
            servers=servers,
            activation=activation,
            tool_watch=ToolWatch(
                catalog=servers.catalog,
                revision=activation.current,
                journal=self.keeping.store.events,
                clock=self.clock,
                schema_changed=self.telemetry.schema_changed,
            ),
            store=self.keeping.store,
            telemetry=self.telemetry,
            misconfigured=misconfigured(settings),
            front=self.front,
            worker=self.worker,
            stance=stance,
        )
        stance.ways = ways(gateway.pipeline, gateway.listing, stance)
        gateway.turn(settings.mode)
        servers.catalog.on_change(gateway.lists_changed)
        activation.after.append(gateway.lists_changed)
        activation.after.append(servers.rules_changed)
        people.holding.held = gateway.attending.held
        people.pages.base = settings.admin.public_url or ""
        self.telemetry.watch_approvals(lambda: float(gateway.attending.pending))
        self.telemetry.watch_checkpoints(gateway.checkpointing.age_s)
        self.telemetry.watch_backlog(lambda: float(self.keeping.store.events.health.backlog))
        return gateway

    def say(self, event: Event) -> None:
        """Append an event about the gateway itself."""
        try:
            self.keeping.store.events.append([event])
        except StoreUnavailable as error:
            _log.error("an event could not be recorded: %s", error)

    def _redactor(self) -> Redactor:
        return Redactor(self.keeping.store.keys.redaction, self.loaded.secrets)

    def _around(
        self,
        catalog: Catalog,
        resolve: Resolve,
        owner: ProcessOwner,
        outbounds: Outbounds,
        people: Approving,
    ) -> Around:
        redactor, identity = people.deciding.redactor, self.loaded.settings.identity
        standing = Standing(
            keys={each.id: each for each in identity.api_keys},
            local=identity.local,
            issuers=frozenset(each.issuer for each in identity.jwt),
        )
        return Around(
            owner=owner,
            clock=self.clock,
            redactor=redactor,
            record=self._record(redactor),
            tool=catalog.by_key,
            case_for=resolve.case_for,
            patience_s=outbounds.deadline_s,
            people=people.people,
            today=lambda principal: standing.today(principal, self.clock.now()),
            leaving=self._normalise().again,
            over_stdio=terms(self.loaded.settings).over_stdio,
            reached=self.reached,
        )

    def _belonging(self, activation: Activation) -> Belonging:
        return belonging(
            self.keeping.store,
            self.loaded.settings.runs,
            revision=activation.current,
            environ=self.environ,
            is_child=self.front == "stdio",
            clock=self.clock,
            redactor=self._redactor(),
        )

    def _running(self, activation: Activation, belonging: Belonging) -> Running:
        return Running(
            runs=self.keeping.store.runs,
            templates=lambda: activation.current().templates,
            is_on=lambda: belonging.is_on,
            idle_s=self.loaded.settings.runs.idle,
            redactor=self._redactor(),
            clock=self.clock,
        )

    def _own_tools(
        self,
        activation: Activation,
        catalog: Catalog,
        people: Approving,
        runs: RunTools,
        stance: Stance,
    ) -> OwnTools:
        return Offering(
            expose=self.loaded.settings.expose,
            revision=activation.current,
            holds=lambda: not stance.observes,
        ).tools(
            wait=people.wait,
            again=Again(
                operation=self.keeping.store.operations.get,
                remains=Remains(vault=people.people.vault),
                tool_of=catalog.by_key,
                own=lambda tool, arguments: own_arguments(activation.current(), tool, arguments),
            ),
            runs=runs,
            errands=people.holding.errands,
        )

    def _pipeline(
        self,
        catalog: Catalog,
        resolve: Resolve,
        parts: Operating,
        relay: Relay,
        people: Approving,
        *,
        own_tools: OwnTools,
    ) -> Pipeline:
        owner, record, states = parts.around.owner, parts.around.record, people.holding.states
        return Pipeline(
            resolve=resolve,
            claim=parts.claim,
            dispatch=Dispatch(
                server=catalog.server,
                relay=relay,
                patience=parts.patience,
                leases=parts.living,
                callers=Callers(joined=parts.claim.joins.awaits),
            ),
            operate=parts.operate,
            checks=parts.checks,
            relay=relay,
            states=states,
            parking=Parking(owner, states),
            holding=people.holding,
            belonging=resolve.belonging,
            own_tools=own_tools,
            normalise=self._normalise(),
            record=record,
            owner=owner,
        )

    def _normalise(self) -> Normalise:
        limits = self.loaded.settings.limits
        return Normalise(max_result_bytes=limits.max_result_bytes, digest=self.keeping.digest)

    def _record(self, redactor: Redactor) -> Record:
        return Record(
            journal=self.keeping.store.events,
            usual=self.keeping.usual(redactor),
            telemetry=self.telemetry,
            redactor=redactor,
            digest=self.keeping.digest,
            seen_values=self.keeping,
            clock=self.clock,
            sealer=self.keeping.sealer,
            level=self.loaded.settings.events.level,
            reads_wait_for_log=self.loaded.settings.store.reads_when_unavailable == "refuse",
        )

    def _relay(self, states: States, tasks: Tasks) -> Relay:
        settings = self.loaded.settings
        questions = Questions(
            allowed=policy.asks,
            decide=policy.decide_ask,
            leads=not settings.expose.transparent,
        )
        return Relay(
            outbounds=Outbounds(
                timeout_s=settings.limits.call_timeout,
                server_timeouts_s={
                    name: server.timeout
                    for name, server in settings.servers.items()
                    if server.timeout is not None
                },
            ),
            questions=questions,
            rounds=Rounds(questions=questions, states=states, tasks=tasks),
            ask_s=settings.limits.ask_timeout,
            ask_bytes=settings.limits.max_result_bytes,
        )

    def _reloaded(self, outcome: Reloaded, because: str) -> None:
        self.telemetry.policy_reloaded(activated=outcome.activated)
        now = self.clock.now()
        if outcome.activated:
            event = admin.policy_activated(
                id=ids.ulid(),
                at=now,
                revision=outcome.revision,
                by=because,
                previous=outcome.previous,
                warnings=outcome.warnings,
                tests=outcome.tests,
                change=outcome.change,
            )
        else:
            event = admin.policy_refused(
                id=ids.ulid(), at=now, by=because, errors=[outcome.problem]
            )
        self.say(event)


def _tool_of_task(tasks: Tasks, catalog: Catalog, call: ProposedCall) -> Tool | None:
    """Return the tool whose call goes on as the task, if the task is the caller's."""
    task = tasks.find(call)
    if task is None:
        return None
    wanted = (task.server, task.tool)
    return next((tool for tool in catalog.tools() if (tool.server, tool.name) == wanted), None)

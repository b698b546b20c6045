"""The parts that carry operations, built from one store and one process."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gateway import ids, jsontext
from gateway.app.approving import Approved
from gateway.app.asked_after import AskedAfter
from gateway.app.clearing import Clearing
from gateway.app.confirming import Confirming
from gateway.app.origins import Origins
from gateway.app.owner import ProcessOwner
from gateway.app.reading import Reading
from gateway.app.sweeping import Steps, Sweeper
from gateway.app.undoing import Undoing
from gateway.case import Case
from gateway.clock import Clock
from gateway.config.settings import OperationsSettings
from gateway.crossing.checks import Checks
from gateway.crossing.failpoints import Reached, go_on
from gateway.crossing.joins import Joins
from gateway.crossing.leases import Living
from gateway.crossing.operate import Operate
from gateway.crossing.patience import Patience
from gateway.crossing.people import People
from gateway.crossing.recall import Recall
from gateway.crossing.remains import Remains
from gateway.crossing.waiting import Waiter
from gateway.events import concealed
from gateway.events.redact import Redactor
from gateway.pipeline import Pipeline
from gateway.steps.claim import Claim, Terms
from gateway.steps.record import Record
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.calls import Principal, ProposedCall
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer, Refusal
from gateway.types.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What operations need of the rest of the gateway."""

    owner: ProcessOwner
    clock: Clock
    redactor: Redactor
    record: Record
    tool: Callable[[str], Tool | None]
    """The tool with a key (`server.name`), when its server is there."""
    case_for: Callable[[ProposedCall, Tool], Case | None]
    patience_s: Callable[[Case], float]
    """How long the caller of a case waits."""
    people: People
    today: Callable[[Principal], Principal | None]
    """Who somebody is by now; None when his credential is no longer good."""
    leaving: Callable[[Case, Answer | Refusal], Answer | Refusal]
    """Let through of an outcome that was kept what may leave today."""
    over_stdio: frozenset[str] = frozenset()  # servers that headers don't reach
    reached: Reached = go_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """What the pipeline and the sweeper share of operations."""

    claim: Claim
    living: Living
    operate: Operate
    patience: Patience
    checks: Checks
    around: Around
    asked_after: AskedAfter
    _store: Store
    _settings: OperationsSettings
    _vault: Vault
    _reading: Reading
    _recall: Recall
    _clearing: Clearing

    def sweeper(self, pipeline: Pipeline) -> Sweeper:
        """Return what sees to open operations, and let checks read through the pipeline."""
        self._reading.look = pipeline.look
        clock, operations = self.around.clock, self._store.operations
        confirming = Confirming(
            case=self._recall.case,
            remains=Remains(vault=self._vault),
            waiter=Waiter(reads=self._reading, look_s=self.checks.look_s),
            clock=clock,
        )
        undoing = Undoing(
            operations=operations,
            call=self._call,
            handle=pipeline.handle,
            confirm=confirming.confirm,
            clock=clock,
            origin=self._reading.origin,
        )
        approved = Approved(
            due=self._store.approvals.to_send,
            operation=operations.get,
            call=self._call,
            today=self.around.today,
            handle=pipeline.handle,
            call_off=pipeline.holding.deciding.call_off,
            starter=self.around.owner,
            clock=clock,
        )
        return Sweeper(
            operations=operations,
            living=self.living,
            steps=Steps(
                lose=self._clearing.lose,
                look=self._clearing.look,
                undo=undoing.run_ready,
                send=approved.run,
            ),
            clock=clock,
            lease_s=self._settings.lease,
            keep_s=self._settings.keep,
        )

    def _call(self, row: Operation) -> ProposedCall:
        """Return the call that a row asks for, under the name that it has today."""
        call = self._recall.call(row, call_id=ids.new("call"))
        tool = self.around.tool(row.tool)
        return call if tool is None else replace(call, name=tool.exposed_name)


def operating(store: Store, settings: OperationsSettings, around: Around) -> Operating:
    """Build the parts; checks can read once there is a pipeline (`Operating.sweeper`)."""
    operations, clock = store.operations, around.clock
    vault, joins = Vault(store.keys.operations), Joins(operations.get)
    living = Living(table=operations, clock=clock, lease_s=settings.lease)
    recall = Recall(vault=vault, case_for=around.case_for, tool=around.tool, clock=clock)

    def exposed(key: str) -> str | None:
        tool = around.tool(key)
        return None if tool is None else tool.exposed_name

    def window_s(case: Case) -> float:
        return claim.window_s(case)

    telemetry = around.record.telemetry
    origins = Origins(query=store.events.query, is_traced=lambda: telemetry.is_traced)
    reading = Reading(exposed=exposed, clock=clock, origin=origins.of)
    checks = Checks(reads=reading)
    clearing = Clearing(
        operations=operations,
        recall=recall,
        remains=Remains(vault=vault),
        checks=checks,
        record=around.record,
        vault=vault,
        joins=joins,
        living=living,
        clock=clock,
        window_s=window_s,
    )
    claim = Claim(
        limits=store.limits,
        operations=operations,
        people=around.people,
        joins=joins,
        vault=vault,
        shown=lambda case: _shown(around.redactor, case),
        patience_s=around.patience_s,
        leaving=around.leaving,
        resolve=clearing.resolve,
        terms=Terms(
            window_s=settings.window,
            assumed_window_s=settings.assumed_window,
            run_window_s=settings.keep,
            lease_s=settings.lease,
        ),
        over_stdio=around.over_stdio,
        reached=around.reached,
    )
    return Operating(
        claim=claim,
        living=living,
        operate=Operate(
            operations=operations,
            starter=around.owner,
            living=living,
            joins=joins,
            vault=vault,
            clock=clock,
            window_s=window_s,
            fault=lambda case, error: _fault(around.record, case, error),
            reached=around.reached,
        ),
        patience=Patience(
            starter=around.owner, window_s=settings.late_window, reached=around.reached
        ),
        checks=checks,
        around=around,
        asked_after=AskedAfter(case=recall.case, recorded=claim.recorded),
        _store=store,
        _settings=settings,
        _vault=vault,
        _reading=reading,
        _recall=recall,
        _clearing=clearing,
    )


def _shown(redactor: Redactor, case: Case) -> str:
    arguments, own = case.arguments or {}, case.contract.sensitive
    hidden = {**concealed.values(arguments, own), **case.call.concealed}
    tags = concealed.tagged(arguments, own, hidden)
    redacted = redactor.value(arguments, tenant=case.actor.tenant, tags=tags)
    return jsontext.dump(redacted.value).decode()


def _fault(record: Record, case: Case, error: Exception) -> Refusal:
    return record.fault(case.call, error)

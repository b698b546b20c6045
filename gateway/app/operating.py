"""The parts that carry operations, built from one store and one process."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway import jsontext
from gateway.app.owner import ProcessOwner
from gateway.case import Case
from gateway.clock import Clock
from gateway.config.settings import OperationsSettings
from gateway.crossing.failpoints import Reached, go_on
from gateway.crossing.joins import Joins
from gateway.crossing.operate import Living, Operate
from gateway.crossing.patience import Patience
from gateway.events.redact import Redactor
from gateway.steps.claim import Claim, Terms
from gateway.steps.record import Record
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.operations import Operation
from gateway.types.outcomes import Refusal

Resolving = Callable[[Case, Operation], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """What the pipeline and the sweeper share of operations."""

    vault: Vault
    living: Living
    joins: Joins
    claim: Claim
    operate: Operate
    patience: Patience


def operating(
    store: Store,
    settings: OperationsSettings,
    *,
    owner: ProcessOwner,
    clock: Clock,
    redactor: Redactor,
    record: Record,
    patience_s: Callable[[Case], float],
    resolve: Resolving,
    reached: Reached = go_on,
) -> Operating:
    """Build them; `patience_s` is how long a caller waits, `resolve` finds out what is unknown."""
    vault, living, joins = Vault(store.keys.operations), Living(), Joins(store.operations.get)

    def shown(case: Case) -> str:
        redacted = redactor.value(
            case.arguments or {}, tenant=case.actor.tenant, tags=case.contract.sensitive
        )
        return jsontext.dump(redacted.value).decode()

    def fault(case: Case, error: Exception) -> Refusal:
        return record.fault(case.call, error)

    claim = Claim(
        limits=store.limits,
        operations=store.operations,
        joins=joins,
        vault=vault,
        shown=shown,
        patience_s=patience_s,
        resolve=resolve,
        terms=Terms(
            window_s=settings.window,
            assumed_window_s=settings.assumed_window,
            lease_s=settings.lease,
        ),
        reached=reached,
    )
    operate = Operate(
        operations=store.operations,
        starter=owner,
        living=living,
        joins=joins,
        vault=vault,
        clock=clock,
        window_s=claim.window_s,
        fault=fault,
        reached=reached,
    )
    return Operating(
        vault=vault,
        living=living,
        joins=joins,
        claim=claim,
        operate=operate,
        patience=Patience(starter=owner, window_s=settings.late_window, reached=reached),
    )

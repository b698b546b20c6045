"""The store as a whole: one database, its parts, and the threads that use it."""

from dataclasses import dataclass
from typing import Final

from gateway.clock import Clock, SystemClock
from gateway.events.envelope import Origin
from gateway.store import keys
from gateway.store.approvals import Approvals
from gateway.store.backlog import Bounds
from gateway.store.checkpoints import Checkpoints
from gateway.store.definitions import Definitions
from gateway.store.dialects import dialect_of
from gateway.store.events import EventLog
from gateway.store.fresh_leaves import FreshLeaves
from gateway.store.instances import Instances
from gateway.store.keys import TenantKeys
from gateway.store.limits import Limits
from gateway.store.logins import Logins
from gateway.store.operations import Operations
from gateway.store.prompt import PromptReads
from gateway.store.proposals import Proposals
from gateway.store.retention import Retention
from gateway.store.revisions import Revisions
from gateway.store.runs import Runs
from gateway.store.sealed_copies import SealedCopies
from gateway.store.seen import SeenValues
from gateway.store.worker import WAIT_S, Worker

# Shorter for the writer, which tries again by itself, than for callers, who wait 5 s and give up.
_WRITER_BUSY_S: Final = 2.0
_WORKER_BUSY_S: Final = 4.5
_CLOSE_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Everything that outlives the process."""

    events: EventLog
    checkpoints: Checkpoints
    retention: Retention
    sealed: SealedCopies
    limits: Limits
    operations: Operations
    approvals: Approvals
    runs: Runs
    seen: SeenValues
    revisions: Revisions
    proposals: Proposals
    instances: Instances
    definitions: Definitions
    keys: TenantKeys
    logins: Logins
    _worker: Worker
    _prompt: PromptReads

    @classmethod
    def open(
        cls,
        url: str,
        *,
        origin: Origin,
        secret: str = "",
        create: bool = True,
        clock: Clock | None = None,
        bounds: Bounds | None = None,
        erases: bool = False,
        wait_s: float = WAIT_S,
    ) -> "Store":
        """Connect, bring the tables up to date and start the threads; blocks for seconds at most.

        `origin` is the process that events are written by. `secret` replaces the generated key of
        digests. Without `create`, a SQLite file that isn't there is a ConfigurationError; with
        `erases`, it keeps nothing of what is deleted. Whoever asks it waits `wait_s` seconds at
        most for an answer. Raises StoreUnavailable when the database can't be used now.
        """
        clock = clock or SystemClock()
        dialect = dialect_of(url, clock, create=create, erases=erases)
        engine = dialect.connect(_WORKER_BUSY_S)
        try:
            engine.has_table("meta")  # a file that is no database gets no key beside it
            tenant_keys = keys.load(engine, dialect.path, secret)
        except BaseException:
            engine.close()
            raise
        worker = Worker(engine, wait_s=wait_s)
        prompt = PromptReads(worker, dialect.prompt(), clock)
        fresh = FreshLeaves()
        events = EventLog(
            engine=dialect.connect(_WRITER_BUSY_S),
            worker=worker,
            origin=origin,
            clock=clock,
            bounds=bounds,
            fresh=fresh,
        )

        def more() -> Worker:
            return Worker(dialect.connect(_WORKER_BUSY_S))

        proofs = more()
        return cls(
            events=events,
            checkpoints=Checkpoints(proofs, clock, more, fresh),
            retention=Retention(events, proofs, clock),
            sealed=SealedCopies(events, worker, clock),
            limits=Limits(worker, clock),
            operations=Operations(events, worker, clock, owner=origin.instance),
            approvals=Approvals(events, worker, clock),
            runs=Runs(events, worker, prompt, tenant_keys, clock),
            seen=SeenValues(worker, prompt, tenant_keys, clock),
            revisions=Revisions(worker),
            proposals=Proposals(events, worker, clock),
            instances=Instances(worker, clock),
            definitions=Definitions(events, worker, clock),
            keys=tenant_keys,
            logins=Logins(worker, clock, tenant_keys.logins()),
            _worker=worker,
            _prompt=prompt,
        )

    def close(self, timeout_s: float = _CLOSE_S) -> int:
        """Write the events that wait, within a bound; return how many are left unwritten."""
        left = self.events.close(timeout_s)
        self.checkpoints.close()
        self._prompt.close()
        self._worker.close()
        return left

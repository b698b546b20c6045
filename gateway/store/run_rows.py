"""Runs as rows, and rows as runs."""

import hashlib
from functools import lru_cache
from typing import Final

from gateway import jsontext
from gateway.store.engine import Row, Transaction, Value
from gateway.store.rows import clean
from gateway.types.json import Json
from gateway.types.operations import OpState, VerificationState
from gateway.types.runs import (
    Evidence,
    Holder,
    Mode,
    Phase,
    Run,
    StopReason,
)
from gateway.types.values import replaced

MOST_BYTES: Final = 2_000  # of each text of a reference
MOST_AROUND: Final = 8  # runs that are around one another
_SECOND: Final = 1_000_000
_OPEN: Final = frozenset({OpState.DISPATCHING, OpState.INDETERMINATE, OpState.COMPENSATING})


def row_of(run: Run) -> dict[str, Value]:
    """Return the columns of a run but for its contents; texts are as every engine takes them."""
    return {
        "run_id": run.run_id,
        "tenant": clean(run.tenant),
        "owner": run.owner,
        "actor_user": clean(run.user),
        "is_of_user": int(run.is_of_user),
        "roles": _listed(run.roles),
        "scopes": _listed(run.scopes),
        "client": clean(run.client),
        "task_id": clean(run.task_id),
        "template": clean(run.template),
        "mode": str(run.mode),
        "phase": str(run.phase),
        "resume_phase": str(run.resume_phase or ""),
        "is_paused": int(run.is_paused),
        "stop_reason": str(run.stop_reason or ""),
        "note": clean(run.note),
        "parent": clean(run.parent),
        "is_tainted": int(run.is_tainted),
        "version": run.version,
        "created_at": run.created_at,
        "active_at": run.active_at,
        "ends_at": run.ends_at,
        "idle": round(run.idle_s * _SECOND),
        "finished_at": run.finished_at,
        "evidence": run.evidence,
        "calls": run.calls,
        "tokens": run.tokens,
    }


def run_of(row: Row) -> Run:
    """Return the run that a row holds, without its contents and what is counted elsewhere.

    Every call of a run reads its row, which seldom changes: what was made of it is remembered.
    """
    return _run(*row.key)[0]


def with_contents(row: Row) -> tuple[Run, str, str]:
    """Return the same, what it is for and what it has collected, both as they lie there."""
    return _run(*row.key)


@lru_cache(maxsize=256)
def _run(names: tuple[str, ...], values: tuple[Value, ...]) -> tuple[Run, str, str]:
    row = Row.of(names, values)
    return _read(row), row.text("objective"), row.text("fields")


def _read(row: Row) -> Run:
    resume, stop = row.text("resume_phase"), row.text("stop_reason")
    return Run(
        run_id=row.text("run_id"),
        tenant=row.text("tenant"),
        owner=row.text("owner"),
        user=row.text("actor_user"),
        is_of_user=bool(row.integer("is_of_user")),
        roles=_names(row.text("roles")),
        scopes=_names(row.text("scopes")),
        client=row.text("client"),
        task_id=row.text("task_id"),
        template=row.text("template"),
        mode=Mode(row.text("mode")),
        phase=Phase(row.text("phase")),
        resume_phase=Phase(resume) if resume else None,
        is_paused=bool(row.integer("is_paused")),
        stop_reason=StopReason(stop) if stop else None,
        note=row.text("note"),
        parent=row.text("parent"),
        is_tainted=bool(row.integer("is_tainted")),
        version=row.integer("version"),
        created_at=row.integer("created_at"),
        active_at=row.integer("active_at"),
        ends_at=row.integer("ends_at"),
        idle_s=row.integer("idle") / _SECOND,
        finished_at=row.integer("finished_at"),
        evidence=row.integer("evidence"),
        calls=row.integer("calls"),
        tokens=row.integer("tokens"),
    )


def counted(transaction: Transaction, run: Run) -> Run:
    """Return a run with what guards count: open and ended operations, undecided requests.

    Open is what is under way or unknown, and what is still being checked.
    """
    named = {"run_id": run.run_id}
    open_ops = 0
    verified: set[str] = set()
    succeeded: set[str] = set()
    for row in transaction.fetch("run_operations", named):
        state = OpState(row.text("state"))
        check = VerificationState(row.text("verification"))
        if state in _OPEN or check is VerificationState.PENDING:
            open_ops += row.integer("many")
        if state is OpState.SUCCEEDED:
            succeeded.add(row.text("tool"))
            if check is VerificationState.VERIFIED:
                verified.add(row.text("tool"))
    return replaced(
        run,
        open_ops=open_ops,
        pending_approvals=pending(transaction, run.run_id),
        verified=tuple(sorted(verified)),
        succeeded=tuple(sorted(succeeded)),
    )


def placed(transaction: Transaction, run: Run) -> Run:
    """Return a run with what holds it, and with what the runs around it have read.

    The nearest of them that is paused or over holds it. One that is gone was over; and what is
    deeper than runs can be is held as well.
    """
    if not run.parent:
        return run
    held: Holder | None = None
    name = run.parent
    for _ in range(MOST_AROUND):
        rows = transaction.fetch("get_run", {"run_id": name})
        above = run_of(rows[0]) if rows else None
        if above is not None and above.is_tainted:  # its model wrote what this one works by
            run = replaced(run, is_tainted=True)
        if held is None and (above is None or above.phase.is_final or above.is_paused):
            is_over = above is None or above.phase.is_final
            held = Holder(run_id=name, is_over=is_over)
        if above is None or not above.parent:
            return replaced(run, held_by=held)
        name = above.parent
    return replaced(run, held_by=held or Holder(run_id=name, is_over=True))


def around(transaction: Transaction, run: Run) -> list[Run]:
    """Return a run and those around it, each as its row is, from the inside."""
    found: list[Run] = []
    name = run.run_id
    while name and len(found) <= MOST_AROUND:
        rows = transaction.fetch("get_run", {"run_id": name})
        if not rows:
            break
        found.append(run_of(rows[0]))
        name = found[-1].parent
    return found


def pending(transaction: Transaction, run_id: str) -> int:
    """Return how many requests of a run nobody has decided."""
    return transaction.fetch("run_pending", {"run_id": run_id})[0].integer("many")


def evidence_row(run_id: str, item: Evidence) -> dict[str, Value]:
    """Return the columns of a reference; its texts are cut, and told apart by the whole of them."""
    texts = {
        "source": clean(item.source),
        "version": clean(item.version),
        "chunk": clean(item.chunk),
    }
    return {
        "run_id": run_id,
        "digest": hashlib.sha256("\0".join(texts.values()).encode()).hexdigest(),
        **{name: _cut(text) for name, text in texts.items()},
        "call_id": item.call_id,
        "at": item.at,
        "tool": clean(item.tool),
    }


def evidence_of(row: Row) -> Evidence:
    """Return the reference that a row holds."""
    return Evidence(
        source=row.text("source"),
        version=row.text("version"),
        chunk=row.text("chunk"),
        call_id=row.text("call_id"),
        at=row.integer("at"),
        tool=row.text("tool"),
    )


def _cut(text: str) -> str:
    """Return as many whole characters of a text as are kept."""
    return text.encode()[:MOST_BYTES].decode("utf-8", "ignore")


def _listed(names: frozenset[str]) -> str:
    listed: list[Json] = [*sorted(clean(name) for name in names)]
    return jsontext.dump(listed).decode() if listed else ""


def _names(text: str) -> frozenset[str]:
    listed = jsontext.parse_result(text.encode()) if text else []
    return frozenset(str(each) for each in listed) if isinstance(listed, list) else frozenset()


def as_read(transaction: Transaction, run: Run, is_wanted: bool) -> Run:
    """Return a run with what its guards count, where that is wanted or they may be asked."""
    run = placed(transaction, run)
    has_begun = run.phase not in (Phase.CREATED, Phase.PLANNING)
    return run if has_begun and not is_wanted else counted(transaction, run)


def bare(transaction: Transaction, run_id: str) -> Run | None:
    """Return a run as its row is, without what it is for and has collected."""
    rows = transaction.fetch("get_run", {"run_id": clean(run_id)})
    return run_of(rows[0]) if rows else None

"""Requests that are made again, to start a run or to tell of a turn: what they led to before."""

from collections.abc import Sequence
from typing import Final, Protocol

from gateway.errors import WeighbridgeError
from gateway.store.engine import Parameters, Transaction
from gateway.store.rows import clean
from gateway.store.run_rows import run_of
from gateway.types.runs import Attempt, Run

_USED: Final = {
    "start": "this key was used to start another run; use a new one for that",
    "turn": "this key was used to tell of another turn; use a new one for that",
}


class KeyUsed(WeighbridgeError):
    """What a key led to was asked for in other words; one line that says so."""


class Digest(Protocol):
    """Makes the keyed digest of some texts, for a tenant."""

    def __call__(self, tenant: str, *parts: str) -> str:
        """Return it."""
        ...


def rows(
    run: Run, attempt: Attempt | None, digest: Digest, now: int, *, to: str = "start"
) -> tuple[Parameters, ...]:
    """Return what leads from an attempt to its run: its key, and that with all it asks for.

    `to` is what is attempted: to `start` a run, or to tell of a `turn` in it, where a key is one
    for that run.
    """
    if attempt is None:
        return ()
    of = [] if to == "start" else [run.run_id]
    named: Parameters = {
        "tenant": clean(run.tenant),
        "owner": attempt.owner,
        "run_id": run.run_id,
        "bound_at": now,
    }
    whole = digest(run.tenant, f"{to}ed", *of, attempt.key, attempt.body)
    return (
        {**named, "kind": to, "vhash": digest(run.tenant, to, *of, attempt.key)},
        {**named, "kind": f"{to}ed", "vhash": whole},
    )


def met(transaction: Transaction, tried: Sequence[Parameters]) -> Run | KeyUsed | None:
    """Return the run that an attempt has led to before, None for the first one."""
    if not tried:
        return None
    first, same = (_led_to(transaction, each) for each in tried)
    return first if first is None or first == same else KeyUsed(_USED[str(tried[0]["kind"])])


def _led_to(transaction: Transaction, named: Parameters) -> Run | None:
    found = transaction.fetch("bound_run", {**named, "of_user": named["owner"]})
    return run_of(found[0]) if found else None

"""Which tools bring a caller what he lacks: only those that he would find in his list."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from gateway.policy.request import PolicyRequest
from gateway.revision import Revision
from gateway.types.actors import Actor
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect

_NAMED: Final = 3  # tools: a refusal is read by a model, and one way is enough


def of_types(
    revision: Revision, actor: Actor, types: Collection[str], *, now: datetime
) -> tuple[str, ...]:
    """Return reads (`server.name`) whose results bring values of some types."""
    return _those(revision, actor, now, lambda each: any(one.type in types for one in each.yields))


def of_evidence(revision: Revision, actor: Actor, *, now: datetime) -> tuple[str, ...]:
    """Return reads (`server.name`) whose results count as evidence of a run."""

    def documented(contract: Contract) -> bool:
        return contract.retrieval is not None and contract.retrieval.documents is not None

    return _those(revision, actor, now, documented)


def _those(
    revision: Revision, actor: Actor, now: datetime, brings: Callable[[Contract], bool]
) -> tuple[str, ...]:
    named = (
        key
        for key, contract in sorted(revision.contracts.items())
        if contract.effect is Effect.READ
        and contract.reviewed
        and contract.scopes <= actor.scopes
        and brings(contract)
        and revision.policy.may(_listed(key, contract, actor, now))
    )
    return tuple(name for name, _ in zip(named, range(_NAMED), strict=False))


def _listed(key: str, contract: Contract, actor: Actor, now: datetime) -> PolicyRequest:
    return PolicyRequest(
        tool=key,
        server=key.partition(".")[0],
        effect=contract.effect,
        risk=contract.risk,
        pin=contract.pin,
        pinned=contract.pin,
        actor=actor,
        phase=Phase.RETRIEVING,
        arguments={},
        now=now,
        run_id="",
        any_run=True,
    )

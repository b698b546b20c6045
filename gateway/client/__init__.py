"""A client of `/v1` for hosts: runs, started and steered by the program around the model."""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gateway.client.asynchronous import AsyncClient
    from gateway.client.calls import RunsError, meta
    from gateway.client.waiting import Client
    from gateway.client.wire import (
        ListRuns,
        ModelTurn,
        Package,
        Problem,
        ProposedCall,
        RunState,
    )
    from gateway.types.runs import Mode, Phase

__all__ = [
    "AsyncClient",
    "Client",
    "ListRuns",
    "Mode",
    "ModelTurn",
    "Package",
    "Phase",
    "Problem",
    "ProposedCall",
    "RunState",
    "RunsError",
    "meta",
]

# What says the words of `/v1` needs neither of the clients: aiohttp takes long to import.
_HOMES: Final = {
    "AsyncClient": "gateway.client.asynchronous",
    "Client": "gateway.client.waiting",
    "ListRuns": "gateway.client.wire",
    "Mode": "gateway.types.runs",
    "ModelTurn": "gateway.client.wire",
    "Package": "gateway.client.wire",
    "Phase": "gateway.types.runs",
    "Problem": "gateway.client.wire",
    "ProposedCall": "gateway.client.wire",
    "RunState": "gateway.client.wire",
    "RunsError": "gateway.client.calls",
    "meta": "gateway.client.calls",
}


def __getattr__(name: str) -> object:
    """Import what is asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)

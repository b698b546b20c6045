"""A client of `/v1` for hosts: runs, started and steered by the program around the model."""

from gateway.client.asynchronous import AsyncClient
from gateway.client.calls import RunsError, meta
from gateway.client.waiting import Client
from gateway.client.wire import ListRuns, Package, Problem, RunState
from gateway.types.runs import Mode, Phase

__all__ = [
    "AsyncClient",
    "Client",
    "ListRuns",
    "Mode",
    "Package",
    "Phase",
    "Problem",
    "RunState",
    "RunsError",
    "meta",
]

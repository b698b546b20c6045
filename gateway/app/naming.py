"""How tools are named towards agents; also for commands that start no server."""

from gateway.config.settings import ExposeSettings
from gateway.servers.names import Naming


def naming(expose: ExposeSettings) -> Naming:
    """Return how tools are named towards agents."""
    return Naming(transparent=expose.transparent, longest=expose.max_name)

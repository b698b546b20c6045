"""Tools under contract whose server has published no tools yet: known by name, and away."""

from collections.abc import Mapping

from gateway.servers.names import Naming, by_exposed_name
from gateway.servers.supervisor import Server
from gateway.types.operations import Execution, Failure, Undelivered
from gateway.types.tools import Away, Contract, Tool

_SOON_S = 2.0  # a server that is connected is listed within that, as a rule

Contracts = Mapping[str, Contract]  # by `server.name`


class Expected:
    """Tells an agent that a server is away, rather than that its tools don't exist.

    Only of servers that were never listed since the start: later, their last list stands. Drafts
    are known as well; whether they count is for the revision to say.
    """

    def __init__(self, naming: Naming, servers: Mapping[str, Server]) -> None:
        self._naming = naming
        self._servers = servers
        self._known: tuple[Contracts, Mapping[str, str]] = ({}, {})

    def find(self, exposed_name: str, contracts: Contracts) -> Tool | None:
        """Return what stands in for a tool that a contract covers, or None."""
        if all(server.has_listed_tools for server in self._servers.values()):
            return None
        contract = contracts.get(self._names(contracts).get(exposed_name, ""))
        if contract is None:
            return None
        alias, _, name = contract.tool.partition(".")
        server = self._servers.get(alias)
        if server is None or server.has_listed_tools:
            return None
        return Tool(
            server=alias,
            name=name,
            exposed_name=exposed_name,
            definition=contract.definition,
            pin=contract.pin,
            away=_away(server),
        )

    def _names(self, contracts: Contracts) -> Mapping[str, str]:
        """Return the contracts' exposed names, made once for each revision."""
        if self._known[0] is not contracts:
            self._known = contracts, by_exposed_name(contracts, self._naming)
        return self._known[1]


def _away(server: Server) -> Away:
    why = server.outage() if server.connection is None else _unlisted(server)
    return Away(
        reason=why.detail,
        code=f"downstream_{why.failure.value}",
        retry_after_s=why.retry_after_s,
    )


def _unlisted(server: Server) -> Undelivered:
    fault = server.state.list_error
    return Undelivered(
        failure=Failure.UNAVAILABLE if fault else Failure.STARTING,
        executed=Execution.NO,
        detail=f"the tools of `{server.name}` can't be listed: {fault}"
        if fault
        else f"`{server.name}` is still starting",
        retry_after_s=_SOON_S,
    )

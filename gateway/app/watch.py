"""Tells operators, once each, what servers did to their tools: changed, broken, same names."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gateway import ids
from gateway.clock import Clock
from gateway.contracts import diff
from gateway.crossing.books import Journal
from gateway.errors import StoreUnavailable
from gateway.events import admin
from gateway.revision import Revision
from gateway.servers.catalog import Catalog
from gateway.types.events import Event
from gateway.types.tools import Tool

_log = logging.getLogger("weighbridge")


@dataclass(slots=True, kw_only=True)
class ToolWatch:
    """Compares the catalogue with the contracts after every change of either."""

    catalog: Catalog
    revision: Callable[[], Revision]
    journal: Journal
    clock: Clock
    schema_changed: Callable[[str], None]  # a metric, by server
    _told: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def look(self) -> None:
        """Append an event for each thing that has not been told yet."""
        news = {key: event for key, event in self._found() if not self._known(key)}
        if not news:
            return
        try:
            self.journal.append(tuple(news.values()))
        except StoreUnavailable as error:
            self._told.difference_update(news)  # the next look tells of them
            _log.error("%d changes of tools could not be recorded: %s", len(news), error)

    def changed(self) -> Iterator[tuple[Tool, str]]:
        """Yield each tool whose definition isn't the reviewed one, with the reviewed pin."""
        contracts = self.revision().contracts
        for tool in self.catalog.tools():
            contract = contracts.get(tool.key)
            if contract is not None and contract.pin != tool.pin:
                yield tool, contract.pin

    def _known(self, key: tuple[str, ...]) -> bool:
        if key in self._told:
            return True
        if len(self._told) > 10_000:  # a server that changes for ever must not fill the memory
            self._told.clear()
        self._told.add(key)
        return False

    def _found(self) -> Iterator[tuple[tuple[str, ...], Event]]:
        now, contracts = self.clock.now(), self.revision().contracts
        for tool, pinned in self.changed():
            changes = [
                change.pointer
                for change in diff.diff(contracts[tool.key].definition, tool.definition)
            ]
            key = ("changed", tool.key, tool.pin, pinned)
            if key not in self._told:
                _log.warning(
                    "%s: its definition is not the reviewed one; see `weighbridge tools diff`",
                    tool.key,
                )
                self.schema_changed(tool.server)
            yield (
                key,
                admin.tool_changed(
                    id=ids.ulid(),
                    at=now,
                    tool=tool.key,
                    pinned=pinned,
                    found=tool.pin,
                    changes=changes,
                ),
            )
        owners: dict[str, list[str]] = {}
        for tool in self.catalog.tools():
            owners.setdefault(tool.name, []).append(tool.key)
            if tool.quarantine is not None:
                where = tool.quarantine.pointer
                reason = tool.quarantine.reason + (f" at `{where}`" if where else "")
                yield (
                    ("quarantined", tool.key, tool.pin),
                    admin.tool_quarantined(id=ids.ulid(), at=now, tool=tool.key, reason=reason),
                )
        for name, tools in owners.items():
            if len(tools) > 1:
                yield (
                    ("collision", name, *tools),
                    admin.name_collision(id=ids.ulid(), at=now, name=name, tools=tools),
                )

"""What is in force: contracts and policy as one immutable bundle with an id."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.contracts.schemas import ToolSchemas, compile_tool
from gateway.policy.engine import CompiledPolicy
from gateway.runs.templates import Template
from gateway.types.tools import Contract, SourceTrust


class Unreviewed(StrEnum):
    """What happens to a tool without a reviewed contract."""

    REFUSE = "refuse"  # neither listed nor callable
    OBSERVE = "observe"  # goes by a drafted contract at its worst guess; policy still decides


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One immutable bundle; every decision names the id it was made under."""

    id: str  # `sha256:…` over the texts it was made from
    contracts: Mapping[str, Contract]  # by `server.name`
    schemas: Mapping[str, ToolSchemas]  # by pin; compiled once
    policy: CompiledPolicy
    templates: Mapping[str, Template] = field(default_factory=dict[str, Template])  # of runs
    unreviewed: Unreviewed = Unreviewed.REFUSE
    _drafted: dict[str, ToolSchemas] = field(default_factory=dict[str, ToolSchemas], repr=False)
    activated_at: datetime | None = None
    open_servers: frozenset[str] = field(init=False)  # others can write what some tool returns
    texts: Mapping[str, str] = field(default_factory=dict[str, str])  # file name → text, as stored
    reads_taint: bool = field(init=False)  # a rule or guard does: every call looks it up
    minds_taint: bool = field(init=False)  # or some tool is called otherwise once there is some
    reads_now: bool = field(init=False)  # a rule may speak of the time
    names_objective: bool = field(init=False)  # or of what a run is for

    def __post_init__(self) -> None:
        """Look once at what every call would have to."""
        others = (
            each.tool.partition(".")[0]
            for each in self.contracts.values()
            if each.result_trust is SourceTrust.EXTERNAL
        )
        object.__setattr__(self, "open_servers", frozenset(others))
        reads = self.policy.reads_taint or any(each.reads_taint for each in self.templates.values())
        minds = any(each.when_tainted is not None for each in self.contracts.values())
        object.__setattr__(self, "reads_taint", reads)
        object.__setattr__(self, "minds_taint", reads or minds)
        object.__setattr__(self, "reads_now", self.policy.mentions("now"))
        object.__setattr__(self, "names_objective", self.policy.mentions("objective", "task"))

    def swapped(
        self,
        *,
        policy: CompiledPolicy | None = None,
        templates: Mapping[str, Template] | None = None,
        schemas: Mapping[str, ToolSchemas] | None = None,
    ) -> "Revision":
        """Return the revision with parts that say the same in other forms, for one judgement.

        What was looked at once stays as it was found: a part that says something else is for
        `replace`.
        """
        other = copy(self)
        for name, part in (("policy", policy), ("templates", templates), ("schemas", schemas)):
            if part is not None:
                object.__setattr__(other, name, part)
        return other

    def schemas_for(self, contract: Contract) -> ToolSchemas:
        """Return the compiled schemas of a contract; a drafted one is compiled on first use."""
        schemas = self.schemas.get(contract.pin)
        if schemas is None:
            schemas = self._drafted.get(contract.pin)
        if schemas is None:
            schemas = self._drafted[contract.pin] = compile_tool(contract.definition)
        return schemas

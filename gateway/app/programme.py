"""What a run could use: the tools of its revision, under the names that they had then."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.case import Case, Facts
from gateway.clock import Clock
from gateway.contracts.draft import draft
from gateway.errors import SchemaError
from gateway.listing import Listing
from gateway.relay import run_definitions
from gateway.replay import unknown
from gateway.replay.takes import Take
from gateway.revision import Revision
from gateway.servers.names import Key, Naming, expose
from gateway.steps.resolve import contract_of
from gateway.types.calls import Method, Principal, ProposedCall, actor_of, principal_of
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer
from gateway.types.own import Own
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Programme:
    """The catalogue of a run, and who looked at it."""

    revision: Revision
    actor: Principal  # who made the first call of the run
    phase: Phase
    held: Sequence[Tool]
    own: tuple[JsonObject, ...] = ()  # tools of the gateway's own that were called
    version: int = 0  # never changes

    def listing(self, clock: Clock) -> Listing:
        """Return the lists of all this."""
        return Listing(
            catalogue=self,
            resolve=self,
            revision=lambda: self.revision,
            clock=clock,
            own=lambda: self.own,
        )

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, sorted by exposed name."""
        return self._of(Kind.TOOL)

    def prompts(self) -> tuple[Tool, ...]:
        """Return the prompts that were used."""
        return self._of(Kind.PROMPT)

    def resources(self) -> tuple[Tool, ...]:
        """Return the resources that were read."""
        return self._of(Kind.RESOURCE)

    def templates(self) -> tuple[Tool, ...]:
        """Return none: the log does not say which there were."""
        return ()

    def case_for(self, call: ProposedCall, tool: Tool) -> Case | None:
        """Return the case by which something is listed."""
        contract = contract_of(tool, self.revision, _drafted)
        if contract is None:
            return None
        return Case(
            call=call,
            tool=tool,
            contract=contract,
            actor=actor_of(call.principal),
            phase=self.phase,
            facts=Facts(now=call.received_at),
            revision=self.revision,
        )

    def key_of(self, method: Method, name: str) -> str:
        """Return what the log has for a name: `server.name` of a tool that there was."""
        kind = {Method.CALL_TOOL: Kind.TOOL, Method.GET_PROMPT: Kind.PROMPT}.get(method)
        found = (each for each in self.held if each.kind is kind and each.exposed_name == name)
        return next((each.key for each in found), name)

    def has_output_schema(self, key: str) -> bool:
        """Whether callers hold results of a tool against a schema."""
        return any(tool.key == key and "outputSchema" in tool.definition for tool in self.held)

    def _of(self, kind: Kind) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.held if tool.kind is kind)


def programme(
    takes: Sequence[Take],
    revision: Revision,
    definitions: Mapping[str, JsonObject],
    *,
    naming: Naming,
    phase: Phase,
    servers: Collection[str],
) -> Programme | None:
    """Return what a run could use, or None where none of its calls was ever judged.

    `definitions` are those that nobody reviewed, by pin; `servers` the ones that are configured,
    whose reviewed tools are taken to have been there.
    """
    asked = [take.asked for take in takes if take.asked is not None]
    if not asked:
        return None
    tools = _tools(takes, revision, definitions, servers)
    used = {take.tool: take.name for take in takes if take.method is Method.CALL_TOOL and take.tool}
    spelled = expose(tools, naming)
    named = [
        replace(tool, exposed_name=used.get(tool.key, spelled[key])) for key, tool in tools.items()
    ]
    own = {take.name for take in takes if not take.tool} & {each.value for each in Own}
    return Programme(
        revision=revision,
        actor=principal_of(asked[0].actor),
        phase=phase,
        held=sorted([*named, *_others(takes)], key=lambda tool: tool.exposed_name),
        own=tuple(each for name, each in run_definitions.ALL.items() if name.value in own),
    )


def _tools(
    takes: Sequence[Take],
    revision: Revision,
    definitions: Mapping[str, JsonObject],
    servers: Collection[str],
) -> dict[Key, Tool]:
    found: dict[Key, Tool] = {}
    called = {take.tool for take in takes}
    for contract in revision.contracts.values():
        key = _key(contract.tool)
        if key[0] in servers or contract.tool in called:
            found[key] = _tool(key, contract.definition, contract.pin)
    for take in takes:
        if take.method is not Method.CALL_TOOL or take.asked is None or not take.tool:
            continue
        pin, key = take.asked.contract, _key(take.tool)
        if key not in found and pin in definitions:
            found[key] = _tool(key, definitions[pin], pin)
    return {key: _without_broken_schema(tool, takes, revision) for key, tool in found.items()}


def _tool(key: Key, definition: JsonObject, pin: str) -> Tool:
    return Tool(server=key[0], name=key[1], exposed_name="", definition=definition, pin=pin)


def _key(tool: str) -> Key:
    server, _, name = tool.partition(".")
    return server, name


def _without_broken_schema(tool: Tool, takes: Sequence[Take], revision: Revision) -> Tool:
    """Return a tool without its output schema, if what is kept of a result is not of that form.

    Clients would refuse results of which something was redacted.
    """
    if "outputSchema" not in tool.definition:
        return tool
    contract = contract_of(tool, revision, _drafted)
    try:
        schema = revision.schemas_for(contract).output if contract is not None else None
    except SchemaError:
        schema = None
    results = (
        take.outcome.result
        for take in takes
        if take.tool == tool.key and isinstance(take.outcome, Answer)
    )
    if schema is not None and all(
        schema.is_valid(each["structuredContent"]) for each in results if _has_data(each)
    ):
        return tool
    rest = {name: each for name, each in tool.definition.items() if name != "outputSchema"}
    return replace(tool, definition=rest)


def _has_data(result: JsonObject) -> bool:
    return "structuredContent" in result


def _others(takes: Sequence[Take]) -> list[Tool]:
    """Return what was read by its URI, and the prompts: as much of them as the log has."""
    found: dict[str, Tool] = {}
    for take in takes:
        if take.asked is None or take.method not in (Method.READ_RESOURCE, Method.GET_PROMPT):
            continue
        server, is_prompt = take.asked.server, take.method is Method.GET_PROMPT
        named: JsonObject = {"name": take.name} if is_prompt else {"uri": take.name}
        if unknown.is_text_whole(take.name):
            found[take.name] = Tool(
                server=server,
                name=take.key.removeprefix(f"{server}.") if is_prompt else take.name,
                exposed_name=take.name,
                definition={"name": take.name, **named},
                pin=take.asked.contract,
                kind=Kind.PROMPT if is_prompt else Kind.RESOURCE,
            )
    return [*found.values()]


def _drafted(tool: Tool) -> Contract:
    return draft(tool).contract

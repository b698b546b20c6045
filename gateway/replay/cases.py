"""From a recorded call to the case that is judged: as it was, with the contract of a revision."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gateway.case import Case, Facts, Origin
from gateway.contracts.draft import draft
from gateway.replay import unknown
from gateway.replay.types import Gone, Missing, Recorded
from gateway.revision import Revision
from gateway.steps.resolve import contract_of
from gateway.types.actors import Actor
from gateway.types.calls import Nobody, ProposedCall, principal_of
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.members import Members
from gateway.types.outcomes import Status
from gateway.types.remembered import by_identity
from gateway.types.runs import BindingKind, Collected, Holder, Mode, Phase, Run, StopReason, Trust
from gateway.types.tools import Away, Contract, Kind, Quarantine, SourceTrust, Tool
from gateway.types.values import maker, value

Definitions = Mapping[str, JsonObject]
"""What servers published, by pin: of tools that no contract has."""

_MOST_KNOWN: Final = 10_000  # tools, and URIs, that are remembered
# What of a verdict says how a tool was published.
_TELLING: Final = frozenset({Status.UNAVAILABLE, Status.TOOL_QUARANTINED, Status.INVALID_ARGUMENTS})
_NOBODY: Final = Nobody()
_NO_FIELDS: Final[Mapping[str, tuple[JsonPointer, ...]]] = {}
_BINDINGS, _PHASES = Members(BindingKind), Members(Phase)
_MODES, _TRUSTS = Members(Mode), Members(Trust)
_principal = by_identity(4_096)(principal_of)  # actors are read as the same object
_made_call, _made_run = maker(ProposedCall), maker(Run)
_collected, _facts = maker(Collected), maker(Facts)


@value
class Rebuilt:
    """A case, and what of its facts nobody knows."""

    case: Case
    fields: Mapping[str, tuple[JsonPointer, ...]]
    """Of the run: by name the places inside of each that are unknown."""


@value
class Offered:
    """What a server would publish in place of what it did."""

    definition: JsonObject
    pin: str
    quarantine: Quarantine | None = None


@value
class Parts:
    """What a case has of its call, the same under every revision."""

    call: ProposedCall
    actor: Actor
    phase: Phase
    facts: Facts
    run: Run | None
    fields: Mapping[str, tuple[JsonPointer, ...]]
    bound_by: BindingKind | None
    reads_while_paused: bool


_made_parts = maker(Parts)


class Parting:
    """Takes a call apart, once for all revisions that it is judged under."""

    def __init__(self) -> None:
        self._call: Recorded | None = None
        self._parts: Parts | None = None

    def __call__(self, call: Recorded) -> Parts:
        """Return the parts of a call; those of the last one are remembered."""
        if self._parts is None or call is not self._call:
            self._call, self._parts = call, _parts(call)
        return self._parts


_case, _rebuilt = maker(Case), maker(Rebuilt)


class Unkept(Exception):
    """A case that can't be made, since the store lacks something for it."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.place)
        self.missing = missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """Makes cases under one revision."""

    revision: Revision
    definitions: Definitions
    offered: Mapping[str, Offered | None] = field(default_factory=dict[str, "Offered | None"])
    """Of tools, by key: what is published now; None for what is gone."""
    parting: Parting = field(default_factory=Parting)
    _known: dict[tuple[object, ...], tuple[Tool, Contract] | None] = field(
        default_factory=dict[tuple[object, ...], "tuple[Tool, Contract] | None"]
    )

    def __call__(self, call: Recorded) -> Rebuilt | None:
        """Return the case of a call, None for a tool that can't be called; raises Unkept."""
        found = self._about(call)
        if found is None:
            return None
        tool, contract = found
        parts = self.parting(call)
        case = _case(
            call=parts.call,
            tool=tool,
            contract=contract,
            actor=parts.actor,
            phase=parts.phase,
            facts=parts.facts,
            revision=self.revision,
            run_id=call.run,
            run=parts.run,
            bound_by=parts.bound_by,
            reads_while_paused=parts.reads_while_paused,
        )
        return _rebuilt(case=case, fields=parts.fields)

    def _about(self, call: Recorded) -> tuple[Tool, Contract] | None:
        """Return what a call is of, looked up once for all that are of the same."""
        judged, pin = call.judged, call.snapshot.get("pin")
        status = judged.status if judged.status in _TELLING else None
        code = judged.code if status is not None else ""
        key = (call.tool, call.server, call.name, call.kind, pin, call.contract, status, code)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._found(call)
        return self._known[key]

    def _found(self, call: Recorded) -> tuple[Tool, Contract] | None:
        tool = self._tool(call)
        if tool is None:
            return None
        contract = contract_of(tool, self.revision, self._drafted)
        if contract is None:
            return None
        is_other = tool.key in self.offered
        if call.kind is Kind.TOOL and not is_other and not call.snapshot.get("pin"):
            # What was published was what had been reviewed, and is taken to be that again: a
            # contract with another definition is for a server that has another one.
            tool = replace(tool, pin=contract.pin)
        if contract.pin == tool.pin:
            tool = replace(tool, definition=contract.definition or tool.definition)
        return tool, contract

    def _tool(self, call: Recorded) -> Tool | None:
        """Return the tool as it was published, or as it would be; None where it would be gone."""
        found = self._then(call)
        if call.kind is not Kind.TOOL or found.key not in self.offered:
            return found
        other = self.offered[found.key]
        if other is None:
            return None
        return replace(
            found, definition=other.definition, pin=other.pin, quarantine=other.quarantine
        )

    def _then(self, call: Recorded) -> Tool:
        name, status = call.tool, call.judged.status
        if call.kind is not Kind.RESOURCE:
            name = name.removeprefix(f"{call.server}.")
        is_away = status is Status.UNAVAILABLE
        is_quarantined = status is Status.TOOL_QUARANTINED
        return Tool(
            server=call.server,
            name=name,
            exposed_name=call.name,
            definition=self._definition(call, name),
            pin=_text(call.snapshot.get("pin")) or call.contract,
            kind=call.kind,
            quarantine=Quarantine(reason="as then") if is_quarantined else None,
            away=Away(reason="as then", code=call.judged.code, retry_after_s=None)
            if is_away
            else None,
        )

    def _definition(self, call: Recorded, uri: str) -> JsonObject:
        """Return as much of a definition as anything looks at where the contract has none."""
        if call.kind is Kind.RESOURCE and call.judged.code != "unclear_uri":
            return {"uri": uri, "name": uri}  # it was listed, or is clear anyway
        pin = _text(call.snapshot.get("pin")) or call.contract
        return self.definitions.get(pin, {})

    def _drafted(self, tool: Tool) -> Contract:
        if not tool.definition:
            place = f"definition of `{tool.key}`"
            raise Unkept(Missing(place=place, why=Gone.NOT_KEPT, readers=("contract",)))
        return draft(tool).contract


def _parts(call: Recorded) -> Parts:
    said = call.snapshot.get("run")
    told: JsonObject = said if isinstance(said, dict) else {}
    run, fields = _run(call, told) if told else (None, _NO_FIELDS)
    bound_by = _text(told.get("bound_by"))
    return _made_parts(
        call=_proposed(call),
        actor=call.actor,
        phase=run.phase if run is not None else _phase(call),
        facts=_facts(
            now=call.at,
            origins=_origins(call),
            is_tainted=call.snapshot.get("tainted") is True,
        ),
        run=run,
        fields=fields,
        bound_by=_BINDINGS[bound_by] if bound_by else None,
        reads_while_paused=told.get("no_reads_while_paused") is not True,
    )


def _phase(call: Recorded) -> Phase:
    return _PHASES[call.judged.phase] if call.judged.phase else Phase.ACTING


def _proposed(call: Recorded) -> ProposedCall:
    judged, actor = call.judged, call.actor
    is_unread = judged.status is Status.INVALID_ARGUMENTS and judged.code == "not_json"
    return _made_call(
        call_id=call.call,
        name=call.name,
        arguments=call.arguments,
        meta={},
        principal=_principal(actor),
        caller=_NOBODY,
        received_at=call.at,
        method=call.method,
        cause=call.cause,
        input_error=judged.reason or "not JSON" if is_unread else "",
    )


def _origins(call: Recorded) -> dict[JsonPointer, tuple[Origin, ...]]:
    said = call.snapshot.get("origins")
    if not isinstance(said, dict):
        return {}
    return {
        pointer: tuple(
            Origin(
                type=_text(each.get("type")),
                record=_text(each.get("record")),
                tool="",
                trust=SourceTrust(_text(each.get("trust"))),
                is_exact=each.get("larger") is not True,
            )
            for each in some
            if isinstance(each, dict)
        )
        for pointer, some in said.items()
        if isinstance(some, list)
    }


def _run(call: Recorded, said: JsonObject) -> tuple[Run, Mapping[str, tuple[JsonPointer, ...]]]:
    fields, gone = _fields(said.get("fields"))
    text = {name: each for name, each in said.items() if isinstance(each, str)}.get
    whole = {name: each for name, each in said.items() if isinstance(each, int)}.get
    held, back, stop = text("held_by"), text("resume_phase"), text("stop_reason")
    run = _made_run(
        run_id=call.run,
        tenant=call.tenant,
        owner="",
        user=call.actor.user,
        task_id=text("task", ""),
        objective=text("objective", ""),
        template=text("template", ""),
        mode=_MODES[text("mode", "")],
        phase=_PHASES[text("phase", "")],
        resume_phase=_PHASES[back] if back else None,
        is_paused=whole("paused") is True,
        stop_reason=StopReason(stop) if stop else None,
        fields=fields,
        is_tainted=whole("tainted") is True,
        version=whole("version", 0),
        ends_at=whole("ends_at", 0),
        evidence=whole("evidence", 0),
        calls=whole("calls", 0),
        tokens=whole("tokens", 0),
        open_ops=whole("open_ops", 0),
        pending_approvals=whole("pending_approvals", 0),
        verified=_texts(said.get("verified")),
        succeeded=_texts(said.get("succeeded")),
        held_by=Holder(run_id="", is_over=held == "over") if held else None,
    )
    return run, gone


def _fields(said: Json) -> tuple[dict[str, Collected], Mapping[str, tuple[JsonPointer, ...]]]:
    fields: dict[str, Collected] = {}
    gone: dict[str, tuple[JsonPointer, ...]] = {}
    for name, each in said.items() if isinstance(said, dict) else ():
        if not isinstance(each, dict):
            continue
        found = each.get("value")
        is_there = found is not None or "value" in each
        fields[name] = _collected(
            value=found if is_there else "",
            trust=_TRUSTS[_text(each.get("trust"))],
            source=_text(each.get("source")),
            at=0,
        )
        places = tuple(unknown.places(found)) if is_there else ("",)
        if places:
            gone[name] = places
    return fields, gone


def _text(said: Json) -> str:
    return said if isinstance(said, str) else ""


def _texts(said: Json) -> tuple[str, ...]:
    return tuple(map(_text, said)) if isinstance(said, list) else ()

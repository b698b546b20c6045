"""What an event keeps of a side effect: what was written, how sure that is, and the way back.

Digests are keyed: an intent has few enough forms to be guessed. Values pass the redactor, with the
tags of the contract, before anything is compared or cut.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from gateway import jsontext
from gateway.events import envelope, markers
from gateway.events.changes import Change, Redact, Shown, changes, covered, shown
from gateway.jsontext import references
from gateway.jsontext.answers import of_result
from gateway.types.guarantees import Compensation
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.operations import Execution, Operation, OpState, VerificationState
from gateway.types.outcomes import Status
from gateway.types.tools import Contract, Sensitivity
from gateway.types.values import value

MOST_CHANGES: Final = 50
NOT_DECLARED: Final = "not_declared"  # of a way back

_LONGEST: Final = 1_000  # bytes of one value, and characters of a text or pointer
_IN_TEXT: Final = re.compile(r"\[redacted(?::[^\]]*)?\]")

Digest = Callable[[Json], str]
Text = Callable[[str], str]


@value
class Effect:
    """All that is known of one attempt to change something outside."""

    operation: Operation
    contract: Contract
    executed: Execution
    state: OpState  # that it leaves
    status: Status
    arguments: JsonObject  # as sent
    result: JsonObject | None = None  # the MCP result as it leaves; None where nobody has it
    old: Json = None  # the data of the read before it
    evidence: str = ""  # how the state is known, where that is not its own answer
    verification: VerificationState = VerificationState.NOT_DECLARED
    late: bool = False  # it was given up as unknown before


@value
class Described:
    """The members of a body, and the places in it that hold less than the value."""

    body: JsonObject
    masked: tuple[JsonPointer, ...] = ()
    erased: tuple[JsonPointer, ...] = ()


@value
class _Known:
    """What is known of a call, as it may be kept."""

    sent: Shown
    new: Shown | None
    old: Shown | None


def described(effect: Effect, *, redact: Redact, digest: Digest, text: Text) -> Described:
    """Return the members about one side effect; `redact` and `text` redact, `digest` is keyed."""
    operation, known = effect.operation, _known(effect, redact)
    is_known = (
        effect.executed is not Execution.UNKNOWN and effect.state is not OpState.INDETERMINATE
    )
    body: JsonObject = {
        "op": operation.op_id,
        "key": {"source": operation.key.source.value, "digest": digest(operation.key.intent)},
        "attempt": operation.epoch,
        "outcome": "known" if is_known else "unknown",
        "executed": effect.executed.value,
        "state": effect.state.value,
        "status": effect.status.value,
        "verification": effect.verification.value,
        "object": _object(effect, known, digest, text),
        "compensation": _way_back(effect.contract.compensation),
    }
    if operation.downstream_key:
        body["downstream_key"] = digest(operation.downstream_key)
    if effect.evidence:
        body["evidence"] = text(effect.evidence[:_LONGEST])[:_LONGEST]
    if operation.compensates:
        body["compensates"] = operation.compensates
    if effect.late:
        body["late"] = True
    listed, left_off = _listed(known)
    body["changes"] = listed
    if left_off:
        body["changes_left_off"] = left_off
    places = list(_places(listed, "/changes"))
    return Described(
        body=body,
        masked=tuple(place for place, is_erased in places if not is_erased),
        erased=tuple(place for place, is_erased in places if is_erased),
    )


def _known(effect: Effect, redact: Redact) -> _Known:
    contract = effect.contract
    tags = {**contract.sensitive, **contract.sensitive_results}
    tags |= {
        place: kind for place, kind in contract.sensitive.items() if kind is Sensitivity.SECRET
    }
    sent, new, old = covered(
        [
            shown(effect.arguments, contract.sensitive, redact),
            shown(_data(effect.result), tags, redact),
            shown(effect.old, tags, redact),
        ],
        secrets=(effect.operation.downstream_key,),
    )
    return _Known(
        sent=sent,
        new=None if new.raw is None else new,
        old=None if old.raw is None else old,
    )


def _data(result: JsonObject | None) -> Json:
    """Return what `$result` stands for; an answer that says no tells nothing of an object."""
    if result is None or result.get("isError") is True:
        return None
    return of_result(result)


def _way_back(compensation: Compensation | None) -> JsonObject:
    if compensation is None:
        return {"class": NOT_DECLARED}
    said: JsonObject = {"class": compensation.kind.value}
    if compensation.call is not None:
        said["tool"] = compensation.call.tool
    return said


def _object(effect: Effect, known: _Known, digest: Digest, text: Text) -> JsonObject:
    """Name what was written as the contract says, else by the tool alone."""
    written = effect.contract.object
    if written is None:
        return {"type": effect.operation.tool, "id": ""}
    operation = effect.operation
    key = digest(operation.downstream_key) if operation.downstream_key else ""
    roots: JsonObject = {
        "args": known.sent.kept,
        "result": None if known.new is None else known.new.kept,
        "old": None if known.old is None else known.old.kept,
        "op": {"id": operation.op_id, "key": key},
    }
    return {"type": written.type, "id": text(_filled(written.id, roots))[:_LONGEST]}


def _filled(template: str, roots: JsonObject) -> str:
    """Fill a text with what may be kept; empty when a part of it can't be told."""
    try:
        parts = references.parse(template)
    except references.BadReference:
        return ""
    filled = [part if isinstance(part, str) else _named(part, roots) for part in parts]
    return "".join(filled) if all(filled) else ""


def _named(reference: references.Reference, roots: JsonObject) -> str:
    value = roots[reference.root]
    for step in reference.steps:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                return ""
    if markers.is_marker(value) and isinstance(value, dict):
        value = value.get("hmac", "")  # of a personal value: still the same for the same object
    if isinstance(value, bool | dict | list) or value is None:
        return ""
    return str(value)


def _listed(known: _Known) -> tuple[list[Json], int]:
    """Return the changes that fit, and how many others there are."""
    if known.new is None:
        return [], 0
    found = list(changes(known.old, known.new, known.sent))
    listed: list[Json] = []
    room = envelope.MAX_ARGUMENTS
    for change in found[:MOST_CHANGES]:
        entry = _entry(change)
        room -= envelope.size(entry)
        if room < 0:
            break
        listed.append(entry)
    return listed, len(found) - len(listed)


def _entry(change: Change) -> JsonObject:
    entry: JsonObject = {"pointer": change.pointer[:_LONGEST]}
    if change.before is not None:
        entry["before"] = envelope.capped(change.before.kept, _LONGEST)
    entry["after"] = envelope.capped(change.after.kept, _LONGEST)
    return entry


def _places(value: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, bool]]:
    """Yield the places that hold a marker, and whether it keeps nothing of the value."""
    if markers.is_marker(value) and isinstance(value, dict):
        yield pointer, "hmac" not in value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _places(member, f"{pointer}/{jsontext.escape(key)}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _places(item, f"{pointer}/{at}")
    elif isinstance(value, str) and _IN_TEXT.search(value):
        yield pointer, False

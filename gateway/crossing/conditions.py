"""What a contract says of an outcome, held against what is known of it: true, false or unknown."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.case import Case
from gateway.crossing.reads import NotRead, Old
from gateway.errors import WeighbridgeError
from gateway.operations.templates import Known, of_result, value_of
from gateway.policy import cel
from gateway.types.guarantees import Checksum
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, Verification, VerificationState
from gateway.types.tools import Ensure

NOT_DECLARED: Final = Verification(state=VerificationState.NOT_DECLARED)
VERIFIED: Final = Verification(state=VerificationState.VERIFIED)

_OLD: Final = re.compile(r"(?<![\w.])old\b")
# The worst first. A failure is certain whatever else is unknown.
_ORDER: Final = (
    VerificationState.FAILED,
    VerificationState.INCONCLUSIVE,
    VerificationState.PENDING,
    VerificationState.VERIFIED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure:
    """Why a condition is neither true nor false."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of a call that was carried out."""

    args: JsonObject
    answer: Json  # the data of its result; None when it has none
    old: Old = None
    op: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, case: Case, result: JsonObject, old: Old = None) -> "Seen":
        """Gather it from a case and the result as received."""
        return cls(
            args=case.arguments or {},
            answer=of_result(result),
            old=old,
            op={} if case.operation is None else names_of(case.operation),
        )

    @property
    def known(self) -> Known:
        """What references in a template stand for."""
        old = None if isinstance(self.old, NotRead) else self.old
        return Known(args=self.args, result=self.answer, old=old, op=self.op)

    def holds(self, text: str, **values: Json) -> bool | Unsure:
        """Evaluate a condition over `args`, `old` and the given values."""
        found = holds(text, {"args": self.args, **values, "old": self.known.old})
        if isinstance(found, Unsure) and isinstance(self.old, NotRead) and _OLD.search(text):
            return Unsure(reason=f"there is no `old`, {self.old.reason}")
        return found


def names_of(operation: Operation) -> Mapping[str, str]:
    """Return what `$op` has; a key that no server was given is none to ask by."""
    names = {"id": operation.op_id, "key": operation.downstream_key}
    return {name: value for name, value in names.items() if value}


def holds(text: str, values: Mapping[str, Json]) -> bool | Unsure:
    """Evaluate a condition; what is None is not there, and a condition that needs it is unsure."""
    names = {name: value for name, value in values.items() if value is not None}
    try:
        return cel.compile_condition(text).holds(names)
    except cel.ConditionError as error:
        return Unsure(reason=error.message)


def ensured(conditions: Iterable[Ensure], seen: Seen) -> list[Verification]:
    """Hold the postconditions against a result, each by itself."""
    return [_ensured(condition, seen) for condition in conditions]


def summed(checksum: Checksum, seen: Seen) -> Verification:
    """Compare a digest of the server's with one of the UTF-8 bytes of a text.

    The server's may be in hex or base64, with or without the name of the algorithm before it.
    """
    try:
        text, told = value_of(checksum.of, seen.known), value_of(checksum.equals, seen.known)
    except WeighbridgeError as error:
        return _inconclusive(f"the checksum can't be compared: {error}")
    if not isinstance(text, str):
        return _inconclusive(f"`{checksum.of}` is no text to take a checksum of")
    expected = hashlib.new(checksum.algorithm, text.encode("utf-8", "surrogatepass")).digest()
    given = _digest(told, checksum.algorithm, len(expected))
    if given is None:
        return _inconclusive(f"`{checksum.equals}` is no {checksum.algorithm}")
    if given == expected:
        return VERIFIED
    return _failed(f"`{checksum.equals}` is not the {checksum.algorithm} of `{checksum.of}`")


def together(parts: Iterable[Verification]) -> Verification:
    """Return what several checks come to: the worst of them, and all that is said of that."""
    parts = tuple(parts)
    for state in _ORDER:
        details = [part.detail for part in parts if part.state is state]
        if details:
            return Verification(state=state, detail="; ".join(filter(None, details)))
    return NOT_DECLARED


def _ensured(condition: Ensure, seen: Seen) -> Verification:
    held = seen.holds(condition.when, result=seen.answer)
    if isinstance(held, Unsure):
        return _inconclusive(f"can't tell whether {condition.message}: {held.reason}")
    return VERIFIED if held else _failed(condition.message)


def _failed(detail: str) -> Verification:
    return Verification(state=VerificationState.FAILED, detail=detail)


def _inconclusive(detail: str) -> Verification:
    return Verification(state=VerificationState.INCONCLUSIVE, detail=detail)


def _digest(told: Json, algorithm: str, size: int) -> bytes | None:
    """Return the bytes of a digest as servers write them, or None for anything else."""
    if not isinstance(told, str):
        return None
    text = re.sub(rf"^{algorithm}[:=-]", "", told.strip(), flags=re.IGNORECASE)
    try:
        found = (
            bytes.fromhex(text) if len(text) == 2 * size else base64.b64decode(text, validate=True)
        )
    except (ValueError, binascii.Error):
        return None
    return found if len(found) == size else None

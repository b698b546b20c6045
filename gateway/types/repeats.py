"""A call that its host makes a second time on purpose: it says which one, and why."""

import re
from dataclasses import dataclass
from typing import Final

from gateway.types.json import JsonObject

KEY: Final = "weighbridge/repeat"  # of `_meta`, which models can't see: never of arguments
_OPERATION: Final = re.compile(r"op_[0-9A-HJKMNP-TV-Z]{26}")
_LONGEST: Final = 1_000  # characters of a reason


class BadRepeat(ValueError):
    """What a host says of a repeated call can't be read; one line for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """The operation that is meant to be carried out once more, and why; neither is checked."""

    op_id: str
    reason: str


def asked(meta: JsonObject) -> Repetition | None:
    """Return what `_meta` says of a repetition, if it does; raises `BadRepeat`."""
    said = meta.get(KEY)
    if said is None:
        return None
    op_id, reason = (said.get("op_id"), said.get("reason")) if isinstance(said, dict) else (0, 0)
    if not isinstance(op_id, str) or not _OPERATION.fullmatch(op_id):
        raise BadRepeat(f"`{KEY}` needs the `op_id` of the call that is repeated")
    if not isinstance(reason, str) or not 0 < len(reason.strip()) <= len(reason) <= _LONGEST:
        raise BadRepeat(f"`{KEY}` needs a `reason`, of at most {_LONGEST} characters")
    return Repetition(op_id=op_id, reason=reason)

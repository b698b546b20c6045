"""What must not turn up in events of one call, and texts about it without that."""

from typing import Final

from gateway.events import concealed, levels, markers
from gateway.events.redact import Redactor
from gateway.types.audit import Level
from gateway.types.records import CallRecord

_LONGEST: Final = 1_000  # characters of a text


def tagged(record: CallRecord) -> concealed.Concealed:
    """Return what its contract calls secret or personal, with what it came with as such."""
    tags = record.contract.sensitive if record.contract is not None else None
    if not tags:
        return record.call.concealed
    return {**concealed.values(record.call.arguments, tags), **record.call.concealed}


def hidden(record: CallRecord) -> concealed.Concealed | None:
    """Return all that, what stands under telling keys, and what the level of the call leaves out.

    None where it is too much to look for: then no text or value may be kept that could have some.
    """
    known = levels.hidden(record.call.arguments, tagged(record), record.level)
    named = concealed.named(record.call.arguments)
    if known is None or concealed.are_too_many(named):
        return None
    return {**named, **known}


def text(record: CallRecord, redactor: Redactor, said: str) -> str:
    """Return a text as it may be kept; a server may repeat what it was sent."""
    if not said:
        return ""
    found = hidden(record)
    if found is None:
        return markers.in_text(markers.erased(markers.SIZE))
    return redactor.text(concealed.in_text(said[: 2 * _LONGEST], found))[:_LONGEST]


def may_quote(record: CallRecord) -> bool:
    """Whether a reason may have words of a server that are not kept at the level of the call.

    Of what was sent, now or when the same was called before: status, code and class tell the rest.
    """
    was_sent = record.sent_ns > 0 or record.op_id != "" or record.error_code is not None
    return record.level is Level.METADATA and was_sent

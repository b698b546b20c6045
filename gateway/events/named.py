"""What an event says of what its call is about: the tool, the resource or the prompt."""

from typing import Final

from gateway.events.redact import Redactor
from gateway.types.json import JsonObject
from gateway.types.records import CallRecord
from gateway.types.tools import Kind

_NAME: Final = 128  # characters of a name that a caller made up
URI: Final = 2_000  # characters of one


def named(record: CallRecord, redactor: Redactor) -> JsonObject:
    """Name what the call is about; of a name that no server has, only what can be kept."""
    told = record.named
    if told is None:
        told = record.named = _told(record, redactor)
    return {**told, "arguments_digest": record.arguments_digest}


def _told(record: CallRecord, redactor: Redactor) -> JsonObject:
    tool, uri = record.tool, record.resource[:URI]
    named: JsonObject = {"method": str(record.call.method)}
    if record.call.cause:
        named["cause"] = record.call.cause
    if tool is None:
        named |= {"tool": "", "server": "", "name": redactor.text(record.call.name[:_NAME])}
    elif tool.kind is Kind.RESOURCE:  # callers may choose URIs: only the redacted form is kept
        named |= {"tool": uri, "server": tool.server, "name": uri}
    else:
        named |= {"tool": tool.key, "server": tool.server, "name": tool.exposed_name}
    if record.effect is not None:
        named["effect"] = str(record.effect)
    if record.risk is not None:
        named["risk"] = str(record.risk)
    return named

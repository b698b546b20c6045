"""Events as CloudEvents 1.0, in their JSON form: an envelope for queues, webhooks and brokers.

`data` is the event as it is kept, with its number; its schema is the published one.
"""

import re
from typing import Final
from urllib.parse import quote

from gateway.events import schemas
from gateway.events.mapping import Field, mapped, put
from gateway.types.events import ENVELOPE_VERSION, EventKind
from gateway.types.json import Json, JsonObject

VERSION: Final = "1.0"
NO_ORIGIN: Final = "urn:weighbridge:log"
_NEVER: Final = re.compile("[\x00-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_TRACE: Final = re.compile(r"[0-9a-f]{32}")
_SPAN: Final = re.compile(r"[0-9a-f]{16}")


def _said(value: Json) -> Json:
    """Return a text without the characters that an attribute may not have."""
    return _NEVER.sub("\ufffd", value) if isinstance(value, str) else str(value)


FIELDS: Final = (
    Field("id", ("id",), how=_said),
    Field("time", ("ts",), how=_said),
    Field("subject", ("call", "run", "body.approval"), "the first that there is", _said),
    Field("sequence", ("seq",), "as a text", _said),
    Field("tenant", ("tenant",), how=_said),
)
CONSTANTS: Final = (
    ("specversion", f"`{VERSION}`"),
    ("source", f"the origin of the log, as checkpoints name it; `{NO_ORIGIN}` before the first"),
    ("type", "`weighbridge.` and the kind, such as `weighbridge.tool_call`"),
    ("datacontenttype", "`application/json`"),
    ("dataschema", "the `$id` of the kind's schema in [`events/`](events)"),
    ("traceparent", "`trace_id` and `span_id`, where there are both (W3C Trace Context)"),
    ("data", "the event as it is kept, with its number"),
)


def event(kept: JsonObject, origin: str) -> JsonObject:
    """Return an event, as it is kept and with its number, in its envelope."""
    kind = str(kept.get("kind"))
    made: JsonObject = {
        "specversion": VERSION,
        "source": source(origin),
        "type": f"weighbridge.{_said(kind)}",
        "datacontenttype": "application/json",
        "dataschema": _schema(kind),
    }
    found, _ = mapped(kept, FIELDS)
    made |= found
    trace, span = str(kept.get("trace_id")), str(kept.get("span_id"))
    if _TRACE.fullmatch(trace) and _SPAN.fullmatch(span):
        put(made, "traceparent", f"00-{trace}-{span}-01")
    return {**made, "data": kept}


def source(origin: str) -> str:
    """Return the origin of a log as a reference that is a URI in any case."""
    return quote(origin, safe="/:@!$&'()*+,;=-._~") or NO_ORIGIN


def _schema(kind: str) -> str:
    try:
        name = schemas.file_name(EventKind(kind)).removesuffix(".json")
    except ValueError:
        name = f"{quote(kind, safe='')}.v{ENVELOPE_VERSION}"
    return f"urn:weighbridge:events:{name}"

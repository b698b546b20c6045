"""Which class of OCSF an event belongs to, and which of its members go where (OCSF 1.8.0)."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.events.mapping import Field
from gateway.types.json import Json, JsonObject

NAME: Final = "Weighbridge"
LOG: Final = "weighbridge event log"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(value: Json) -> Json:
    """Return a time of an event in whole milliseconds since 1970."""
    try:
        return (datetime.fromisoformat(str(value)) - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, TypeError):
        return None


def _duration(value: Json) -> Json:
    return value // 1000 if isinstance(value, int) else None


def _text(value: Json) -> Json:
    return value if isinstance(value, str) else jsontext.dump(value).decode()


def _said(value: Json) -> Json:
    return value if isinstance(value, str) else None


def _named(value: Json) -> Json:
    return [{"name": each} for each in value if each] if isinstance(value, list) else None


def _documents(value: Json) -> Json:
    """Return what was read as resources; of those without an id nothing can be told."""
    if not isinstance(value, list):
        return None
    read = [each for each in value if isinstance(each, dict) and each.get("id")]
    return [
        {"uid": each["id"], "type": "document"}
        | ({"version": each["version"]} if each.get("version") else {})
        for each in read
    ] or None


def _object(value: Json) -> Json:
    if not isinstance(value, dict) or not value.get("type"):
        return None
    uid: JsonObject = {"uid": value["id"]} if value.get("id") else {}
    return [{"name": value["type"], "type": "object"} | uid]


def _first(value: Json) -> Json:
    return _endpoint(value[0]) if isinstance(value, list) and value else None


def _endpoint(value: Json) -> Json:
    """Return an address as an endpoint: as an address where it is one, else as a name."""
    try:
        return {"ip": str(ipaddress.ip_address(str(value)))}
    except ValueError:
        return {"name": str(value)}


@dataclass(frozen=True, slots=True)
class Class:
    """A class of OCSF."""

    uid: int
    caption: str
    fields: tuple[Field, ...]
    activities: Mapping[int, str]

    @property
    def category(self) -> int:
        """The category that it belongs to."""
        return self.uid // 1000


COMMON: Final = (
    Field("time", ("ts",), "in milliseconds", milliseconds),
    Field("metadata.uid", ("id",)),
    Field("metadata.sequence", ("seq",)),
    Field("metadata.original_time", ("ts",)),
    Field("metadata.log_version", ("v",), "as a text", _text),
    Field("metadata.tenant_uid", ("tenant",)),
    Field("metadata.correlation_uid", ("call", "run"), "the first that there is"),
    Field("metadata.product.version", ("gateway.version",)),
    Field("actor.user.name", ("actor.user", "body.by", "body.account")),
    Field("actor.user.groups", ("actor.roles",), "each as `name`", _named),
    Field("actor.app_name", ("actor.client",)),
    Field("actor.idp.name", ("actor.issuer",)),
    Field("status_code", ("body.code", "body.cast", "body.status", "body.outcome")),
    Field("status_detail", ("body.reason", "body.why", "body.error", "body.evidence"), "", _said),
)
_TRACE: Final = Field("trace.uid", ("trace_id",), "with the profile `trace`")
_RULE: Final = (
    Field("policy.uid", ("body.rule",), "with the profile `security_control`"),
    Field("policy.version", ("body.revision",)),
)

API: Final = Class(
    6003,
    "API Activity",
    (
        Field("api.operation", ("body.tool", "body.name", "body.question", "body.method")),
        Field("api.group.name", ("body.question", "body.method")),
        Field("api.service.name", ("body.server",)),
        Field("api.request.uid", ("call",)),
        Field("api.request.data", ("body.arguments",), "redacted, as they are kept"),
        Field("api.response.code", ("body.error_code",)),
        Field("api.response.error", ("body.error_class",)),
        Field("dst_endpoint.svc_name", ("body.server",)),
        Field("src_endpoint.name", ("actor.client",), "`unknown` where nothing tells"),
        Field("duration", ("body.duration_us",), "in milliseconds", _duration),
        Field("resources", ("body.documents",), "of a `retrieval`", _documents),
        Field("resources", ("body.object",), "of a `side_effect`", _object),
        *_RULE,
        _TRACE,
    ),
    {0: "Unknown", 1: "Create", 2: "Read", 3: "Update", 4: "Delete"},
)
ENTITY: Final = Class(
    3004,
    "Entity Management",
    (
        Field(
            "entity.uid",
            (
                *("body.approval", "body.op", "body.revision", "body.tool", "body.to", "body.name"),
                *("body.user", "run", "body.run", "body.tenant", "id"),
            ),
            "the first that there is",
        ),
        Field("entity.name", ("body.tool", "body.template", "body.name")),
        Field("comment", ("body.reason", "body.note", "body.evidence"), "", _said),
        Field("src_endpoint.name", ("body.channel", "actor.client")),
    ),
    {
        **{1: "Create", 3: "Update", 8: "Enable", 9: "Disable", 10: "Activate"},
        **{11: "Deactivate", 12: "Suspend", 13: "Resume"},
    },
)
STORE: Final = Class(
    6005,
    "Datastore Activity",
    (
        Field("query_info.name", ("body.how",), "of a `log_read`"),
        Field("query_info.query_string", ("body.asked",), "of a `log_read`, as JSON", _text),
        Field("src_endpoint.name", ("gateway.instance",)),
        Field("count", ("body.count",)),
        Field("start_time", ("body.since",), "in milliseconds", milliseconds),
    ),
    {4: "Query", 5: "Write", 7: "Delete"},
)
LOGIN: Final = Class(
    3002,
    "Authentication",
    (
        Field("user.name", ("body.user",), "`unknown` where nobody was let in"),
        Field("user.groups", ("body.roles",), "each as `name`", _named),
        Field("src_endpoint", ("body.peer",), "`ip`, or `name` of what is none", _endpoint),
        Field("src_endpoint", ("body.peers",), "the first of them", _first),
        Field("count", ("body.count",)),
        Field("start_time", ("body.since",), "in milliseconds", milliseconds),
    ),
    {1: "Logon", 2: "Logoff"},
)
APPLICATION: Final = Class(
    6002,
    "Application Lifecycle",
    (
        Field("app.version", ("gateway.version",)),
        Field("app.uid", ("gateway.instance",)),
    ),
    {3: "Start", 4: "Stop"},
)
REFUSED: Final = Class(
    6003,
    API.caption,
    (
        Field("src_endpoint", ("body.peers",), "the first of them", _first),
        Field("count", ("body.count",)),
        Field("start_time", ("body.since",), "in milliseconds", milliseconds),
    ),
    API.activities,
)
CLASSES: Final = (API, ENTITY, STORE, LOGIN, APPLICATION)

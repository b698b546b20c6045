"""What OCSF 1.8.0 requires of the classes that are written, as JSON Schema.

Made from the published class and object definitions: required members, closed lists, constraints of
the kind `at_least_one`, and the members that each class and profile has.
"""

from typing import Any, Final

_TEXT: Final = {"type": "string", "minLength": 1}
_NUMBER: Final = {"type": "integer", "minimum": 0}
_JSON: Final[dict[str, Any]] = {}


def _one_of(*names: str) -> dict[str, Any]:
    return {"anyOf": [{"required": [name]} for name in names]}


def _closed(members: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


_NAMES: Final = {
    "type": "array",
    "minItems": 1,
    "items": _closed({"name": _TEXT, "uid": _TEXT}, **_one_of("name", "uid")),
}
_USER: Final = _closed(
    {"name": _TEXT, "uid": _TEXT, "groups": _NAMES, "type_id": {"enum": [0, 1, 2, 3, 4, 99]}},
    **_one_of("name", "uid", "account"),
)
_ENDPOINT: Final = _closed(
    {"name": _TEXT, "ip": _TEXT, "svc_name": _TEXT, "instance_uid": _TEXT, "uid": _TEXT},
    **_one_of("name", "ip", "svc_name", "instance_uid", "uid"),
)
_SERVICE: Final = _closed({"name": _TEXT, "version": _TEXT}, **_one_of("name", "uid"))
_PRODUCT: Final = _closed(
    {"name": _TEXT, "vendor_name": _TEXT, "version": _TEXT, "uid": _TEXT}, **_one_of("name", "uid")
)
_BASE: Final[dict[str, Any]] = {
    "activity_id": _NUMBER,
    "activity_name": _TEXT,
    "category_uid": _NUMBER,
    "class_uid": _NUMBER,
    "class_name": _TEXT,
    "type_uid": _NUMBER,
    "time": _NUMBER,
    "start_time": _NUMBER,
    "duration": _NUMBER,
    "count": {"type": "integer", "minimum": 1},
    "severity_id": {"enum": [0, 1, 2, 3, 4, 5, 6, 99]},
    "status_id": {"enum": [0, 1, 2, 99]},
    "status_code": _TEXT,
    "status_detail": _TEXT,
    "message": _TEXT,
    "unmapped": {"type": "object"},
    "metadata": _closed(
        {
            "version": {"const": "1.8.0"},
            "product": _PRODUCT,
            "uid": _TEXT,
            "sequence": _NUMBER,
            "original_time": _TEXT,
            "log_version": _TEXT,
            "log_name": _TEXT,
            "tenant_uid": _TEXT,
            "correlation_uid": _TEXT,
            "event_code": _TEXT,
            "profiles": {"type": "array", "items": {"enum": ["trace", "security_control"]}},
        },
        "version",
        "product",
    ),
}
_ACTOR: Final = _closed(
    {
        "user": _USER,
        "app_name": _TEXT,
        "idp": _closed({"name": _TEXT, "uid": _TEXT}, **_one_of("name", "uid")),
    },
    **_one_of("user", "app_name"),
)
_PROFILES: Final[dict[str, dict[str, Any]]] = {
    "trace": {"trace": _closed({"uid": _TEXT}, "uid")},
    "security_control": {
        "action_id": {"enum": [0, 1, 2, 3, 4, 99]},
        "action": _TEXT,
        "disposition_id": _NUMBER,
        "disposition": _TEXT,
        "policy": _closed(
            {"name": _TEXT, "uid": _TEXT, "version": _TEXT}, **_one_of("name", "uid", "type")
        ),
    },
}
_CLASSES: Final[dict[int, tuple[set[int], dict[str, Any], tuple[str, ...]]]] = {
    6003: (
        {0, 1, 2, 3, 4, 99},
        {
            "actor": _ACTOR,
            "api": _closed(
                {
                    "operation": _TEXT,
                    "group": _closed({"name": _TEXT}),
                    "service": _SERVICE,
                    "request": _closed({"uid": _TEXT, "data": _JSON}, "uid"),
                    "response": _closed(
                        {"code": {"type": "integer"}, "error": _TEXT, "error_message": _TEXT}
                    ),
                },
                "operation",
            ),
            "src_endpoint": _ENDPOINT,
            "dst_endpoint": _ENDPOINT,
            "resources": {
                "type": "array",
                "items": _closed(
                    {"uid": _TEXT, "name": _TEXT, "type": _TEXT, "version": _TEXT},
                    **_one_of("uid", "name"),
                ),
            },
        },
        ("actor", "api", "src_endpoint"),
    ),
    3004: (
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 99},
        {
            "actor": _ACTOR,
            "entity": _closed({"uid": _TEXT, "name": _TEXT, "type": _TEXT}, "uid"),
            "comment": _TEXT,
            "src_endpoint": _ENDPOINT,
        },
        ("entity",),
    ),
    6005: (
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99},
        {
            "actor": _ACTOR,
            "database": _closed(
                {"name": _TEXT, "type": _TEXT, "type_id": {"enum": [0, 1, 2, 3, 4, 5, 6, 99]}},
                "type_id",
                "name",
            ),
            "query_info": _closed({"name": _TEXT, "query_string": _TEXT}, "query_string", "name"),
            "src_endpoint": _ENDPOINT,
        },
        ("actor", "src_endpoint", "database"),
    ),
    3002: (
        {0, 1, 2, 3, 4, 5, 6, 7, 99},
        {"actor": _ACTOR, "user": _USER, "service": _SERVICE, "src_endpoint": _ENDPOINT},
        ("user", "service"),
    ),
    6002: ({0, 1, 2, 3, 4, 5, 6, 7, 8, 99}, {"app": _PRODUCT}, ("app",)),
}


def schema(class_uid: int, profiles: list[str]) -> dict[str, Any]:
    """Return what an event of a class has to be."""
    activities, members, required = _CLASSES[class_uid]
    of_profiles = {name: each for one in profiles for name, each in _PROFILES[one].items()}
    own: dict[str, Any] = {
        "activity_id": {"enum": sorted(activities)},
        "category_uid": {"const": class_uid // 1000},
        "class_uid": {"const": class_uid},
        "type_uid": {"enum": [class_uid * 100 + each for each in sorted(activities)]},
    }
    always = ("time", "severity_id", "metadata", *own)
    return _closed({**_BASE, **members, **of_profiles, **own}, *always, *required)

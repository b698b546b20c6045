"""The OpenAPI document of `/v1` (OpenAPI 3.1), made of the table of endpoints and their models."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gateway import __version__
from gateway.admin.endpoints import ENDPOINTS, Endpoint
from gateway.admin.problems import KINDS, MEDIA_TYPE
from gateway.client import wire
from gateway.operations.keys import LONGEST
from gateway.types.json import Json, JsonObject

_REF: Final = "#/components/schemas/{model}"
_EVERYWHERE: Final = (401, 403, 500, 503)
_ETAG: Final[JsonObject] = {
    "ETag": {"description": "its version, for `If-Match`", "schema": {"type": "string"}}
}
_IF_MATCH: Final[JsonObject] = {
    "name": "If-Match",
    "in": "header",
    "description": "the `ETag` that the run has to have; without it, whatever it has",
    "schema": {"type": "string"},
}
_KEY: Final[JsonObject] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "a key of the caller's own, bare or in quotes: the same request made again with "
    "it starts no other run, and gets the one that there is as it stands by then; another request "
    "with it is refused with `key_used`. It is known as long as the run is kept",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
}
_RUN_ID: Final[JsonObject] = {
    "name": "run_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
}


def document() -> JsonObject:
    """Return the document; the same every time, so that it can be compared byte for byte."""
    paths: dict[str, Json] = {}
    for each in ENDPOINTS:
        operations = paths.setdefault(each.path, {})
        if isinstance(operations, dict):
            operations[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Weighbridge: runs",
            "version": __version__,
            "description": "For programs that manage runs, on the admin listener. "
            "`Authorization: Bearer wba_…` is the only credential, a key of `admin.api_keys`.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "made by `weighbridge keys new ID --admin`",
                }
            },
            "schemas": _schemas(),
        },
    }


def _schemas() -> JsonObject:
    """Return the schemas of all bodies and answers; a request is described as it is taken."""
    requests: set[type[BaseModel]] = {each.body for each in ENDPOINTS if each.body is not None}
    replies: set[type[BaseModel]] = {wire.Problem, *(each.reply for each in ENDPOINTS)}
    named = sorted(requests | replies, key=lambda model: model.__name__)
    found = models_json_schema(
        [(each, "validation" if each in requests else "serialization") for each in named],
        ref_template=_REF,
    )[1]
    schemas: JsonObject = found["$defs"]
    return dict(sorted(schemas.items()))


def _operation(each: Endpoint) -> JsonObject:
    parameters: list[Json] = [_RUN_ID] if each.names_run else []
    if each.takes_key:
        parameters.append(_KEY)
    if each.is_versioned:
        parameters.append(_IF_MATCH)
    if each.query is not None:
        parameters += _parameters(each.query)
    scopes = " or ".join(f"`{scope}`" for scope in each.scopes)
    operation: JsonObject = {
        "operationId": each.id,
        "summary": each.summary,
        "description": f"Needs {scopes}.",
        "parameters": parameters,
        "responses": {str(each.status): _answer(each), **_problems(each)},
    }
    if each.body is not None:
        needed = any(field.is_required() for field in each.body.model_fields.values())
        operation["requestBody"] = {
            "required": needed,
            "content": {"application/json": {"schema": _ref(each.body)}},
        }
    return operation


def _answer(each: Endpoint) -> JsonObject:
    headers: JsonObject = dict(_ETAG) if each.reply is wire.RunState else {}
    if each.status == 201:
        headers["Location"] = {"description": "the run", "schema": {"type": "string"}}
    answer: JsonObject = {
        "description": "done",
        "content": {"application/json": {"schema": _ref(each.reply)}},
    }
    return {**answer, "headers": headers} if headers else answer


def _problems(each: Endpoint) -> Mapping[str, Json]:
    statuses = {*_EVERYWHERE, *each.refuses}
    statuses |= {404} if each.names_run else set()
    statuses |= {400, 413, 415, 422} if each.body is not None else set()
    statuses |= {400, 422} if each.query is not None else set()
    return {str(status): _problem(status) for status in sorted(statuses)}


def _problem(status: int) -> JsonObject:
    titles = [kind.title for kind in KINDS.values() if kind.status == status]
    return {
        "description": "; or: ".join(titles),
        "content": {MEDIA_TYPE: {"schema": _ref(wire.Problem)}},
    }


def _parameters(model: type[BaseModel]) -> Iterable[JsonObject]:
    schema: JsonObject = model.model_json_schema(ref_template=_REF)
    properties = schema.get("properties")
    for name, found in properties.items() if isinstance(properties, dict) else ():
        inner = dict(found) if isinstance(found, dict) else {}
        description = inner.pop("description", "")
        yield {"name": name, "in": "query", "description": description, "schema": inner}


def _ref(model: type[BaseModel]) -> JsonObject:
    return {"$ref": _REF.format(model=model.__name__)}

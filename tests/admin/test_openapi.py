"""The OpenAPI document says what is there: routes, bodies and answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway import jsontext
from gateway.admin import openapi
from gateway.admin.endpoints import ENDPOINTS
from gateway.types.json import Json
from tests.admin.hosting import Desk, Replied, open_desk

DOCUMENT: Any = openapi.document()


def schema(model: str) -> dict[str, Any]:
    """Return the schema of a component, with all others beside it."""
    return {"$ref": f"#/components/schemas/{model}", "components": DOCUMENT["components"]}


def references(value: Json) -> Iterator[str]:
    match value:
        case {"$ref": str(ref)}:
            yield ref
        case dict():
            for each in value.values():
                yield from references(each)
        case list():
            for each in value:
                yield from references(each)
        case _:
            return


def held(replied: Replied, path: str, method: str) -> None:
    """Hold an answer against what the document says of it."""
    answer = DOCUMENT["paths"][path][method]["responses"][str(replied.status)]
    [(media_type, content)] = answer["content"].items()
    assert replied.headers["Content-Type"] == media_type
    for header in answer.get("headers", {}):
        assert header in replied.headers
    model = content["schema"]["$ref"].rpartition("/")[2]
    validator: Any = jsonschema.Draft202012Validator(
        schema(model), format_checker=jsonschema.FormatChecker()
    )
    validator.validate(replied.body)


def test_every_reference_resolves_and_every_schema_is_one() -> None:
    for ref in references(DOCUMENT):
        assert ref.startswith("#/components/schemas/")
        assert ref.rpartition("/")[2] in DOCUMENT["components"]["schemas"]
    for each in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(each)


def test_it_is_the_same_every_time_and_plain_json() -> None:
    text = jsontext.dump(openapi.document())
    assert text == jsontext.dump(openapi.document())
    assert jsontext.parse(text) == DOCUMENT


def test_each_operation_is_there_once_with_its_parameters() -> None:
    found = {
        operation["operationId"]: (path, method)
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
    }
    assert found == {each.id: (each.path, each.method.lower()) for each in ENDPOINTS}
    for path, operations in DOCUMENT["paths"].items():
        for operation in operations.values():
            named = {each["name"] for each in operation["parameters"]}
            assert ("run_id" in named) == ("{run_id}" in path)
            assert {"401", "403", "500", "503"} <= operation["responses"].keys()


@pytest.mark.parametrize("each", ENDPOINTS, ids=lambda each: each.id)
async def test_answers_and_problems_are_as_the_document_says(tmp_path: Path, each: Any) -> None:
    async with open_desk(tmp_path) as desk:
        run_id = await desk.started(fields={"order": 7})
        path = each.path.format(run_id=run_id)
        done = await _sent(desk, each, path, BODIES.get(each.id))
        assert done.status == each.status, done.body
        held(done, each.path, each.method.lower())
        held(await desk.send(each.method, path, key=""), each.path, each.method.lower())
        if each.names_run:
            gone = await _sent(desk, each, each.path.format(run_id="run_x"), BODIES.get(each.id))
            assert gone.status == 404
            held(gone, each.path, each.method.lower())
        if each.body is not None:
            odd = await _sent(desk, each, path, {"unheard": 1})
            assert odd.status == 422
            held(odd, each.path, each.method.lower())


BODIES: dict[str, object] = {
    "start": {"objective": "a refund", "fields": {"order": 7}},
    "phase": {"phase": "planning"},
    "fields": {"fields": {"customer_id": "c-1"}, "source": "user"},
    "evidence": {"items": [{"source": "kb://1", "version": "3"}]},
    "usage": {"tokens": 12},
    "turns": {"model": "gpt-x", "input_tokens": 12, "tool_calls": [{"name": "crm__find"}]},
    "pause": {"reason": "lunch"},
    "finish": {"outcome": "failed", "note": "no stock"},
    "handoff": {"reason": "angry", "to": "desk"},
    "cancel": {"reason": "not needed"},
}


async def _sent(desk: Desk, each: Any, path: str, body: object) -> Replied:
    if each.id == "resume" and "run_x" not in path and body is None:
        await desk.post(path.replace("resume", "pause"), {"reason": "lunch"})
    if each.method == "GET":
        return await desk.get(path)
    return await desk.post(path, body)

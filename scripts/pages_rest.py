"""The page of `/v1`, made from its OpenAPI document."""

from collections.abc import Iterator
from typing import Any

from gateway.admin import openapi
from gateway.admin.endpoints import ENDPOINTS
from gateway.admin.endpoints import OPENAPI as WHERE
from gateway.admin.problems import KINDS
from scripts import pages_words

_HEAD = f"""\
# REST: `/v1`

Made from the [OpenAPI document](api.json) by `scripts/references.py`; a gateway serves that
document at `{WHERE}`, without a key. These are the operations for programs that manage runs, on
the [listener for people](admin.md) (`admin.address`, by default `http://127.0.0.1:8701`). How a
host works with them: [work in runs](../how-to/runs.md).

The credential is `Authorization: Bearer wba_…`, a key of `admin.api_keys`
([`weighbridge keys new --admin`](cli.md#weighbridge-keys-new)). Bodies and answers are JSON.
Whatever is refused is `application/problem+json` ([faults](#faults)), and was not done; after a 503
nobody knows.

"""


def render() -> str:
    """Return the page."""
    document: Any = openapi.document()
    schemas = document["components"]["schemas"]
    lines = [_HEAD + "| operation | does | needs |", "| --- | --- | --- |"]
    for each in ENDPOINTS:
        scopes = " or ".join(f"`{scope}`" for scope in each.scopes)
        lines.append(
            f"| [`{each.method} {each.path}`](#{_slug(each.method, each.path)}) | {each.summary} "
            f"| {scopes} |"
        )
    lines.append("")
    for each in ENDPOINTS:
        operation = document["paths"][each.path][each.method.lower()]
        lines += _operation(each.method, each.path, operation)
    lines += _faults()
    lines.append("## Bodies and answers\n")
    for name, schema in schemas.items():
        lines += _schema(name, schema)
    return "\n".join(lines).rstrip() + "\n"


def _slug(method: str, path: str) -> str:
    kept = "".join(each for each in f"{method} {path}".lower() if each.isalnum() or each in "-_ ")
    return kept.replace(" ", "-")


def _operation(method: str, path: str, operation: Any) -> Iterator[str]:
    yield f"## `{method} {path}`\n\n{operation['summary']}. {operation['description']}\n"
    if operation["parameters"]:
        yield "| parameter | in | type | meaning |\n| --- | --- | --- | --- |"
        for each in operation["parameters"]:
            meaning = each.get("description") or _PARAMETERS[each["name"]]
            kind = _kind(each["schema"])
            yield f"| `{each['name']}` | {each['in']} | {kind} | {_cell(meaning)} |"
        yield ""
    if "requestBody" in operation:
        body = operation["requestBody"]
        need = "" if body["required"] else ", which may be left out"
        yield f"Body: {_kind(body['content']['application/json']['schema'])}{need}.\n"
    good, *bad = operation["responses"].items()
    answer = _kind(good[1]["content"]["application/json"]["schema"])
    headers = "".join(f", with `{name}`" for name in good[1].get("headers", {}))
    codes = ", ".join(code for code, _ in bad)
    yield f"Answer: {good[0]}, {answer}{headers}. Refused with {codes}.\n"


_PARAMETERS = {"run_id": "the run"}


def _faults() -> Iterator[str]:
    yield "## Faults\n\n| status | `code` | means |\n| --- | --- | --- |"
    for code, kind in KINDS.items():
        yield f"| {kind.status} | `{code}` | {kind.title} |"
    yield ""


def _schema(name: str, schema: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if about := schema.get("description", "").strip():
        yield " ".join(about.split()) + "\n"
    if "enum" in schema:
        yield "One of " + ", ".join(f"`{each}`" for each in schema["enum"]) + ".\n"
        return
    required = schema.get("required", [])
    yield "| member | type | required | meaning |\n| --- | --- | --- | --- |"
    for member, inner in schema.get("properties", {}).items():
        need = "yes" if member in required else ""
        meaning = _meaning(name, member, inner)
        yield f"| `{member}` | {_kind(inner)} | {need} | {_cell(meaning)} |"
    yield ""


def _meaning(name: str, member: str, inner: Any) -> str:
    words = pages_words.REST
    return inner.get("description") or words.get(f"{name}.{member}") or words.get(member, "")


def _kind(schema: Any) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"]]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    named = schema.get("type", "any JSON")
    if named == "array":
        return f"list of {_kind(schema['items'])}"
    if named == "object":
        return "map"
    plain = {"string": "text", "integer": "number", "boolean": "true or false", "null": "null"}
    return str(plain.get(named, named))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def undescribed() -> Iterator[str]:
    """Yield each member of a body or an answer about which nothing is said."""
    document: Any = openapi.document()
    for name, schema in document["components"]["schemas"].items():
        for member, inner in schema.get("properties", {}).items():
            if not _meaning(name, member, inner):
                yield f"{name}.{member}"

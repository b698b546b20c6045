"""The pages of the keys of contracts, rules, tests and templates, made from their models."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from gateway.actions.meanings import meaning
from gateway.config.units import format_duration
from gateway.contracts.entry import ContractFile
from gateway.policy.cases import PolicyTestModel
from gateway.policy.rules import PolicySet
from gateway.policy.run_rules import RunTemplates

_CONTRACTS: Final = """\
# Keys of contracts

Made from the models that load them by `scripts/references.py`: files below `policies/contracts`,
one entry a tool. What each section is for, with examples, stands under [contracts](contracts.md).
An unknown key, a key given twice or a bad value is an error with file, line and column.

"""
_POLICY: Final = """\
# Keys of rules, tests and templates

Made from the models that load them by `scripts/references.py`. What a rule means, with examples,
stands under [policy](policy.md), what a template means under [runs](runs.md). An unknown key, a key
given twice or a bad value is an error with file, line and column.

| files | hold | keys |
| --- | --- | --- |
| `policies/*.yaml` | rules | [rules](#rules) |
| `policies/tests/*.yaml` | tests | [tests](#tests) |
| `policies/runs/*.yaml` | templates of runs | [templates](#templates) |

"""
POLICY: Final[Mapping[str, type[BaseModel]]] = {
    "Rules": PolicySet,
    "Tests": PolicyTestModel,
    "Templates": RunTemplates,
}


def contracts() -> str:
    """Return the page of contracts."""
    return _CONTRACTS + "\n".join(_sections(ContractFile)).rstrip() + "\n"


def policy() -> str:
    """Return the page of rules, tests and templates."""
    parts = [_POLICY]
    for title, model in POLICY.items():
        parts += [f"## {title}\n\n", "\n".join(_sections(model)), "\n"]
    return "".join(parts).rstrip() + "\n"


def every_key() -> Iterator[tuple[str, str, str]]:
    """Yield each key of every file as section, key and meaning."""
    for model in (ContractFile, *POLICY.values()):
        schema = model.model_json_schema(by_alias=True)
        for name, section in {model.__name__: schema, **schema["$defs"]}.items():
            for key, inner in section.get("properties", {}).items():
                yield name, key, _meaning(name, key, inner)


def _sections(model: type[BaseModel]) -> Iterator[str]:
    """Yield a table for each section of a file, each once, those inside of one after it."""
    schema: Any = model.model_json_schema(by_alias=True)
    seen: dict[str, str] = {}
    ahead: list[tuple[str, str, Any]] = [(model.__name__, "", schema)]
    while ahead:
        name, path, section = ahead.pop(0)
        if name in seen:
            continue
        seen[name] = path
        if path:
            yield f"### `{path}`\n"
            yield " ".join(section.get("description", "").split("\n\n")[0].split()) + "\n"
        yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
        inside: list[tuple[str, str, Any]] = []
        for key, inner in section.get("properties", {}).items():
            yield _row(name, key, inner, section.get("required", []), schema["$defs"])
            at = f"{path}.{key}" if path else key
            inside += _inside(inner, at, schema["$defs"])
        yield ""
        ahead = inside + ahead


def _row(name: str, key: str, inner: Any, required: list[str], defs: Any) -> str:
    default = "required" if key in required else _default(inner)
    cells = [f"`{key}`", _kind(inner, defs), default, _meaning(name, key, inner)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _meaning(section: str, key: str, inner: Any) -> str:
    return str(inner.get("description", "")) or meaning(section, key)


def _inside(inner: Any, path: str, defs: Any) -> list[tuple[str, str, Any]]:
    """Return the sections that a key holds, each with its path."""
    found: list[tuple[str, str, Any]] = []
    if "$ref" in inner:
        name = inner["$ref"].rpartition("/")[2]
        if "properties" in defs[name]:
            found.append((name, path, defs[name]))
    for joined in ("anyOf", "allOf", "oneOf"):
        for each in inner.get(joined, []):
            found += _inside(each, path, defs)
    if isinstance(inner.get("items"), dict):
        found += _inside(inner["items"], f"{path}[]", defs)
    if isinstance(inner.get("additionalProperties"), dict):
        found += _inside(inner["additionalProperties"], f"{path}.<name>", defs)
    return found


def _kind(inner: Any, defs: Any) -> str:
    if "$ref" in inner:
        named = defs[inner["$ref"].rpartition("/")[2]]
        return "map" if "properties" in named else _kind(named, defs)
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in inner:
            kinds = [_kind(each, defs) for each in inner[joined] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "const" in inner:
        return f"`{inner['const']}`"
    if "enum" in inner:
        return ", ".join(f"`{each}`" for each in inner["enum"])
    if inner.get("type") == "array":
        items = inner.get("items") or inner.get("prefixItems", [{}])[0]
        return f"list of {_kind(items, defs)}"
    if any(units in inner.get("pattern", "") for units in ("[smhd]", "ms|s|m|h|d")):
        return "duration or `run`" if inner["pattern"].endswith("|run)$") else "duration"
    if inner.get("pattern", "") == "^/" or inner.get("pattern", "").startswith("^(/"):
        return "pointer"
    if inner.get("type") == "object" and isinstance(inner.get("additionalProperties"), dict):
        return f"map to {_kind(inner['additionalProperties'], defs)}"
    plain = {"string": "text", "integer": "number", "boolean": "true or false", "object": "map"}
    return plain.get(inner.get("type", ""), inner.get("type", "any value"))


def _default(inner: Any) -> str:
    value = inner.get("default")
    if value is None or value in ([], {}, "") or isinstance(value, dict):
        return ""
    if isinstance(value, float):
        return f"`{format_duration(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"

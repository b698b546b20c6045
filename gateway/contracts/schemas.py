"""Tool schemas as published: what can't be enforced is refused before the first call."""

from collections.abc import Callable
from dataclasses import dataclass

import jsonschema_rs

from gateway.contracts import budget, explain
from gateway.contracts.dialects import Dialect, dialect_of, validator
from gateway.contracts.explain import Violation
from gateway.errors import SchemaError
from gateway.jsontext import escape
from gateway.types.json import Json, JsonObject, JsonPointer

__all__ = ["Schema", "ToolSchemas", "Violation", "compile_tool"]

_FOREIGN = (
    jsonschema_rs.ValidationError,
    jsonschema_rs.ReferencingError,
    ValueError,
    TypeError,
    OverflowError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A compiled schema; the published text is enforced as it is, nothing is added or coerced."""

    source: JsonObject
    dialect: Dialect
    judge: Callable[[Json], bool]

    def is_valid(self, value: Json) -> bool:
        """Whether a value matches; what the engine can't judge does not."""
        try:
            return self.judge(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return False

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Say what is wrong with a value that isn't valid: at least one entry, at most five."""
        return explain.violations(self.source, self.dialect, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchemas:
    """Both schemas of one tool."""

    input: Schema
    output: Schema | None


def compile_tool(definition: JsonObject) -> ToolSchemas:
    """Compile the schemas of a tool definition, or raise `SchemaError`.

    The error's pointer starts at the definition, such as `/inputSchema/properties/a/pattern`. A
    missing root type is fine: arguments are always an object, so the published schema is enforced
    unchanged.
    """
    if "inputSchema" not in definition:
        raise SchemaError("the tool has no input schema", pointer="/inputSchema")
    source = definition["inputSchema"]
    inputs = _compile(source, "/inputSchema")
    kinds = inputs.source.get("type", "object")
    if "object" not in (kinds if isinstance(kinds, list) else [kinds]):
        raise SchemaError(
            "the type of an input schema has to be `object`", pointer="/inputSchema/type"
        )
    outputs = definition.get("outputSchema")
    return ToolSchemas(
        input=inputs, output=None if outputs is None else _compile(outputs, "/outputSchema")
    )


def _compile(source: Json, base: JsonPointer) -> Schema:
    if not isinstance(source, dict):
        raise SchemaError("the schema has to be an object", pointer=base)
    try:
        dialect = dialect_of(source)
        budget.check(source)
        compiled = validator(source, dialect)
    except SchemaError as error:
        raise SchemaError(error.message, pointer=base + error.pointer) from None
    except _FOREIGN as error:
        raise _translated(error, base) from None
    return Schema(source=source, dialect=dialect, judge=compiled.is_valid)


def _translated(error: Exception, base: JsonPointer) -> SchemaError:
    """Say in our words why a schema is none; the engine's may repeat what a stranger wrote."""
    path = error.instance_path if isinstance(error, jsonschema_rs.ValidationError) else []
    steps = [str(step) for step in path]
    if str(error).partition("\n")[0].endswith('is not a "regex"'):
        message = "the pattern can't be run in linear time (look-around, back-reference, too large)"
    elif steps:
        message = f"not a valid schema: `{steps[-1][:64]}` can't have this value"
    else:
        message = "not a valid schema"
    return SchemaError(message, pointer=base + "".join(f"/{escape(step)}" for step in steps))

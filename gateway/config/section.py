"""What all sections of the configuration have in common."""

from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

EXTENSION: Final = "x-"  # keys that start so belong to other programs

Item = TypeVar("Item")


def _check_list(value: object) -> object:
    if not isinstance(value, list | tuple | frozenset):
        raise PydanticCustomError("list", "has to be a list, such as `[a, b]`")
    return cast("object", value)


def or_text(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of a section take a text in its place, as its model does."""
    whole = {**schema}
    schema.clear()
    schema["description"] = whole.pop("description", "")
    schema["anyOf"] = [{"type": "string"}, whole]


Many: TypeAlias = Annotated[tuple[Item, ...], BeforeValidator(_check_list)]
Unique: TypeAlias = Annotated[frozenset[Item], BeforeValidator(_check_list)]


class Section(BaseModel):
    """A map with known keys; any other key is an error unless it starts with `x-`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_extensions(cls, value: Any) -> Any:
        if isinstance(value, Section):
            return value
        if not isinstance(value, dict):
            raise PydanticCustomError("section", "has to be a map of keys")
        keys = cast("dict[object, object]", value)  # a JSON object, its keys are checked below
        return {
            key: item
            for key, item in keys.items()
            if not (isinstance(key, str) and key.startswith(EXTENSION))
        }

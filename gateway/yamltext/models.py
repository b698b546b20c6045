"""From a YAML document to a pydantic model: every fault with its place and a suggestion."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from gateway.errors import FileError, FilesError
from gateway.yamltext import wording
from gateway.yamltext.document import Path, YamlDocument
from gateway.yamltext.wording import Found

Model = TypeVar("Model", bound=BaseModel)

_SHOWN = 8  # known keys that are named where none is near


def validate(model: type[Model], document: YamlDocument, *, file: str) -> Model:
    """Return the model of a document, or raise `FilesError` with all faults in file order.

    A key is known by its name in the file alone, not by what the model calls it.
    """
    try:
        return model.model_validate(document.value, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
        faults = {
            _fault(model, document, each, file) for each in wording.found(details, document.value)
        }
        raise FilesError(sorted(faults, key=_order)) from None


def _order(fault: FileError) -> tuple[int, int, str]:
    return (fault.line, fault.column, fault.message)


def _fault(model: type[BaseModel], document: YamlDocument, found: Found, file: str) -> FileError:
    path = found.path
    match found.kind:
        case "extra_forbidden":
            key, known = str(path[-1]), _keys_at(model, path[:-1])
            message = f"unknown key `{key}`{suggest(key, known) or _instead(known)}"
            line, column = document.key_place(path)
        case "missing":
            message = f"missing key `{found.missing}`{_within(path)}; add it"
            line, column = document.key_place(path)
        case _:
            message = f"`{_dotted(path)}` {_said(found)}" if path else _said(found)
            line, column = document.place(path)
    return FileError(message, file=file, line=line, column=column)


def _said(found: Found) -> str:
    if not found.entered:
        return found.message
    near = suggest(found.entered, found.expected)
    return f"is `{found.entered}`; it {found.message}{near}"


def _instead(known: Sequence[str]) -> str:
    """Say which keys there are, the first few of them."""
    named = ", ".join(f"`{each}`" for each in known[:_SHOWN])
    return (
        f"; known here: {named}{', …' if len(known) > _SHOWN else ''}" if named else "; remove it"
    )


def suggest(word: str, known: Sequence[str]) -> str:
    """Return `; did you mean …?` with the nearest of the known words, or nothing."""
    nearest = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean `{nearest[0]}`?" if nearest else ""


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _within(path: Path) -> str:
    return f" in `{_dotted(path)}`" if path else ""


def _keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """Return the keys that the models at a path know, by their names in the file."""
    annotations: list[Any] = [model]
    for step in path:
        annotations = [deeper for part in annotations for deeper in _step(part, step)]
    return [
        field.alias or name
        for part in annotations
        for found in _models(part)
        for name, field in found.model_fields.items()
    ]


def _step(annotation: Any, step: str | int) -> Iterator[Any]:
    for part in _alternatives(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            for name, field in part.model_fields.items():
                if step in (name, field.alias):
                    yield field.annotation
        else:
            yield from get_args(part)  # of a list its items, of a map its values


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for part in _alternatives(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union and what an `Annotated` or an alias stands for."""
    annotation = getattr(annotation, "__value__", annotation)
    if hasattr(annotation, "__metadata__"):
        yield from _alternatives(get_args(annotation)[0])
    elif isinstance(annotation, type) or not get_args(annotation) or _is_container(annotation):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _alternatives(part)


def _is_container(annotation: Any) -> bool:
    origin = getattr(annotation, "__origin__", None)
    return isinstance(origin, type)

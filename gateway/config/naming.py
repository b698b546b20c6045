"""Texts about a value from the environment name the variable: the value may be a secret."""

from collections.abc import Iterable, Iterator, Mapping

from gateway.config.expand import Expansion, Path
from gateway.config.settings import Settings
from gateway.errors import FileError
from gateway.types.json import Json
from gateway.yamltext import YamlDocument


def as_written(
    faults: Iterable[FileError], document: YamlDocument, expansion: Expansion
) -> Iterator[FileError]:
    """Yield faults with the references in the place of what they stand for."""
    texts = {
        document.place(path): (_at(expansion.value, path), written)
        for path, written in expansion.written.items()
    }
    for fault in faults:
        value, written = texts.get((fault.line, fault.column), ("", ""))
        if not value:
            yield fault
            continue
        message = fault.message.replace(f"`{value}`", f"`{written}`")
        yield FileError(message, file=fault.file, line=fault.line, column=fault.column)


def mark(
    settings: Settings,
    written: Mapping[Path, str],
    credentials: Mapping[str, tuple[str, ...]],
) -> Settings:
    """Return the settings with the servers told how their values stand in the file.

    And which of these are credentials.
    """
    servers = {
        name: entry.written_as(
            {
                str(path[2]): text
                for path, text in written.items()
                if path[:2] == ("servers", name) and len(path) == 3
            },
            credentials.get(name, ()),
        )
        for name, entry in settings.servers.items()
    }
    return settings.model_copy(update={"servers": servers})


def _at(value: Json, path: Path) -> str:
    for step in path:
        match value, step:
            case dict(), str():
                value = value[step]
            case list(), int():
                value = value[step]
            case _:
                return ""
    return value if isinstance(value, str) else ""

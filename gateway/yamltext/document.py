"""A loaded YAML text: its value, and where each part of it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gateway.types.json import JsonObject

Path: TypeAlias = "tuple[str | int, ...]"  # keys and indexes from the root
Place: TypeAlias = "tuple[int, int]"  # line and column, both from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """The value of a YAML text and the places of its values and keys."""

    value: JsonObject
    values: Mapping[Path, Place]
    keys: Mapping[Path, Place]

    def place(self, path: Path) -> Place:
        """Return where the value at a path starts; for a missing one, the place of its parent."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))

    def key_place(self, path: Path) -> Place:
        """Return where the key of a member stands; for anything else, the place of the value."""
        return self.keys.get(path) or self.place(path)

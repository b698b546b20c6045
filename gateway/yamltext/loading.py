"""The strict loader: YAML's events become JSON values, and whatever surprises is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

import yaml

from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.yamltext.document import Path, Place, YamlDocument
from gateway.yamltext.scalars import resolve

MAX_BYTES = 4 << 20
MAX_DEPTH = 80  # a contract holds schemas, which may be 64 deep themselves

_TAB = re.compile(r"^ *\t", re.MULTILINE)
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast

_Node: TypeAlias = yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent


def load(text: str, *, file: str) -> YamlDocument:
    """Read one map from a YAML text, or raise `FileError` with line, column and the mend.

    Scalars follow the core schema of YAML 1.2 and keys are always strings. Duplicate keys,
    anchors, aliases, merges, tags, directives, several documents and tabs for indentation are
    refused.
    """
    loader = _Loader(file=file)
    if len(text) > MAX_BYTES:
        loader.refuse((1, 1), f"more than {MAX_BYTES} characters; split the file")
    if tab := _TAB.search(text):
        line = text.count("\n", 0, tab.start()) + 1
        loader.refuse((line, tab.end() - tab.start()), "tab for indentation; use spaces")
    try:
        value = loader.document(_events(text))
    except yaml.YAMLError as error:
        loader.refuse(_place(getattr(error, "problem_mark", None)), f"not YAML: {_said(error)}")
    return YamlDocument(value=value, values=loader.values, keys=loader.keys)


def _events(text: str) -> Iterator[yaml.Event]:
    return yaml.parse(text, Loader=_PARSER)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped in the stubs


def _said(error: yaml.YAMLError) -> str:
    problem = str(getattr(error, "problem", None) or error).splitlines()[0]
    if "mapping values are not allowed" in problem:
        return "a second `: ` in one line; quote the text, or start a new line"
    if "did not find expected key" in problem or "expected <block end>" in problem:
        return "this line does not belong to what is above it; look at its indentation"
    return f"{problem}; look at the brackets and quotes before it"


def _place(mark: object) -> Place:
    return (getattr(mark, "line", 0) + 1, getattr(mark, "column", 0) + 1)


@dataclass(slots=True, kw_only=True)
class _Loader:
    """Builds values from events and notes where each of them stands."""

    file: str
    values: dict[Path, Place] = field(default_factory=dict[Path, Place])
    keys: dict[Path, Place] = field(default_factory=dict[Path, Place])

    def refuse(self, place: Place, message: str) -> NoReturn:
        line, column = place
        raise FileError(message, file=self.file, line=line, column=column) from None

    def document(self, events: Iterator[yaml.Event]) -> JsonObject:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if event.version or event.tags:
                    self.refuse(_place(event.start_mark), "directives are not read; remove it")
                break
        else:
            self.refuse((1, 1), "nothing in it; write `key: value`")
        root = next(events)
        if not isinstance(self._node(root), yaml.MappingStartEvent):
            self.refuse(
                _place(root.start_mark), "a map of keys is expected at the top; write `key: value`"
            )
        self.values[()] = _place(root.start_mark)
        value = self._mapping(events, ())
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.refuse(_place(event.start_mark), "a second document; use one file for each")
        return value

    def _node(self, event: yaml.Event) -> _Node:
        """Refuse what makes a node mean more than it says."""
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            self.refuse(place, f"alias `*{event.anchor}`; write the value out")
        assert isinstance(event, _Node)  # noqa: S101 - the grammar of events
        if event.anchor is not None:
            self.refuse(place, f"anchor `&{event.anchor}`; anchors are not read, remove it")
        if event.tag is not None:
            self.refuse(place, f"tag `{event.tag}`; tags are not read, remove it")
        return event

    def _value(self, events: Iterator[yaml.Event], event: yaml.Event, path: Path) -> Json:
        place = _place(event.start_mark)
        if len(path) > MAX_DEPTH:
            self.refuse(place, f"nested deeper than {MAX_DEPTH} levels; write it flatter")
        self.values[path] = place
        match self._node(event):
            case yaml.ScalarEvent() as scalar:
                return self._scalar(scalar)
            case yaml.SequenceStartEvent():
                return self._sequence(events, path)
            case yaml.MappingStartEvent():
                return self._mapping(events, path)

    def _scalar(self, event: yaml.ScalarEvent) -> Json:
        if not event.implicit[0]:  # quoted, or a block
            return event.value
        try:
            return resolve(event.value)
        except ValueError as error:
            self.refuse(_place(event.start_mark), str(error))

    def _sequence(self, events: Iterator[yaml.Event], path: Path) -> Json:
        items: list[Json] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._value(events, event, (*path, len(items))))
        return items

    def _mapping(self, events: Iterator[yaml.Event], path: Path) -> JsonObject:
        members: JsonObject = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event)
            place = _place(event.start_mark)
            if key in members:
                first = self.keys[*path, key][0]
                self.refuse(place, f"duplicate key `{key}`; it stands in line {first} already")
            self.keys[*path, key] = place
            members[key] = self._value(events, next(events), (*path, key))
        return members

    def _key(self, event: yaml.Event) -> str:
        node = self._node(event)
        if not isinstance(node, yaml.ScalarEvent):
            self.refuse(
                _place(event.start_mark), "a key has to be a text; write it without brackets"
            )
        if node.value == "<<" and node.implicit[0]:
            self.refuse(_place(event.start_mark), "merge key `<<`; write the keys out")
        return node.value

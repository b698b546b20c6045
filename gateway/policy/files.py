"""Policy files: text in, checked rules with the place of every value out."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from gateway import yamltext
from gateway.errors import FileError
from gateway.policy.rules import PolicySet

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file with expressions in it as it was read, and where everything in it stands."""

    name: str
    text: str
    document: yamltext.YamlDocument

    def error(self, path: Path, message: str) -> FileError:
        """Make an error that points at the value under a path."""
        line, column = self.document.place(path)
        return FileError(message, file=self.name, line=line, column=column)

    def inside(self, path: Path, line: int, column: int) -> tuple[int, int]:
        """Return line and column in the file of a place inside an expression's text.

        Exact for plain, quoted and `|` texts without escapes; folded texts point at their start.
        """
        first, start = self.document.place(path)
        lines = self.text.splitlines()
        head = lines[first - 1][start - 1 :] if first <= len(lines) else ""
        if head.startswith("|"):
            return _in_block(lines, first, line, column)
        if head.startswith(">") or line > 1:
            return first, start
        return first, start + column - 1 + (1 if head[:1] in ("'", '"') else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile(Written):
    """One file of rules as it was read."""

    content: PolicySet


def load(text: str, *, file: str) -> PolicyFile:
    """Read one policy file; raises with every fault found, each with its place and mend."""
    document = yamltext.load(text, file=file)
    content = yamltext.validate(PolicySet, document, file=file)
    return PolicyFile(name=file, text=text, content=content, document=document)


def _in_block(lines: list[str], first: int, line: int, column: int) -> tuple[int, int]:
    body = lines[first:]
    indent = next((re.match(r" *", each) for each in body if each.strip()), None)
    return first + line, column + (len(indent.group()) if indent else 0)

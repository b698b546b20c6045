"""Every place in the loading modules that makes an error, with the sentence that it makes."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The modules that read files which people write; what they let through is used as it is.
# Modules beside them that change such files and read none.
_NOT_LOADING = ("gateway/config/mode_line.py",)
LOADING = (
    "gateway/yamltext/*.py",
    "gateway/config/*.py",
    "gateway/contracts/dialects.py",
    "gateway/contracts/entry.py",
    "gateway/contracts/faults.py",
    "gateway/contracts/files.py",
    "gateway/contracts/promises.py",
    "gateway/contracts/schemas.py",
    "gateway/contracts/sections.py",
    "gateway/contracts/sources.py",
    "gateway/jsontext/pointers.py",
    "gateway/jsontext/references.py",
    "gateway/policy/cases.py",
    "gateway/policy/cel.py",
    "gateway/policy/compile.py",
    "gateway/policy/files.py",
    "gateway/policy/rules.py",
    "gateway/policy/run_cases.py",
    "gateway/policy/run_files.py",
    "gateway/policy/run_guards.py",
    "gateway/policy/run_rules.py",
    "gateway/actions/revisions.py",
    "gateway/actions/templates.py",
)
# What makes an error, and which of its arguments is the sentence.
_MAKERS = {
    "error": 1,
    "FileError": 0,
    "PydanticCustomError": 1,
    "ValueError": 0,
    "ConfigurationError": 0,
    "SchemaError": 0,
    "BadSource": 0,
    "BadReference": 0,
    "refuse": 1,
    "ForeignKey": "message",
    "Malformed": "message",
    "OpenListener": "message",
    "Missing": "reason",
    "Issue": "message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place; the pattern has a wildcard wherever the sentence has a value."""

    place: str  # file:line
    pattern: re.Pattern[str]

    def makes(self, message: str) -> bool:
        """Whether a message may come from here."""
        return self.pattern.search(message) is not None


def sites() -> Iterator[Site]:
    """Yield every place, file by file; one that passes on another's sentence is none."""
    for pattern in LOADING:
        for path in sorted(ROOT.glob(pattern)):
            if str(path.relative_to(ROOT)) not in _NOT_LOADING:
                yield from _of(path)


def _of(path: Path) -> Iterator[Site]:
    name = str(path.relative_to(ROOT))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for sentence in _sentences(node):
            text = _pattern(sentence)
            if re.search(r"[a-z]{3}", text.replace(".*", "")):
                yield Site(
                    place=f"{name}:{sentence.lineno}", pattern=re.compile(text, re.IGNORECASE)
                )


def _sentences(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        where = _MAKERS.get(name)
        if isinstance(where, int) and len(node.args) > where:
            yield from _branches(node.args[where])
        yield from (
            found for each in node.keywords if each.arg == where for found in _branches(each.value)
        )
    elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("message", "said"):
        yield from _branches(node.value)
    elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
        yield from _branches(node.value.elts[0])  # a fault and its path


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _branches(node.body)
        yield from _branches(node.orelse)
    elif isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"
            for part in node.values
        )
    text = str(node.value) if isinstance(node, ast.Constant) else ""
    return re.sub(r"\\\{\w+\\\}", ".*", re.escape(text))

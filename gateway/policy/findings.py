"""What a check of policy files found, and the four forms it is printed in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.errors import FileError
from gateway.types.json import Json, JsonObject


class Level(StrEnum):
    """How bad it is: an error stops activation, a warning may fail CI, an info is for reading."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding with its place; `check` is its name in the docs. Lines count from 1."""

    level: Level
    check: str
    message: str
    file: str
    line: int
    column: int

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Sort key: by place, then by check."""
        return (self.file, self.line, self.column, self.check, self.message)


def of_error(error: FileError, *, check: str = "schema") -> Finding:
    """Turn a fault in a file into a finding."""
    return Finding(
        level=Level.ERROR,
        check=check,
        message=error.message,
        file=error.file,
        line=error.line,
        column=error.column,
    )


def as_text(findings: Iterable[Finding]) -> str:
    """One line a finding: `file:line:col: level [check] message`."""
    return "\n".join(
        f"{each.file}:{each.line}:{each.column}: {each.level} [{each.check}] {each.message}"
        for each in findings
    )


def as_json(findings: Iterable[Finding]) -> list[Json]:
    """A list of objects with the fields of a finding."""
    return [
        {
            "level": each.level.value,
            "check": each.check,
            "message": each.message,
            "file": each.file,
            "line": each.line,
            "column": each.column,
        }
        for each in findings
    ]


def as_github(findings: Iterable[Finding]) -> str:
    """Workflow commands that GitHub shows beside the changed lines."""
    words = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
    return "\n".join(
        f"::{words[each.level]} file={_property(each.file)},line={each.line},col={each.column},"
        f"title={_property('policy ' + each.check)}::{_data(each.message)}"
        for each in findings
    )


def as_sarif(findings: Sequence[Finding], *, version: str) -> JsonObject:
    """A SARIF 2.1.0 log with one run; `version` is the gateway's own."""
    levels: Mapping[Level, str] = {
        Level.ERROR: "error",
        Level.WARNING: "warning",
        Level.INFO: "note",
    }
    checks: list[Json] = [{"id": check} for check in sorted({each.check for each in findings})]
    driver: JsonObject = {"name": "weighbridge", "version": version, "rules": checks}
    results: list[Json] = [
        {
            "ruleId": each.check,
            "level": levels[each.level],
            "message": {"text": each.message},
            "locations": [_location(each)],
        }
        for each in findings
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _location(finding: Finding) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": finding.file}}
    if finding.line:  # SARIF counts from 1; a finding about a whole file has no region
        physical["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
    return {"physicalLocation": physical}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""What other definitions of tools break: rules, contracts and policy tests that speak of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.actions import revisions, templates
from gateway.actions.revisions import Folder
from gateway.errors import FileError
from gateway.policy import files as policy_files
from gateway.policy.findings import Finding, Level
from gateway.policy.lint import lint
from gateway.policy.lint_tools import about, schema_at
from gateway.revision import Revision
from gateway.types.json import Json
from gateway.types.tools import Contract

_LEVELS: Final = [*Level]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """What is wrong from then on, by tool; what names none of them is under the empty name."""

    findings: Mapping[str, tuple[Finding, ...]]
    tests: Mapping[str, tuple[str, ...]]  # `file:line: name` of each that passes no more


def broken(
    before: Revision,
    after: Revision,
    *,
    prefix: str = "",
    roles: Iterable[str] = (),
    servers: Iterable[str] = (),
) -> Broken:
    """Check a policy as it is and over other definitions, and return what only then is wrong.

    `prefix` goes before file names, as it did when it was compiled.
    """
    changed = [
        tool for tool, contract in after.contracts.items() if contract != before.contracts.get(tool)
    ]
    folder = revisions.folder_of(before.texts)
    linting = _Linting(folder=folder, prefix=prefix, roles=[*roles], servers=[*servers])
    known = {*linting.found(before)}
    new = [each for each in linting.found(after) if each not in known]
    new += (each for tool in changed for each in _hides(before.contracts, after.contracts[tool]))
    new.sort(key=lambda each: (_LEVELS.index(each.level), each.order))
    found: dict[str, list[Finding]] = {}
    for each in new:
        for tool in [one for one in changed if f"`{one}`" in each.message] or [""]:
            found.setdefault(tool, []).append(each)
    return Broken(
        findings={tool: tuple(some) for tool, some in found.items()},
        tests=_tests(folder, before, after, prefix),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linting:
    """The files of a folder, to be held against one set of contracts and another."""

    folder: Folder
    prefix: str
    roles: Sequence[str]
    servers: Sequence[str]

    def found(self, revision: Revision) -> tuple[Finding, ...]:
        return lint(
            [
                policy_files.load(text, file=self.prefix + name)
                for name, text in self.folder.policies.items()
            ],
            [*revision.contracts.values()],
            roles=self.roles,
            servers=self.servers,
            templates=templates.read(self.folder.runs, self.prefix, list[FileError]()),
        )


def _hides(before: Mapping[str, Contract], contract: Contract) -> Iterator[Finding]:
    """Find what was hidden, and under its new name is no more."""
    old = before[contract.tool]
    for section, tags, was, now in (
        ("sensitive", contract.sensitive, old.input_schema, contract.input_schema),
        (
            "results.sensitive",
            contract.sensitive_results,
            old.output_schema,
            contract.output_schema,
        ),
    ):
        for pointer in tags:
            if _has(was, pointer) and not _has(now, pointer):
                message = (
                    f"`{section}` of `{contract.tool}`: there is no `{pointer}` any more; under "
                    "another name it is hidden nowhere"
                )
                yield about(contract, "sensitive", message, Level.ERROR)


def _has(schema: Json, pointer: str) -> bool:
    return schema is not None and schema_at(schema, pointer) is not None


def _tests(
    folder: Folder, before: Revision, after: Revision, prefix: str
) -> dict[str, tuple[str, ...]]:
    """Return the policy tests that pass today and would not any more, by the tool they call."""
    found: dict[str, tuple[str, ...]] = {}
    was, now = (_tried(folder, each, prefix) for each in (before, after))
    for place, (tool, passed) in now.items():
        if not passed and was.get(place, (tool, True))[1]:
            found[tool] = (*found.get(tool, ()), place)
    return found


def _tried(folder: Folder, revision: Revision, prefix: str) -> dict[str, tuple[str, bool]]:
    """Run the tests of a folder; by place and name: the tool, and whether it passed."""
    try:
        found, report = revisions.tried(folder, revision, prefix)
    except FileError:  # `policy test` says so
        return {}
    return {
        f"{result.place}: {result.name}": (
            case.call.contract.tool if case.call is not None else "",
            result.passed,
        )
        for case, result in zip(found, report.results, strict=True)
    }

"""From a folder of files to a revision: read, lint, test; then the switch, all or nothing."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from gateway.actions import templates, trial
from gateway.config.folders import yaml_below
from gateway.contracts import files as contract_files
from gateway.contracts import schemas
from gateway.errors import FileError, FilesError, SchemaError
from gateway.policy import cases, lint_terms, testing
from gateway.policy import compile as policies
from gateway.policy import files as policy_files
from gateway.policy.findings import Finding, Level
from gateway.policy.lint import lint
from gateway.policy.run_files import WrittenTemplate
from gateway.revision import Revision, Unreviewed
from gateway.types.tools import Contract

_LARGEST = 4 << 20
_SERVER = "have its server mended, and pin it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The texts of a policy folder, by path relative to it, in four kinds."""

    contracts: Mapping[str, str]
    policies: Mapping[str, str]
    tests: Mapping[str, str]
    runs: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def texts(self) -> dict[str, str]:
        """Everything, as it is stored with a revision."""
        return {**self.contracts, **self.policies, **self.runs, **self.tests}


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a folder gives: a revision unless there are errors, and all that was found."""

    revision: Revision | None
    errors: tuple[FileError, ...] = ()
    findings: tuple[Finding, ...] = ()
    report: testing.Report | None = None

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What the linter would have otherwise, and what keeps nothing from being used."""
        return tuple(each for each in self.findings if each.level is Level.WARNING)

    @property
    def problem(self) -> str:
        """The first thing that keeps the folder from being used, and of how many; or nothing."""
        for error in self.errors:
            more = len(self.errors) - 1
            return f"{error} (and {more} more)" if more else str(error)
        if found := [each for each in self.findings if each.level is Level.ERROR]:
            first, more = found[0], len(found) - 1
            told = f"{first.file}:{first.line}:{first.column}: {first.message}"
            return f"{told} (and {more} more)" if more else told
        if self.report is not None and self.report.failed:
            return _failing(self.report)
        return ""


def _failing(report: testing.Report) -> str:
    first = next(result for result in report.results if not result.passed)
    told = f"{first.place}: policy test `{first.name}` fails: {first.problems[0]}"
    return f"{told} (1 of {report.failed} that fail)" if report.failed > 1 else told


def read(folder: Path) -> Folder:
    """Read every `.yaml` below a folder; raises FileError for one that can't be read."""
    if not folder.is_dir():
        raise FileError("there is no such folder; make it, or set `policies`", file=str(folder))
    kinds = _kinds()
    for path in yaml_below(folder):
        name = PurePosixPath(path.relative_to(folder))
        top = name.parts[0] if len(name.parts) > 1 else ""
        kind = kinds.get(top)
        if kind is None:
            raise FileError(
                "this folder holds only `contracts/`, `runs/` and `tests/`; move the file",
                file=str(path),
            )
        kind[str(name)] = _text(path)
    return _folder(kinds)


def _kinds() -> dict[str, dict[str, str]]:
    return {"contracts": {}, "runs": {}, "tests": {}, "": {}}


def _folder(kinds: Mapping[str, Mapping[str, str]]) -> Folder:
    return Folder(
        contracts=kinds["contracts"],
        policies=kinds[""],
        runs=kinds["runs"],
        tests=kinds["tests"],
    )


def with_contracts(folder: Folder, contracts: Path) -> Folder:
    """Return a folder with the contracts of another; raises FileError for what can't be read."""
    found = {
        f"contracts/{PurePosixPath(path.relative_to(contracts))}": _text(path)
        for path in yaml_below(contracts)
    }
    if not found:
        raise FileError(
            "there are no `.yaml` files in it; name another folder", file=str(contracts)
        )
    return replace(folder, contracts=found)


def _text(path: Path) -> str:
    try:
        if not path.is_file():  # reading a pipe could take for ever, and a device has no end
            raise FileError("is not a regular file; replace it by one", file=str(path))
        with path.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise FileError(f"larger than {_LARGEST} bytes; split it", file=str(path))
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("not UTF-8; save it as UTF-8", file=str(path)) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        message = f"can't be read: {why}; look at its owner and mode"
        raise FileError(message, file=str(path)) from error


def build(
    folder: Folder,
    *,
    unreviewed: Unreviewed,
    at: datetime,
    prefix: str = "",
    servers: Iterable[str] = (),
    terms: lint_terms.Terms | None = None,
) -> Built:
    """Compile, lint and test; `prefix` goes before file names in messages.

    `servers` are the configured ones, which rules may name before any contract does; `terms` are
    what the configuration says of operations and people.
    """
    errors: list[FileError] = []
    read = _read(folder, prefix, errors)
    if errors:
        return Built(revision=None, errors=tuple(errors))
    roles, are_all_roles = (terms.roles, terms.are_all_roles) if terms is not None else ((), False)
    findings = lint(
        read.policies,
        read.contracts,
        roles=roles,
        servers=servers,
        are_all_roles=are_all_roles,
        templates=read.templates,
    )
    if terms is not None:
        findings = (*findings, *lint_terms.check(read.contracts, terms))
    try:
        revision = _revision(folder, read, unreviewed, at)
    except FilesError as error:
        return Built(revision=None, errors=error.errors, findings=tuple(findings))
    return _tested(folder, revision, tuple(findings), prefix)


def compiled(folder: Folder, *, unreviewed: Unreviewed, at: datetime, prefix: str = "") -> Revision:
    """Compile without checks or tests, to look at what was or may come; raises FilesError."""
    errors: list[FileError] = []
    read = _read(folder, prefix, errors)
    if errors:
        raise FilesError(errors)
    return _revision(folder, read, unreviewed, at)


def folder_of(texts: Mapping[str, str]) -> Folder:
    """Return the folder that texts were stored from with their revision."""
    kinds = _kinds()
    for name, text in texts.items():
        kinds[name.partition("/")[0] if "/" in name else ""][name] = text
    return _folder(kinds)


def unreviewed_of(id: str, folder: Folder) -> Unreviewed | None:
    """Say how tools without a contract were met under a revision: its id tells, or nothing does."""
    return next((each for each in Unreviewed if revision_id(folder, each) == id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The files of a folder, each by itself in order."""

    contracts: Sequence[Contract]
    schemas: Mapping[str, schemas.ToolSchemas]
    policies: Sequence[policy_files.PolicyFile]
    templates: Sequence[WrittenTemplate]


def _read(folder: Folder, prefix: str, errors: list[FileError]) -> _Read:
    contracts = _contracts(folder, prefix, errors)
    found = _schemas(contracts, errors)
    parsed: list[policy_files.PolicyFile] = []
    for name, text in folder.policies.items():
        try:
            parsed.append(policy_files.load(text, file=prefix + name))
        except FileError as error:
            errors.extend(each(error))
    return _Read(
        contracts=contracts,
        schemas=found,
        policies=parsed,
        templates=templates.read(folder.runs, prefix, errors),
    )


def _revision(folder: Folder, read: _Read, unreviewed: Unreviewed, at: datetime) -> Revision:
    policy = policies.compile_policy(read.policies)
    policy.revision = revision_id(folder, unreviewed)
    return Revision(
        id=policy.revision,
        contracts={contract.tool: contract for contract in read.contracts},
        schemas=read.schemas,
        policy=policy,
        templates=templates.templates(read.templates),
        unreviewed=unreviewed,
        activated_at=at,
        texts=folder.texts,
    )


def each(error: FileError) -> tuple[FileError, ...]:
    """Return the single faults of an error that may stand for several."""
    return error.errors if isinstance(error, FilesError) else (error,)


def revision_id(folder: Folder, unreviewed: Unreviewed) -> str:
    """Digest over names and texts: the same files, the same id, on every machine."""
    whole = hashlib.sha256(f"unreviewed={unreviewed.value}\0".encode())
    for name, text in sorted({**folder.contracts, **folder.policies, **folder.runs}.items()):
        whole.update(f"{name}\0{len(text.encode())}\0{text}".encode())
    return f"sha256:{whole.hexdigest()}"


def _contracts(folder: Folder, prefix: str, errors: list[FileError]) -> list[Contract]:
    found: dict[str, Contract] = {}
    for name, text in folder.contracts.items():
        try:
            loaded: Sequence[Contract] = contract_files.load(text, file=prefix + name)
        except FileError as error:
            errors.extend(each(error))
            continue
        for contract in loaded:
            first = found.setdefault(contract.tool, contract)
            if first is not contract:
                file, _, line = contract.place.rpartition(":")
                errors.append(
                    FileError(
                        f"`{contract.tool}` has a contract already, at {first.place}; remove one",
                        file=file,
                        line=int(line or 0),
                        column=1,
                    )
                )
    return list(found.values())


def _schemas(
    contracts: Sequence[Contract], errors: list[FileError]
) -> dict[str, schemas.ToolSchemas]:
    compiled: dict[str, schemas.ToolSchemas] = {}
    for contract in contracts:
        try:
            compiled[contract.pin] = schemas.compile_tool(contract.definition)
        except SchemaError as error:
            file, _, line = contract.place.rpartition(":")
            where = f" at `{error.pointer}`" if error.pointer else ""
            message = f"`{contract.tool}`: {error.message}{where}; {_SERVER}"
            errors.append(FileError(message, file=file, line=int(line or 0), column=1))
    return compiled


def _tested(
    folder: Folder, revision: Revision, findings: tuple[Finding, ...], prefix: str
) -> Built:
    try:
        _, report = tried(folder, revision, prefix)
    except FileError as error:
        return Built(revision=None, errors=each(error), findings=findings)
    built = Built(revision=revision, findings=findings, report=report)
    return replace(built, revision=None) if built.problem else built


def tried(
    folder: Folder, revision: Revision, prefix: str = ""
) -> tuple[Sequence[cases.PolicyCase], testing.Report]:
    """Run the policy tests of a folder on a revision; raises FileError for a file that is none."""
    files = [cases.load(text, file=prefix + name) for name, text in folder.tests.items()]
    known = templates.known(revision.templates)
    found = [case for file in files for case in file.cases(revision.contracts, known)]
    report = testing.run(
        found,
        revision.policy,
        validate=trial.validate(revision),
        decide=trial.decide(revision),
        leaves=trial.leaves(revision),
    )
    return found, report

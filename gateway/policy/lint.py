"""Static checks of policy files against the reviewed contracts; nothing is evaluated for real.

`lint_texts` also reports what keeps a file from being read; `lint` takes files that were read.
"""

from collections.abc import Iterable, Mapping, Sequence

from gateway.errors import FileError, FilesError
from gateway.policy import (
    lint_approvals,
    lint_conditions,
    lint_contracts,
    lint_guards,
    lint_methods,
    lint_origins,
    lint_rules,
    lint_runs,
    lint_templates,
    lint_tools,
)
from gateway.policy.compile import compile_policy, in_order
from gateway.policy.files import PolicyFile, load
from gateway.policy.findings import Finding, of_error
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.survey import survey
from gateway.types.tools import Contract

__all__ = ["Finding", "lint", "lint_texts"]

_CHECKS = (
    lint_rules.check,
    lint_tools.check,
    lint_contracts.check,
    lint_approvals.check,
    lint_methods.check,
    lint_conditions.check,
    lint_runs.check,
    lint_templates.check,
    lint_guards.check,
    lint_origins.check,
)


def lint_texts(
    texts: Mapping[str, str],
    contracts: Sequence[Contract],
    *,
    roles: Iterable[str] = (),
    servers: Iterable[str] = (),
) -> tuple[Finding, ...]:
    """Check files by name and text; files that can't be read are reported and left out."""
    files: list[PolicyFile] = []
    findings: list[Finding] = []
    for name, text in texts.items():
        try:
            files.append(load(text, file=name))
        except FileError as error:
            findings.extend(of_error(each) for each in _each(error))
    findings.extend(lint(files, contracts, roles=roles, servers=servers))
    return tuple(sorted(findings, key=lambda each: each.order))


def lint(
    files: Sequence[PolicyFile],
    contracts: Sequence[Contract],
    *,
    roles: Iterable[str] = (),
    servers: Iterable[str] = (),
    are_all_roles: bool = False,
    templates: Iterable[WrittenTemplate] = (),
) -> tuple[Finding, ...]:
    """Check files against contracts; `roles` are those that the configuration gives to somebody.

    `are_all_roles` says that no provider gives others to who decides. `servers` are the
    configured ones; without any, those under a contract are all that is known.
    """
    findings: list[Finding] = []
    try:
        compile_policy(files)
    except FilesError as error:
        findings.extend(of_error(each, check=_name(each)) for each in error.errors)
    view = survey(
        in_order(files),
        contracts,
        roles,
        servers,
        are_all_roles=are_all_roles,
        templates=templates,
    )
    for check in _CHECKS:
        findings.extend(check(view))
    return tuple(sorted(set(findings), key=lambda each: each.order))


def _each(error: FileError) -> Sequence[FileError]:
    return error.errors if isinstance(error, FilesError) else (error,)


def _name(error: FileError) -> str:
    message = error.message
    if "already defined" in message:
        return "duplicate"
    if message.startswith(("no set named", "no name `sets.")):
        return "unknown-set"
    return "condition"

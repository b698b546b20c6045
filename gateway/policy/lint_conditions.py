"""Checks of every expression against the input schema of every tool that its rule selects."""

import re
from collections.abc import Iterator

from gateway.policy.files import Path
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_samples import unguarded
from gateway.policy.lint_types import ArgumentTypes
from gateway.policy.lint_words import slips
from gateway.policy.phrases import phrase
from gateway.policy.survey import Survey, Surveyed
from gateway.types.tools import Contract


def check(survey: Survey) -> Iterator[Finding]:
    """Check the types of all expressions, and that optional arguments are asked for first."""
    types: dict[str, ArgumentTypes] = {}
    for contract in survey.contracts:
        types[contract.tool] = ArgumentTypes(contract.input_schema, survey.sets)
    for each in survey.rules:
        for path, text, is_condition in _expressions(each):
            yield from _words(each, path, text)
            for contract in each.tools:
                yield from _types(each, path, text, contract, types[contract.tool])
                if is_condition:
                    yield from _optional(each, path, text, contract, survey)
        yield from _sums(each, types)


def _expressions(each: Surveyed) -> Iterator[tuple[Path, str, bool]]:
    rule = each.rule
    if rule.when is not None:
        yield ("when",), rule.when, True
    for index, limit in enumerate(rule.limits):
        if limit.sum is not None:
            yield ("limits", index, "sum"), limit.sum, False
    constrain = rule.constrain
    if constrain is not None:
        for kind in ("set", "max", "min", "default"):
            for name, value in getattr(constrain, kind).items():
                if isinstance(value, str):
                    yield ("constrain", kind, name), value, False


def _types(
    each: Surveyed, path: Path, text: str, contract: Contract, types: ArgumentTypes
) -> Iterator[Finding]:
    for issue in types.issues(text):
        place = each.file.inside(each.path(*path), issue.line, issue.column)
        level, check_name = Level.ERROR, "condition-type"
        message = f"{phrase(issue.message, ())}, for `{contract.tool}`"
        yield each.finding_at(level, check_name, message, place)
    for name in types.unchecked:
        if re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", text):
            message = f"argument `{name}` of `{contract.tool}` has no single type and is unchecked"
            yield each.finding(Level.INFO, "unchecked", message, *path)


def _words(each: Surveyed, path: Path, text: str) -> Iterator[Finding]:
    for slip in slips(text):
        before = text[: slip.offset].splitlines() or [""]
        place = each.file.inside(each.path(*path), len(before), len(before[-1]) + 1)
        yield each.finding_at(Level.ERROR, "unknown-word", slip.message, place)


def _optional(
    each: Surveyed, path: Path, text: str, contract: Contract, survey: Survey
) -> Iterator[Finding]:
    for name in unguarded(text, contract.input_schema, survey.sets):
        has = f"has(args.{name})" if name.isidentifier() else f'"{name}" in args'
        yield each.finding(
            Level.ERROR,
            "optional-argument",
            f"argument `{name}` of `{contract.tool}` is optional: write `{has} && ...`",
            *path,
        )


def _sums(each: Surveyed, types: dict[str, ArgumentTypes]) -> Iterator[Finding]:
    for index, limit in enumerate(each.rule.limits):
        if limit.sum is None:
            continue
        for contract in each.tools:
            if not types[contract.tool].is_number(limit.sum):
                yield each.finding(
                    Level.ERROR,
                    "not-a-number",
                    f"`{limit.sum}` is no number for `{contract.tool}` and has no sum",
                    *("limits", index, "sum"),
                )

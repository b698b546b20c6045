"""Checks of what rules say of runs: the templates that they name, and the fields that they read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.policy.files import Path
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_samples import fields_in, unguarded_fields
from gateway.policy.lint_words import slips
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.run_rules import FieldSection
from gateway.policy.survey import Survey, Surveyed
from gateway.types.runs import Phase
from gateway.types.tools import SourceTrust
from gateway.yamltext.models import suggest

MODEL: Final = "model"  # whose word proves nothing
# A run has every required field from here on, unless somebody takes one back.
_LATE: Final = frozenset({Phase.ACTING, Phase.AWAITING_APPROVAL, Phase.FINALIZING})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubt:
    """The sources of fields that prove nothing: of some values, and of whatever they bring."""

    some: frozenset[str]
    always: frozenset[str]

    def is_never_said(self, field: FieldSection) -> bool:
        """Say whether nothing is taken for it that proves nothing."""
        return bool(field.sources) and self.some.isdisjoint(field.sources or ())

    def is_never_known(self, field: FieldSection) -> bool:
        """Say whether only what proves nothing is taken for it."""
        return bool(field.sources) and self.always.issuperset(field.sources or ())


def _doubt(survey: Survey) -> _Doubt:
    """Tell sources apart: beside the word of a model, what others can write proves nothing."""
    trusts = [(each.type, each.trust) for one in survey.contracts for each in one.yields]
    others = {name for name, trust in trusts if trust is SourceTrust.EXTERNAL}
    sure = {name for name, trust in trusts if trust is not SourceTrust.EXTERNAL}
    return _Doubt(some=frozenset(others | {MODEL}), always=frozenset(others - sure | {MODEL}))


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = {template.name: template for template in survey.templates}
    doubt = _doubt(survey)
    for each in survey.rules:
        yield from _unknown_templates(each, known)
        if each.rule.when is not None:
            yield from _words(each, each.rule.when, known)
            yield from _fields(each, each.rule.when, survey, known, doubt)
        for path, text in _others(each):
            yield from _words(each, text, known, *path)
            yield from _unknown_fields(each, text, known, doubt, *path)
        for path, text in _filters(each):
            yield from _empty_until(each, text, known, doubt, *path)


def _unknown_templates(each: Surveyed, known: Mapping[str, WrittenTemplate]) -> Iterator[Finding]:
    for index, name in enumerate(each.rule.match.templates or ()):
        if name not in known:
            yield each.finding(
                Level.ERROR,
                "unknown-template",
                f"no run template `{name}`{suggest(name, [*known])}",
                *("match", "templates", index),
            )


def _others(each: Surveyed) -> Iterator[tuple[Path, str]]:
    """Yield the expressions of a rule that are no condition on the call, with their places."""
    rule = each.rule
    for index, limit in enumerate(rule.limits):
        if limit.sum is not None:
            yield ("limits", index, "sum"), limit.sum
    for kind in ("set", "max", "min", "default") if rule.constrain is not None else ():
        for name, value in getattr(rule.constrain, kind).items():
            if isinstance(value, str):
                yield ("constrain", kind, name), value
    yield from _filters(each)


def _filters(each: Surveyed) -> Iterator[tuple[Path, str]]:
    """Yield the conditions on what leaves of a result."""
    output = each.rule.output
    if output is None:
        return
    for index, rows in enumerate(output.rows):
        yield ("output", "rows", index, "where"), rows.where
    if output.documents is not None:
        yield ("output", "documents"), output.documents


def _empty_until(
    each: Surveyed,
    text: str,
    known: Mapping[str, WrittenTemplate],
    doubt: _Doubt,
    *path: str | int,
) -> Iterator[Finding]:
    """Tell of what lets nothing through until a run has a field: often more than was meant."""
    about = _about(each, known)
    sure = _certain(each, about, doubt)
    for name in fields_in(text):
        if name not in sure and not re.search(rf"has\(\s*run\.fields\.{name}\s*\)", text):
            yield each.finding(
                Level.INFO,
                "optional-field",
                f"no row leaves before the run has `{name}`, and none where a call has no run; "
                f"`has(run.fields.{name})` asks whether it is there",
                *path,
            )


def _words(
    each: Surveyed, text: str, known: Mapping[str, WrittenTemplate], *path: str | int
) -> Iterator[Finding]:
    for slip in slips(text, {"run.template": ("", *known)}):
        before = text[: slip.offset].split("\n")
        place = each.file.inside(each.path(*(path or ("when",))), len(before), len(before[-1]) + 1)
        yield each.finding_at(Level.ERROR, "unknown-word", slip.message, place)


def _unknown_fields(
    each: Surveyed,
    text: str,
    known: Mapping[str, WrittenTemplate],
    doubt: _Doubt,
    *path: str | int,
) -> Iterator[Finding]:
    """Find fields that no run has, or has in the other map only."""
    about = _about(each, known)
    fields = {name for template in about for name in template.section.fields}
    for of, never in _nevers(about, doubt).items():
        for name in fields_in(text, of):
            if name not in fields:
                message = f"no run template here has a field `{name}`{suggest(name, [*fields])}"
                yield each.finding(Level.ERROR, "unknown-field", message, *path)
            elif name in never:
                other = "said" if of == "fields" else "fields"
                message = (
                    f"`run.{of}` never has `{name}`, by its `from`; write `run.{other}.{name}`"
                )
                yield each.finding(Level.ERROR, "unknown-field", message, *path)


def _fields(
    each: Surveyed,
    text: str,
    survey: Survey,
    known: Mapping[str, WrittenTemplate],
    doubt: _Doubt,
) -> Iterator[Finding]:
    """Find what a condition can't know of every run."""
    yield from _unknown_fields(each, text, known, doubt, "when")
    about = _about(each, known)
    fields = {name for template in about for name in template.section.fields}
    certain = {"fields": _certain(each, about, doubt), "said": set[str]()}
    for of, never in _nevers(about, doubt).items():
        named = fields_in(text, of)
        optional = [name for name in named if name in fields - never and name not in certain[of]]
        for name in unguarded_fields(text, optional, survey.sets, of):
            yield each.finding(
                Level.ERROR,
                "optional-field",
                f"a run may not have `{name}` yet, and a call may have no run: "
                f"write `has(run.{of}.{name}) && ...`",
                "when",
            )


def _nevers(about: Sequence[WrittenTemplate], doubt: _Doubt) -> dict[str, set[str]]:
    """Return by map the fields that are never in it."""
    return {
        "fields": _never(about, doubt.is_never_known),
        "said": _never(about, doubt.is_never_said),
    }


def _about(each: Surveyed, known: Mapping[str, WrittenTemplate]) -> Sequence[WrittenTemplate]:
    named = each.rule.match.templates
    return [known[name] for name in named if name in known] if named else [*known.values()]


def _certain(each: Surveyed, about: Sequence[WrittenTemplate], doubt: _Doubt) -> set[str]:
    """Return the fields that rules know of every run which the rule is about."""
    match = each.rule.match
    if not match.templates or not match.phases or not _LATE.issuperset(match.phases):
        return set()
    required = [
        {
            name
            for name, field in template.section.fields.items()
            if field.required and doubt.is_never_said(field)
        }
        for template in about
    ]
    return set[str].intersection(*required) if required else set()


def _never(about: Sequence[WrittenTemplate], is_so: Callable[[FieldSection], bool]) -> set[str]:
    """Return the fields of which something is so, whatever template a run has."""
    found: dict[str, bool] = {}
    for template in about:
        for name, field in template.section.fields.items():
            found[name] = found.get(name, True) and is_so(field)
    return {name for name, each in found.items() if each}

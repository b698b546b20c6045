"""Checks of what rules say of runs: the templates that they name, and the fields that they read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gateway.policy.findings import Finding, Level
from gateway.policy.lint_samples import fields_in, unguarded_fields
from gateway.policy.lint_words import slips
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.survey import Survey, Surveyed
from gateway.types.runs import Phase
from gateway.yamltext.models import suggest

# A run has every required field from here on, unless somebody takes one back.
_LATE: Final = frozenset({Phase.ACTING, Phase.AWAITING_APPROVAL, Phase.FINALIZING})


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = {template.name: template for template in survey.templates}
    for each in survey.rules:
        yield from _unknown_templates(each, known)
        if each.rule.when is not None:
            yield from _words(each, each.rule.when, known)
            yield from _fields(each, each.rule.when, survey, known)


def _unknown_templates(each: Surveyed, known: Mapping[str, WrittenTemplate]) -> Iterator[Finding]:
    for index, name in enumerate(each.rule.match.templates or ()):
        if name not in known:
            yield each.finding(
                Level.ERROR,
                "unknown-template",
                f"no run template `{name}`{suggest(name, [*known])}",
                *("match", "templates", index),
            )


def _words(each: Surveyed, text: str, known: Mapping[str, WrittenTemplate]) -> Iterator[Finding]:
    for slip in slips(text, {"run.template": ("", *known)}):
        before = text[: slip.offset].split("\n")
        place = each.file.inside(each.path("when"), len(before), len(before[-1]) + 1)
        yield each.finding_at(Level.ERROR, "unknown-word", slip.message, place)


def _fields(
    each: Surveyed, text: str, survey: Survey, known: Mapping[str, WrittenTemplate]
) -> Iterator[Finding]:
    about = _about(each, known)
    fields = {name for template in about for name in template.section.fields}
    named = fields_in(text)
    for name in named:
        if name not in fields:
            message = f"no run template here has a field `{name}`{suggest(name, [*fields])}"
            yield each.finding(Level.ERROR, "unknown-field", message, "when")
    certain = _certain(each, about)
    optional = [name for name in named if name in fields and name not in certain]
    for name in unguarded_fields(text, optional, survey.sets):
        yield each.finding(
            Level.ERROR,
            "optional-field",
            f"a run may not have `{name}` yet, and a call may have no run: "
            f"write `has(run.fields.{name}) && ...`",
            "when",
        )


def _about(each: Surveyed, known: Mapping[str, WrittenTemplate]) -> Sequence[WrittenTemplate]:
    named = each.rule.match.templates
    return [known[name] for name in named if name in known] if named else [*known.values()]


def _certain(each: Surveyed, about: Sequence[WrittenTemplate]) -> set[str]:
    """Return the fields that every run has which the rule is about."""
    match = each.rule.match
    if not match.templates or not match.phases or not _LATE.issuperset(match.phases):
        return set()
    required = [
        {name for name, field in template.section.fields.items() if field.required}
        for template in about
    ]
    return set[str].intersection(*required) if required else set()

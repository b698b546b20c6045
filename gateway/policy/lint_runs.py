"""Checks of what rules say of runs: the templates that they name, and the fields that they read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gateway.policy.findings import Finding, Level
from gateway.policy.lint_samples import fields_in, unguarded_fields
from gateway.policy.lint_words import slips
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.run_rules import FieldSection
from gateway.policy.survey import Survey, Surveyed
from gateway.types.runs import Phase
from gateway.yamltext.models import suggest

MODEL: Final = "model"  # whose word proves nothing
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
    certain = {"fields": _certain(each, about), "said": set[str]()}
    never = {"fields": _never(about, _is_never_known), "said": _never(about, _is_never_said)}
    for of, sure in certain.items():
        named = fields_in(text, of)
        for name in named:
            if name not in fields:
                message = f"no run template here has a field `{name}`{suggest(name, [*fields])}"
                yield each.finding(Level.ERROR, "unknown-field", message, "when")
            elif name in never[of]:
                other = "said" if of == "fields" else "fields"
                message = (
                    f"`run.{of}` never has `{name}`, by its `from`; write `run.{other}.{name}`"
                )
                yield each.finding(Level.ERROR, "unknown-field", message, "when")
        optional = [n for n in named if n in fields - never[of] and n not in sure]
        for name in unguarded_fields(text, optional, survey.sets, of):
            yield each.finding(
                Level.ERROR,
                "optional-field",
                f"a run may not have `{name}` yet, and a call may have no run: "
                f"write `has(run.{of}.{name}) && ...`",
                "when",
            )


def _about(each: Surveyed, known: Mapping[str, WrittenTemplate]) -> Sequence[WrittenTemplate]:
    named = each.rule.match.templates
    return [known[name] for name in named if name in known] if named else [*known.values()]


def _certain(each: Surveyed, about: Sequence[WrittenTemplate]) -> set[str]:
    """Return the fields that rules know of every run which the rule is about."""
    match = each.rule.match
    if not match.templates or not match.phases or not _LATE.issuperset(match.phases):
        return set()
    required = [
        {
            name
            for name, field in template.section.fields.items()
            if field.required and _is_never_said(field)
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


def _is_never_said(field: FieldSection) -> bool:
    """Say whether the word of a model is not taken for it."""
    return bool(field.sources) and MODEL not in (field.sources or ())


def _is_never_known(field: FieldSection) -> bool:
    """Say whether only the word of a model is taken for it."""
    return bool(field.sources) and set(field.sources or ()) == {MODEL}

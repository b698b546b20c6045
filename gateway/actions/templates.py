"""From written templates to the ones that runs go by: guards become plain functions of a run."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.errors import FileError, FilesError
from gateway.policy import run_files
from gateway.policy.run_cases import Known
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.run_rules import LimitsSection
from gateway.runs.templates import FieldRule, Guard, RunLimit, Template
from gateway.types.runs import Phase, Run

# What a required field is required for.
_NEEDED: Final = (Phase.ACTING, Phase.COMPLETED)


def read(
    texts: Mapping[str, str], prefix: str, errors: list[FileError]
) -> tuple[WrittenTemplate, ...]:
    """Read the files of templates, by name; what is wrong with them is added to `errors`."""
    found: list[WrittenTemplate] = []
    for name, text in texts.items():
        try:
            found.extend(run_files.load(text, file=prefix + name))
        except FileError as error:
            errors.extend(error.errors if isinstance(error, FilesError) else (error,))
    errors.extend(run_files.duplicates(found))
    return tuple(found)


def templates(written: Iterable[WrittenTemplate]) -> dict[str, Template]:
    """Return the templates by name."""
    return {each.name: _template(each) for each in written}


def known(templates: Mapping[str, Template]) -> Known:
    """Return what policy tests have to know of templates."""
    return {name: (each.mode, each.fields) for name, each in templates.items()}


def _template(written: WrittenTemplate) -> Template:
    section = written.section
    guards = {phase: _guards(written, phase) for phase in {*written.guards, *_NEEDED}}
    completed = guards.pop(Phase.COMPLETED)
    tools = {
        phase: None if (named := written.tools(phase)) is None else frozenset(named)
        for phase in section.phases
    }
    return Template(
        name=written.name,
        mode=section.mode,
        objective=section.objective or "",
        fields={
            name: FieldRule(required=each.required, sources=each.sources or ())
            for name, each in section.fields.items()
        },
        enter_when=guards,
        tools=tools,
        finalizers=tools.get(Phase.FINALIZING) or frozenset(),
        during_wait=frozenset(section.during_wait),
        completed_when=completed,
        wall_s=section.limits.wall or 0.0,
        idle_s=section.limits.idle or 0.0,
        limits=_limits(section.limits),
        explicit_for=frozenset(section.explicit_for),
        place=written.place,
    )


def _guards(written: WrittenTemplate, phase: Phase) -> tuple[Guard, ...]:
    """Return the guards of a phase: required fields first, and each guard once."""
    guards: dict[str, Guard] = {}
    if phase in _NEEDED:
        required = (name for name, each in written.section.fields.items() if each.required)
        guards = {(guard := _collected(name)).text: guard for name in required}
    for each in written.guards.get(phase, ()):
        guards.setdefault(each.text, Guard(text=each.text, holds=each.holds))
    return tuple(guards.values())


def _collected(name: str) -> Guard:
    def holds(run: Run) -> bool:
        found = run.fields.get(name)
        return found is not None and found.value is not None

    return Guard(text=f"fields.{name}", holds=holds)


def _limits(section: LimitsSection) -> tuple[RunLimit, ...]:
    counted = (
        RunLimit(kind="calls", maximum=section.calls) if section.calls is not None else None,
        RunLimit(kind="writes", maximum=section.writes) if section.writes is not None else None,
        RunLimit(kind="tokens", maximum=section.tokens) if section.tokens is not None else None,
    )
    money = (
        RunLimit(
            kind="money", maximum=each.max, argument=each.argument, tools=frozenset(each.tools)
        )
        for each in section.money
    )
    return (*(each for each in counted if each is not None), *money)

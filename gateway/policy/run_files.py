"""Files of run templates: text in, checked templates with compiled guards out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway import yamltext
from gateway.errors import FileError, FilesError
from gateway.policy.cel import ExpressionError
from gateway.policy.files import Path, Written
from gateway.policy.phrases import phrase
from gateway.policy.run_guards import VARIABLES, RunGuard, compile_guard
from gateway.policy.run_rules import RunTemplates, TemplateSection
from gateway.types.runs import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTemplate:
    """One template as it was written, with its guards by the phase that they lead to."""

    file: Written
    name: str
    section: TemplateSection
    guards: Mapping[Phase, tuple[RunGuard, ...]]  # those of completion too

    def path(self, *rest: str | int) -> Path:
        """Return the path of a value of the template in its file."""
        return ("runs", self.name, *rest)

    @property
    def place(self) -> str:
        """Where it stands, as `file:line`."""
        return f"{self.file.name}:{self.file.document.key_place(self.path())[0]}"

    def tools(self, phase: Phase) -> tuple[str, ...] | None:
        """Return the tools of a phase, or None where the template names none."""
        section = self.section.phases.get(phase)
        return section.tools if section is not None else None


def load(text: str, *, file: str) -> tuple[WrittenTemplate, ...]:
    """Read one file of templates; raises with every fault found, each with its place and mend."""
    document = yamltext.load(text, file=file)
    content = yamltext.validate(RunTemplates, document, file=file)
    written, errors = Written(name=file, text=text, document=document), list[FileError]()
    found = tuple(
        WrittenTemplate(
            file=written,
            name=name,
            section=section,
            guards=_guards(written, name, section, errors),
        )
        for name, section in content.runs.items()
    )
    if errors:
        raise FilesError(errors)
    return found


def duplicates(templates: Iterable[WrittenTemplate]) -> Iterator[FileError]:
    """Find names that are given twice, be it in two files."""
    seen: dict[str, str] = {}
    for each in templates:
        before = seen.setdefault(each.name, each.place)
        if before != each.place:
            line, column = each.file.document.key_place(each.path())
            message = (
                f"run template `{each.name}` is already defined at {before}; rename or remove one"
            )
            yield FileError(message, file=each.file.name, line=line, column=column)


def where(phase: Phase) -> Path:
    """Return the path of the guards that lead to a phase, inside a template."""
    if phase is Phase.COMPLETED:
        return ("completed_when",)
    return ("phases", phase.value, "enter_when")


def _guards(
    file: Written, name: str, section: TemplateSection, errors: list[FileError]
) -> dict[Phase, tuple[RunGuard, ...]]:
    texts = {phase: each.enter_when for phase, each in section.phases.items()}
    texts[Phase.COMPLETED] = section.completed_when
    found: dict[Phase, tuple[RunGuard, ...]] = {}
    for phase, guards in texts.items():
        compiled: list[RunGuard] = []
        for index, text in enumerate(guards):
            try:
                compiled.append(compile_guard(text, section.fields))
            except ExpressionError as error:
                path = ("runs", name, *where(phase), index)
                errors.extend(_faults(file, path, error))
        found[phase] = tuple(compiled)
    return found


def _faults(file: Written, path: Path, error: ExpressionError) -> Iterator[FileError]:
    for issue in error.issues:
        line, column = file.inside(path, issue.line, issue.column)
        message = phrase(issue.message, [*VARIABLES, "fields"])
        yield FileError(message, file=file.name, line=line, column=column)

"""Policy files to one compiled policy, or every fault in them with its place."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.errors import FileError, FilesError
from gateway.policy import clauses
from gateway.policy.cel import Condition, Environment, ExpressionError
from gateway.policy.compiled import CompiledRule
from gateway.policy.engine import CompiledPolicy, Fallback
from gateway.policy.files import Path, PolicyFile
from gateway.policy.match import compile_match
from gateway.policy.obligations import (
    CompiledConstraint,
    CompiledLimit,
    CompiledRows,
    Obligations,
    has_parts,
    pointer_of,
)
from gateway.policy.phrases import phrase
from gateway.policy.request import VARIABLES
from gateway.policy.rules import Constrain, InSet, Output, Rule, Scalar
from gateway.policy.view import Vocabulary
from gateway.types.decisions import DecisionEffect, OutputPolicy, Redaction
from gateway.types.json import Json
from gateway.yamltext.models import suggest

_CODES = {
    DecisionEffect.DENY: "denied",
    DecisionEffect.REQUIRE_APPROVAL: "approval_required",
    DecisionEffect.ALLOW: "allowed",
    None: "",
}
_DEFINE = "; define it in `sets`"


def compile_policy(files: Sequence[PolicyFile]) -> CompiledPolicy:
    """Make one policy of several files, sorted by name; raises `FilesError`."""
    files = in_order(files)
    compiler = _Compiler(files)
    errors = [*duplicates(files)]
    rules = tuple(compiler.rules(files))
    errors.extend(compiler.errors)
    if errors:
        raise FilesError(sorted(errors, key=lambda each: (each.file, each.line, each.column)))
    sets: dict[str, list[Json]] = {
        f"sets.{name}": [*values] for name, values in compiler.sets.items()
    }
    vocabulary = Vocabulary(compiler.environment, VARIABLES, sets, compiler.texts)
    return CompiledPolicy(rules, vocabulary, _fallback(files))


def in_order(files: Iterable[PolicyFile]) -> Sequence[PolicyFile]:
    """Sort files by name: this is the order in which rules of one effect decide."""
    return sorted(files, key=lambda file: file.name)


def sets_of(files: Iterable[PolicyFile]) -> dict[str, tuple[Scalar, ...]]:
    """Gather the sets of all files; every file may use the sets of the others."""
    return {name: values for file in files for name, values in file.content.sets.items()}


def environment_of(sets: Iterable[str], args: str = "dyn") -> Mapping[str, str]:
    """Return the CEL type of every name that a rule may use; `args` can be a message's name."""
    types = {name: each.type for name, each in VARIABLES.items()}
    return {**types, "args": args, **{f"sets.{name}": "list<dyn>" for name in sets}}


def duplicates(files: Sequence[PolicyFile]) -> Iterator[FileError]:
    """Find rule ids, limit ids, sets and defaults that are given twice."""
    seen: dict[tuple[str, str], str] = {}
    for file, path, kind, name in _named(files):
        line, column = file.document.place(path)
        place = f"{file.name}:{line}:{column}"
        before = seen.setdefault((kind, name), place)
        if before != place:
            yield file.error(
                path, f"{kind} `{name}` is already defined at {before}; rename or remove one"
            )


def _named(files: Sequence[PolicyFile]) -> Iterator[tuple[PolicyFile, Path, str, str]]:
    for file in files:
        if file.content.default is not None:
            yield file, ("default",), "the policy's", "default"
        for name in file.content.sets:
            yield file, ("sets", name), "set", name
        for index, rule in enumerate(file.content.rules):
            yield file, ("rules", index, "id"), "rule", rule.id
            for position, limit in enumerate(rule.limits):
                yield file, ("rules", index, "limits", position, "id"), "limit", limit.id


def _fallback(files: Sequence[PolicyFile]) -> Fallback:
    for file in files:
        if file.content.default is not None:
            return Fallback(
                code=file.content.default.code, reason=file.content.default.reason or ""
            )
    return Fallback()


@dataclass(frozen=True, slots=True)
class _At:
    """A rule and where it stands."""

    file: PolicyFile
    index: int
    rule: Rule

    def path(self, *rest: str | int) -> Path:
        return ("rules", self.index, *rest)


class _Compiler:
    """Compiles rules one by one and gathers the faults of all of them."""

    def __init__(self, files: Sequence[PolicyFile]) -> None:
        self.sets = sets_of(files)
        names = environment_of(self.sets)
        self.environment = Environment(names)
        self._without_arguments = Environment(
            {name: kind for name, kind in names.items() if name != "args"}
        )
        self._with_rows: Environment | None = None
        self.errors: list[FileError] = []
        self.texts: list[str] = []

    def rules(self, files: Sequence[PolicyFile]) -> Iterator[CompiledRule]:
        for file in files:
            for index, rule in enumerate(file.content.rules):
                at = _At(file, index, rule)
                self._check_sets(at)
                yield self._rule(at)

    def _rule(self, at: _At) -> CompiledRule:
        rule = at.rule
        line, _ = at.file.document.place(at.path("id"))
        effect = None if rule.decision == "obligation" else DecisionEffect(rule.decision)
        condition = None
        if rule.when is not None:
            condition = self._compiled(at, rule.when, ("when",), self.environment.condition)
        return CompiledRule(
            id=rule.id,
            place=f"{at.file.name}:{line}",
            effect=effect,
            code=rule.code or _CODES[effect],
            reason=rule.reason or "",
            matcher=compile_match(rule.match, self.sets, denies=rule.decision == "deny"),
            condition=condition,
            reads_arguments=condition is not None and self._reads_arguments(condition.text),
            shadow="shadow" in (rule.mode, at.file.content.mode),
            risk=rule.risk,
            obligations=Obligations(
                constraints=tuple(self._constraints(at, rule.constrain or Constrain())),
                limits=tuple(self._limits(at)),
                output=_output(rule.output),
                rows=tuple(self._rows(at)),
            ),
            approval=clauses.compiled(rule.approval),
        )

    def _reads_arguments(self, text: str) -> bool:
        if "args" not in text:
            return False
        try:
            self._without_arguments.compile(text)
        except ExpressionError:
            return True
        return False  # it only says the word

    def _check_sets(self, at: _At) -> None:
        tenants = at.rule.match.tenants
        if not isinstance(tenants, InSet) or tenants.in_set in self.sets:
            return
        message = (
            f"no set named `{tenants.in_set}`{suggest(tenants.in_set, [*self.sets]) or _DEFINE}"
        )
        self.errors.append(at.file.error(at.path("match", "tenants", "in_set"), message))

    def _constraints(self, at: _At, constrain: Constrain) -> Iterator[CompiledConstraint]:
        kinds: Mapping[str, Mapping[str, Json]] = {
            "default": constrain.default,
            "set": constrain.set,
            "max": constrain.max,
            "min": constrain.min,
        }
        for kind, entries in kinds.items():
            for name, value in entries.items():
                pointer, path = pointer_of(name), ("constrain", kind, name)
                if not has_parts(pointer):
                    self.errors.append(
                        at.file.error(at.path(*path), "should name an argument, such as `/amount`")
                    )
                source: Condition | Json = value
                if isinstance(value, str):
                    source = self._compiled(at, value, path, self.environment.compile)
                yield CompiledConstraint(pointer=pointer, kind=kind, source=source)

    def _limits(self, at: _At) -> Iterator[CompiledLimit]:
        for position, limit in enumerate(at.rule.limits):
            total = None
            if limit.sum is not None:
                path = ("limits", position, "sum")
                total = self._compiled(at, limit.sum, path, self.environment.compile)
            yield CompiledLimit(
                id=limit.id,
                per=limit.per,
                maximum=limit.max,
                window_s=limit.window,
                total=total,
            )

    def _rows(self, at: _At) -> Iterator[CompiledRows]:
        output = at.rule.output
        if output is None:
            return
        written: list[tuple[str, str, Path]] = [
            (each.path, each.where, ("output", "rows", place, "where"))
            for place, each in enumerate(output.rows)
        ]
        if output.documents is not None:
            written.append(("", output.documents, ("output", "documents")))
        for pointer, text, path in written:
            where = self._compiled(at, text, path, self._of_rows().condition)
            if where is not None:
                yield CompiledRows(path=pointer, where=where)

    def _of_rows(self) -> Environment:
        """Return what conditions on rows may name; made when the first one is met."""
        if self._with_rows is None:
            self._with_rows = Environment({**environment_of(self.sets), "row": "dyn"})
        return self._with_rows

    def _compiled(
        self, at: _At, text: str, path: Path, compile_text: Callable[[str], Condition]
    ) -> Condition | None:
        self.texts.append(text)
        try:
            return compile_text(text)
        except ExpressionError as error:
            for issue in error.issues:
                line, column = at.file.inside(at.path(*path), issue.line, issue.column)
                message = phrase(issue.message, self.environment.variables)
                self.errors.append(FileError(message, file=at.file.name, line=line, column=column))
            return None  # never used: the errors gathered here stop the whole policy


def _output(output: Output | None) -> OutputPolicy:
    if output is None:
        return OutputPolicy()
    redact = tuple(Redaction(path=each.path, form=each.form) for each in output.redact)
    return OutputPolicy(keep=output.keep or (), redact=redact)

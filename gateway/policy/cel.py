"""The one place that speaks to the CEL engine: compile once, evaluate often, fail with a place.

An expression either gives a value or raises `ConditionError`; the engine's own error values and
exceptions end here. Messages never carry argument values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Protocol, TypeAlias, cast

from cel_expr_python import cel as engine

from gateway.errors import WeighbridgeError
from gateway.policy import functions
from gateway.types.json import Json
from gateway.yamltext.models import suggest

Bindings: TypeAlias = Mapping[str, Json | datetime]

# Of a contract's conditions; where each is known is said in `docs/reference/contracts.md`.
CONTRACT_NAMES: Sequence[str] = ("args", "result", "answer", "old", "op")

_ISSUE = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_CONTAINER = re.compile(r" \(in container '[^']*'\)")
_MISSING_KEY = re.compile(r'Key not found in map : "([^"]*)"')
# What the engine says, and what we say for it; its own words may quote argument values.
_FAULTS: Sequence[tuple[str, str]] = (
    ("No matching overload", "a value has a type that the expression can't use"),
    ("out of range", "a number is too large to compare"),
    ("divide by zero", "it divides by zero"),
    ("modulus by zero", "it divides by zero"),
    ("Iteration budget", "it loops over too many items"),
    ("regular expression", "a pattern is not a valid regular expression"),
    ("index out of bounds", "a list is shorter than the expression expects"),
    ("Non-CEL value", "a value can't be compared"),
)


class ConditionError(WeighbridgeError):
    """An expression gave no usable value; `missing` names the absent key if that was the cause."""

    def __init__(self, message: str, *, missing: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.missing = missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One fault in an expression's text; line and column count from 1 inside the expression."""

    line: int
    column: int
    message: str


class ExpressionError(ConditionError):
    """A text isn't an expression that can be evaluated here; every fault found is in `issues`."""

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = issues


class DescriptorPool(Protocol):
    """A pool of protobuf messages, for checking against a tool's arguments."""

    def FindMessageTypeByName(self, full_name: str) -> object:
        """Return the message of that name."""
        ...


class Scope:
    """The values of one call, converted for the engine once and used by all its expressions."""

    __slots__ = ("activation",)

    def __init__(self, environment: "Environment", bindings: Bindings) -> None:
        self.activation = environment.native.Activation(dict(bindings))


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled expression."""

    text: str
    environment: "Environment" = field(repr=False, compare=False)
    program: engine.Expression = field(repr=False, compare=False)

    @property
    def gives(self) -> str:
        """The CEL type of the value in lower case, such as `bool`, `int` or `dyn`."""
        return self.program.return_type().name().lower()

    def evaluate(self, bindings: "Bindings | Scope") -> Json:
        """Return the value as JSON, or raise `ConditionError`."""
        result = self._run(bindings)
        value: object = result.plain_value()
        # An error shows as its text, so only a text can be one; asking for the type is slow.
        if isinstance(value, str) and result.type() == _ERROR:
            raise _fault(value, self.text)
        return _to_json(value)

    def holds(self, bindings: "Bindings | Scope") -> bool:
        """Return the boolean that the expression gives; any other value is an error."""
        result = self._run(bindings)
        value = cast("object", result.value())  # the stubs say Any
        if value is True or value is False:
            return value
        if result.type() == _ERROR:
            raise _fault(str(value), self.text)
        raise ConditionError("the condition gives something else than true or false")

    def _run(self, bindings: "Bindings | Scope") -> engine.Value:
        try:
            scope = bindings if isinstance(bindings, Scope) else Scope(self.environment, bindings)
            return self.program.eval(scope.activation)
        except Exception as error:  # the binding raises RuntimeError, ValueError and others
            raise _fault(str(error), self.text) from None


class Environment:
    """What expressions may name: variables by CEL type signature, and our own functions."""

    def __init__(
        self,
        variables: Mapping[str, str],
        *,
        pool: DescriptorPool | None = None,
    ) -> None:
        self.variables = dict(variables)
        types = {name: _type(signature) for name, signature in variables.items()}
        self.native = engine.NewEnv(pool, variables=types, functions=_FUNCTIONS)

    def compile(self, text: str) -> Condition:
        """Compile an expression, or raise `ExpressionError` with every fault that was found."""
        try:
            program = self.native.compile(text)
        except Exception as error:  # the binding raises a bare RuntimeError with all the issues
            raise ExpressionError(_issues(str(error), self.variables)) from None
        return Condition(text, self, program)

    def condition(self, text: str) -> Condition:
        """Compile an expression whose value must be true or false."""
        condition = self.compile(text)
        kind = condition.program.return_type()
        if kind not in (engine.Type.BOOL, engine.Type.DYN):
            gives = kind.name().lower()
            message = f"the condition gives `{gives}`, not true or false; compare it with something"
            raise ExpressionError((Issue(line=1, column=1, message=message),))
        return condition

    def scope(self, bindings: Bindings) -> Scope:
        """Convert the values of one call once, for several expressions."""
        return Scope(self, bindings)


@lru_cache(maxsize=1)
def _contract_environment() -> Environment:
    return Environment(dict.fromkeys(CONTRACT_NAMES, "dyn"))


@lru_cache(maxsize=4096)
def compile_condition(text: str) -> Condition:
    """Compile a contract's condition; kept, so it is compiled once.

    A name that isn't bound when it is evaluated is an error then; the linter knows which are.
    """
    return _contract_environment().condition(text)


def _fault(message: str, text: str) -> ConditionError:
    missing = _MISSING_KEY.search(message)
    if missing is not None:
        # A key that the expression computed may itself be an argument's value.
        key = missing.group(1)
        known = key if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) else ""
        return ConditionError(f"`{known}` is missing" if known else "a key is missing", missing=key)
    for marker, said in _FAULTS:
        if marker in message:
            return ConditionError(said)
    return ConditionError("the expression failed on these values")


def _issues(message: str, variables: Mapping[str, str]) -> tuple[Issue, ...]:
    found = tuple(
        Issue(line=int(line), column=int(column), message=_CONTAINER.sub("", said))
        for line, column, said in _ISSUE.findall(message)
    )
    if found:
        return tuple(dict.fromkeys(_with_suggestion(issue, variables) for issue in found))
    first = message.partition("\n")[0].removesuffix(" [INVALID_ARGUMENT]")
    return (Issue(line=1, column=1, message=first.partition(": ")[2] or first),)


def _with_suggestion(issue: Issue, variables: Mapping[str, str]) -> Issue:
    name = re.match(r"undeclared reference to '([^']*)'", issue.message)
    if name is None:
        return issue
    message = f"no name `{name.group(1)}` here{suggest(name.group(1), [*variables])}"
    return Issue(line=issue.line, column=issue.column, message=message)


def _to_json(value: object) -> Json:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [_to_json(item) for item in cast("list[object]", value)]
        case dict():
            entries = cast("dict[object, object]", value).items()
            if not all(isinstance(key, str) for key, _ in entries):
                raise ConditionError("the expression gives a map whose keys are not strings")
            return {str(key): _to_json(item) for key, item in entries}
        case _:
            raise ConditionError("the expression gives a value that JSON can't hold")


def _type(signature: str) -> engine.Type:
    return engine.Type(signature)


def _overload(
    name: str, parameters: Sequence[engine.Type], result: engine.Type
) -> engine.FunctionDecl:
    implementation = functions.BY_NAME[name]
    overload = engine.Overload(f"{name}_text", result, parameters, False, implementation)
    return engine.FunctionDecl(name, [overload])


_ERROR = engine.Type.ERROR
_TEXT, _BOOL = engine.Type.STRING, engine.Type.BOOL
_FUNCTIONS = [
    _overload("email_domain", [_TEXT], _TEXT),
    _overload("url_host", [_TEXT], _TEXT),
    _overload("path_under", [_TEXT, _TEXT], _BOOL),
    _overload("sql_reads_only", [_TEXT], _BOOL),
    engine.FunctionDecl(
        "ip_in",
        [
            engine.Overload("ip_in_network", _BOOL, [_TEXT, _TEXT], False, functions.ip_in),
            engine.Overload(
                "ip_in_networks",
                _BOOL,
                [_TEXT, engine.Type.List(engine.Type.DYN)],
                False,
                functions.ip_in_any,
            ),
        ],
    ),
]

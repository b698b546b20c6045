"""What a rule demands beside its decision: compiled once, computed for a call, merged or refused.

Everything here fails closed: a value that can't be computed and two demands that can't both be
met are faults, and the engine turns a fault into a denial.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from gateway.errors import WeighbridgeError
from gateway.policy.cel import Bindings, Condition, ConditionError, Scope
from gateway.policy.constraints import is_number, tokens_of
from gateway.policy.request import PolicyRequest
from gateway.types.decisions import (
    RUN_S,
    Constraint,
    Limit,
    OutputPolicy,
    RedactAs,
    Redaction,
    RowFilter,
)
from gateway.types.json import Json, JsonPointer

_ROW = re.compile(r"\brow\b")
_FIELD = re.compile(r"\brow\.([A-Za-z_]\w*)\b(?!\s*\()", re.ASCII)  # what is called is no member
_STRENGTH = {RedactAs.HASH: 0, RedactAs.MASK: 1, RedactAs.REMOVE: 2}
_KEYS: Mapping[str, Callable[[PolicyRequest], str]] = {
    "tenant": lambda request: request.actor.tenant,
    "user": lambda request: request.actor.user,
    "client": lambda request: request.actor.client,
    "tool": lambda request: request.tool,
    "server": lambda request: request.server,
    # Calls without a run are counted together for whoever makes them, and nobody else.
    "run": lambda request: request.run_id or f"of {_caller(request)}",
}


class ObligationConflict(WeighbridgeError):
    """Two rules demand things that can't both be met."""


class ObligationFailed(WeighbridgeError):
    """The value that an obligation needs can't be computed for this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledConstraint:
    """One argument that a rule writes or bounds; a `Condition` is computed for each call."""

    pointer: JsonPointer
    kind: str  # set | max | min | default
    source: Condition | Json

    def computed(self, scope: Callable[[], Scope], rule: str) -> Constraint:
        """Return the constraint with its value for this call."""
        value, expression = self.source, ""
        if isinstance(value, Condition):
            value, expression = value.evaluate(scope()), value.text
        if self.kind in ("max", "min") and not is_number(value):
            raise ObligationFailed(f"the {self.kind} of `{self.pointer}` is not a number")
        return Constraint(
            pointer=self.pointer, kind=self.kind, value=value, rule=rule, expression=expression
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledLimit:
    """A limit; `total` computes what a call takes of it, None means one call.

    With a window of `RUN_S` it is counted for the life of a run, whatever it is counted `per`.
    """

    id: str
    per: tuple[str, ...]
    maximum: float
    window_s: float
    total: Condition | None

    def computed(self, request: PolicyRequest, scope: Callable[[], Scope], rule: str) -> Limit:
        """Return the limit with its key and amount for this call."""
        amount = 1.0
        if self.total is not None:
            value = self.total.evaluate(scope())
            # A negative amount would give back what others have used.
            if not is_number(value) or not 0 <= value < math.inf:
                raise ObligationFailed(f"the amount for limit `{self.id}` is not a positive number")
            amount = float(value)
        return Limit(
            id=self.id,
            key=self._key(request),
            maximum=self.maximum,
            window_s=self.window_s,
            amount=amount,
            rule=rule,
        )

    def _key(self, request: PolicyRequest) -> str:
        key = "|".join(f"{name}={_escaped(_KEYS[name](request))}" for name in self.per)
        if self.window_s < RUN_S:
            return key
        if not request.run_id:
            raise ObligationFailed(f"limit `{self.id}` is counted for a run, and there is none")
        # Beginning with the run, so that what was counted for it is forgotten with it.
        return f"of_run={request.run_id}|{self.id}|{key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRows:
    """Which rows, or with an empty path which documents, of a result may leave."""

    path: JsonPointer
    where: Condition  # over `row` beside all that conditions of rules may name

    def computed(self, bindings: Callable[[], Bindings], rule: str) -> RowFilter:
        """Return the filter for one call."""
        values, read = bindings(), fields_of(self.where.text)

        def holds(row: Json) -> bool | None:
            if read is not None and isinstance(row, dict):
                row = {name: row[name] for name in read if name in row}
            for shape in (_as_it_is, _spelled):
                with suppress(ConditionError):  # an answer too: the row does not leave
                    return self.where.holds({**values, "row": shape(row)})
            return None

        return RowFilter(path=self.path, where=self.where.text, rule=rule, holds=holds)


@lru_cache(maxsize=1024)
def fields_of(where: str) -> tuple[str, ...] | None:
    """Return the only members of a row that a condition reads; None where it may read them all."""
    named = _FIELD.findall(where)
    return None if len(named) < len(_ROW.findall(where)) else tuple(dict.fromkeys(named))


def _as_it_is(row: Json) -> Json:
    return row


def _spelled(value: Json) -> Json:
    """Return a row in which numbers that an expression can't hold are texts.

    They are still there for `has`, and equal to no number.
    """
    match value:
        case bool():
            return value
        case int() if not -(2**63) <= value < 2**63:
            return str(value)
        case Decimal():
            return str(value)
        case dict():
            return {key: _spelled(each) for key, each in value.items()}
        case list():
            return [_spelled(each) for each in value]
        case _:
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligations:
    """Everything that one rule demands."""

    constraints: tuple[CompiledConstraint, ...] = ()
    limits: tuple[CompiledLimit, ...] = ()
    output: OutputPolicy = field(default_factory=OutputPolicy)
    rows: tuple[CompiledRows, ...] = ()

    @property
    def are_any(self) -> bool:
        """Say whether the rule demands anything at all."""
        return self.read_calls or self.output.holds_back

    @property
    def read_calls(self) -> bool:
        """Say whether what it demands is computed of each call."""
        return bool(self.constraints or self.limits or self.rows)


def merge_constraints(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Keep the strictest bound of each argument; raise when two demands can't both be met."""
    merged: dict[tuple[JsonPointer, str], Constraint] = {}
    for constraint in constraints:
        key = (constraint.pointer, constraint.kind)
        before = merged.get(key)
        merged[key] = constraint if before is None else _stricter(before, constraint)
    for pointer, kind in merged:
        _check_pointer(pointer, kind, merged)
    return tuple(merged.values())


def merge_limits(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Keep each limit once; one id with two meanings is a conflict."""
    merged: dict[str, Limit] = {}
    for limit in limits:
        before = merged.setdefault(limit.id, limit)
        if before is not limit and _meaning(before) != _meaning(limit):
            raise ObligationConflict(
                f"rules `{before.rule}` and `{limit.rule}` give limit `{limit.id}` two meanings"
            )
    return tuple(merged.values())


def merge_outputs(outputs: Iterable[OutputPolicy], rows: Iterable[RowFilter] = ()) -> OutputPolicy:
    """Let leave what every rule keeps, each path in the strongest form that a rule asks for.

    A row has to satisfy the conditions of all rules.
    """
    keep: tuple[JsonPointer, ...] = ()
    redact: dict[JsonPointer, Redaction] = {}
    for output in outputs:
        if keep and output.keep:
            keep = _common(keep, output.keep)
            if not keep:  # an empty list would mean "everything"
                raise ObligationConflict("two rules keep fields of the result that never meet")
        keep = keep or output.keep
        for redaction in output.redact:
            before = redact.get(redaction.path, redaction)
            redact[redaction.path] = max(before, redaction, key=lambda each: _STRENGTH[each.form])
    return OutputPolicy(keep=keep, redact=tuple(redact.values()), rows=tuple(rows))


def strength(form: RedactAs | None) -> int:
    """Order for "hides at least as much"; None: the value leaves as it is."""
    return -1 if form is None else _STRENGTH[form]


def _stricter(before: Constraint, after: Constraint) -> Constraint:
    old, new = before.value, after.value
    if before.kind in ("max", "min") and is_number(old) and is_number(new):
        tighter = new < old if before.kind == "max" else new > old
        return after if tighter else before
    if type(old) is type(new) and old == new:
        return before
    raise ObligationConflict(
        f"rules `{before.rule}` and `{after.rule}` give `{before.pointer}` two different values"
    )


def _check_pointer(
    pointer: JsonPointer, kind: str, merged: Mapping[tuple[JsonPointer, str], Constraint]
) -> None:
    low, high = merged.get((pointer, "min")), merged.get((pointer, "max"))
    if low and high and is_number(low.value) and is_number(high.value) and low.value > high.value:
        raise ObligationConflict(f"the least of `{pointer}` is above its most")
    written = merged.get((pointer, "set"))
    for bound in (low, high):
        if written and bound and not _within(written.value, bound):
            raise ObligationConflict(f"the value written to `{pointer}` is outside of its bounds")
    if kind != "set":
        return
    for other, _ in merged:
        if other.startswith(pointer + "/"):
            raise ObligationConflict(f"`{pointer}` is written as a whole and also at `{other}`")


def _within(value: Json, bound: Constraint) -> bool:
    if not is_number(value) or not is_number(bound.value):
        return False
    return value <= bound.value if bound.kind == "max" else value >= bound.value


def _meaning(limit: Limit) -> tuple[str, float, float, float]:
    return (limit.key, limit.maximum, limit.window_s, limit.amount)


def _common(
    left: tuple[JsonPointer, ...], right: tuple[JsonPointer, ...]
) -> tuple[JsonPointer, ...]:
    pairs = (_meet(a.split("/"), b.split("/")) for a in left for b in right)
    return tuple(dict.fromkeys("/".join(path) for path in pairs if path is not None))


def _meet(left: list[str], right: list[str]) -> list[str] | None:
    """Return the path that lies under both patterns, or None when there is none."""
    shared = min(len(left), len(right))
    met: list[str] = []
    for a, b in zip(left, right, strict=False):
        if a != b and "*" not in (a, b):
            return None
        met.append(b if a == "*" else a)
    return met + left[shared:] + right[shared:]


def _caller(request: PolicyRequest) -> str:
    actor = request.actor
    return " ".join(_escaped(each) for each in (actor.tenant, actor.user, actor.client))


def _escaped(value: str) -> str:
    if value.isalnum():
        return value
    return value.replace("%", "%25").replace("|", "%7C").replace("=", "%3D")


def pointer_of(name: str) -> JsonPointer:
    """Return the pointer that an argument's name, or a pointer itself, stands for."""
    if name.startswith("/"):
        return name
    return "/" + name.replace("~", "~0").replace("/", "~1")


def has_parts(pointer: JsonPointer) -> bool:
    """Say whether a pointer names at least one argument."""
    return any(tokens_of(pointer))

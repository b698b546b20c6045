"""Find guards that nothing meets, by trying runs made from the guards' own words and numbers.

What no sample meets may still be met by a run that nobody thought of; so it is a warning, and
where a field's inside is looked at, or the samples would be too many, nothing is said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from gateway.policy.run_guards import RunGuard
from gateway.types.json import Json
from gateway.types.runs import Collected, Phase, Run, Trust

_TEXT: Final = re.compile(r"""(["'])((?:(?!\1)[^\\])*)\1""")
_NUMBER: Final = re.compile(r"(?<![\w.\"'-])\d+(?:\.\d+)?")
_INSIDE: Final = re.compile(r"fields\.\w+\s*[.\[]|fields\[|\w\([^()]*\bfields\b|\.\w+\(")
_NUMBERED: Final = ("calls", "evidence", "open_ops", "pending_approvals", "tokens")
_BEFORE_WRITES: Final = frozenset({"open_ops", "pending_approvals"})
_MOST: Final = 6000
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Which runs could come to guards: what bounds them, and whether they may have written."""

    most_calls: int | None = None
    most_tokens: int | None = None
    may_have_written: bool = True


def is_met(guards: Sequence[RunGuard], setting: Setting) -> bool:
    """Say whether some run meets all the guards together; True where it can't be told."""
    if any(_INSIDE.search(guard.text.replace("has(", "   (")) for guard in guards):
        return True
    samples = _samples(guards, setting)
    return samples is None or any(all(each.holds(run) for each in guards) for run in samples)


def _samples(guards: Sequence[RunGuard], setting: Setting) -> Iterator[Run] | None:
    text = "\n".join(guard.text for guard in guards)
    fields = sorted(frozenset[str]().union(*(guard.fields for guard in guards)))
    numbers = _numbers(text)
    used = [name for name in _NUMBERED if any(guard.uses(name) for guard in guards)]
    counts = [_bounded(name, numbers, setting) for name in used]
    values = _values(text)
    phases = [*Phase] if any(guard.uses("phase") for guard in guards) else [Phase.RETRIEVING]
    tools = _tools(guards, setting)
    sizes = (*map(len, counts), *(len(values) for _ in fields), len(phases), 2, len(tools))
    if prod(sizes) > _MOST:
        return None
    return (
        _run(dict(zip(used, some, strict=True)), dict(zip(fields, each, strict=True)), *rest)
        for some in product(*counts)
        for each in product(values, repeat=len(fields))
        for rest in product(phases, (False, True), tools)
    )


def _numbers(text: str) -> list[int]:
    found = {int(float(each)) for each in _NUMBER.findall(text)}
    return sorted({0, 1, *(each + step for each in found for step in (-1, 0, 1))})


def _bounded(name: str, numbers: Sequence[int], setting: Setting) -> list[int]:
    if name in _BEFORE_WRITES and not setting.may_have_written:
        return [0]
    most = {"calls": setting.most_calls, "tokens": setting.most_tokens}.get(name)
    return [each for each in numbers if each >= 0 and (most is None or each <= most)]


def _values(text: str) -> list[object]:
    words = {found[1] for found in _TEXT.findall(text)}
    numbers = {
        float(each) + step for each in _NUMBER.findall(text) for step in (-1.0, 0.0, 0.5, 1.0)
    }
    return [_ABSENT, True, False, "x", *sorted(words), 0, *sorted(numbers)]


def _tools(guards: Sequence[RunGuard], setting: Setting) -> list[tuple[str, ...]]:
    """Return which tools may have written: none, each alone, and all that the guards name."""
    if not setting.may_have_written:
        return [()]
    named = {each.tool for guard in guards for each in guard.tools}
    # `"desk.refund" in verified` names one too.
    named |= {found[1] for guard in guards for found in _TEXT.findall(guard.text)}
    return [(), *((tool,) for tool in sorted(named)), tuple(sorted(named))] if named else [()]


def _run(
    counts: dict[str, int],
    fields: dict[str, object],
    phase: Phase,
    is_tainted: bool,
    tools: tuple[str, ...],
) -> Run:
    return Run(
        run_id="run_sample",
        tenant="",
        owner="",
        user="",
        phase=phase,
        is_tainted=is_tainted,
        fields={
            name: Collected(value=_json(value), trust=Trust.HOST, source="host", at=0)
            for name, value in fields.items()
            if value is not _ABSENT
        },
        calls=counts.get("calls", 0),
        tokens=counts.get("tokens", 0),
        evidence=counts.get("evidence", 0),
        open_ops=counts.get("open_ops", 0),
        pending_approvals=counts.get("pending_approvals", 0),
        verified=tools,
        succeeded=tools,
    )


def _json(value: object) -> Json:
    return value if isinstance(value, bool | int | float | str) else None

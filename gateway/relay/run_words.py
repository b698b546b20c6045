"""What models are told of runs: how far one is, what it lacks, and how they come by that.

A model often gets to see the text of an answer alone, so the text says all that it needs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.runs import moves
from gateway.runs.guards import unmet
from gateway.runs.handover import Given
from gateway.runs.templates import WRITING, Template
from gateway.types.runs import SPEAKERS, Phase, Run

_GOES_ON: Final = (Phase.RETRIEVING, Phase.ACTING, Phase.FINALIZING, Phase.COMPLETED)
_FIELD: Final = re.compile(r"fields\.([A-Za-z_][A-Za-z0-9_]*)")
_DONE: Final = re.compile(r"(verified|succeeded)\(([^()]+)\)")
_LONGEST: Final = 200  # characters of one value; `fields` of the structure has all of it
_MOST_TEMPLATES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bringers:
    """Which tools bring what a run lacks, for one caller."""

    of_types: Callable[[Sequence[str]], Sequence[str]]
    of_evidence: Callable[[], Sequence[str]]


def missing(run: Run, template: Template | None) -> dict[str, tuple[str, ...]]:
    """Return by phase that still lies ahead which of its guards don't hold."""
    if template is None or run.phase.is_final:
        return {}
    # What people decide meanwhile leads back to where the run came from.
    at = run.resume_phase or Phase.ACTING if run.phase is Phase.AWAITING_APPROVAL else run.phase
    ahead = _GOES_ON[_GOES_ON.index(at) + 1 :] if at in _GOES_ON else _GOES_ON
    lacks = {str(phase): unmet(template.guards(phase), run) for phase in ahead}
    return {phase: texts for phase, texts in lacks.items() if texts}


def ways(
    run: Run, lacks: Mapping[str, Sequence[str]], template: Template | None, bring: Bringers
) -> dict[str, str]:
    """Return how a model comes by what is missing, by the text of the guard; where it can."""
    texts = dict.fromkeys(text for each in lacks.values() for text in each)
    found = {text: _way(text, template, bring) or _deed(run, text) for text in texts}
    return {text: way for text, way in found.items() if way}


def stands(
    run: Run,
    fields: Sequence[Given],
    lacks: Mapping[str, Sequence[str]],
    how: Mapping[str, str],
) -> str:
    """Say how far a run is, what it knows, what it waits for, and what it lacks."""
    parts = [_of_end(run)] if run.phase.is_final else []
    if run.is_paused:
        why = f" ({run.note})" if run.note else ""
        parts.append(f"It is paused{why}: a person or the host has to resume it.")
    if fields:
        parts.append(f"Collected: {', '.join(map(_known, fields))}.")
    if not run.phase.is_final:
        parts += [f"{each[:1].upper()}{each[1:]}." for each in moves.left_open(run)]
    needs = [f"{phase} needs {', '.join(texts)}" for phase, texts in lacks.items()]
    parts += [f"{'; '.join(needs)}."] if needs else []
    parts += [f"For `{text}` {way}." for text, way in how.items()]
    return " ".join(parts)


def offered(templates: Mapping[str, Template]) -> str:
    """Name the kinds of work that there are, each with what it is for; empty without any."""
    named = [
        f"`{name}`" + (f" ({each.objective[:_LONGEST]})" if each.objective else "")
        for name, each in sorted(templates.items())[:_MOST_TEMPLATES]
    ]
    more = len(templates) - len(named)
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


def look_up(bringers: Sequence[str], then: str) -> str:
    """Say by what a value is looked up, and what to do then."""
    by = f"with {_either(bringers)}" if bringers else "with a tool"
    return f"look it up {by} first, then {then} with what that returned"


def _way(text: str, template: Template | None, bring: Bringers) -> str:
    named = _FIELD.fullmatch(text)
    rule = template.fields.get(named[1]) if named and template is not None else None
    if named and rule is not None:
        types = [each for each in rule.sources if each not in SPEAKERS]
        if types:
            return look_up(bring.of_types(types), "call `run_set_field`")
        if rule.sources and "model" not in rule.sources:
            return "ask the user: the host sets it"
        return "call `run_set_field`"
    if text.startswith("evidence ") and (tools := bring.of_evidence()):
        return f"read with {_either(tools)}"
    return ""


def _deed(run: Run, text: str) -> str:
    """Say what has to be done, to who may do it by now and might think that it is."""
    done = _DONE.fullmatch(text)
    if done is None or run.phase not in WRITING:
        return ""
    checked = ", and what it did has to be found" if done[1] == "verified" else ""
    return f"call `{done[2]}` in this run{checked}; an answer that is told once more is no call"


def _either(names: Sequence[str]) -> str:
    return " or ".join(f"`{each}`" for each in names)


def _known(given: Given) -> str:
    if given.is_withheld:
        return f"`{given.name}` (withheld)"
    text = jsontext.dump(given.value).decode()
    return f"`{given.name}` = {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"


def _of_end(run: Run) -> str:
    why = f" ({run.note})" if run.note else ""
    then = moves.over(run).next
    return f"It is over{why}: {then}."

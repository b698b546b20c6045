"""The guards of a run of which not all is known."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from gateway.case import Case
from gateway.replay.oracle import Oracle
from gateway.replay.then import Then
from gateway.replay.types import Gone, Missing, Recorded
from gateway.revision import Revision
from gateway.runs import guards
from gateway.runs.templates import Guard, Template
from gateway.types.json import JsonPointer
from gateway.types.outcomes import Status
from gateway.types.runs import Phase, Run
from gateway.types.tools import Effect
from gateway.types.values import value

_COUNTS: Final = frozenset({"open_ops", "pending_approvals", "verified", "succeeded"})
_WORD: Final = re.compile(r"\w+")


def guarded(
    case: Case,
    call: Recorded,
    then: Then | None,
    fields: Mapping[str, tuple[JsonPointer, ...]],
    oracle: Oracle,
) -> Revision:
    """Return a revision whose guards answer as then, or as the oracle has it, where they must."""
    run = case.run
    template = case.revision.templates.get(run.template) if run is not None else None
    if run is None or template is None:
        return case.revision
    unknown = {*fields, *(_COUNTS if _are_uncounted(case, then) else ())}
    if not unknown:
        return case.revision
    asking = _Asking(call=call, then=then, run=run, unknown=unknown, oracle=oracle)
    if not any(asking.is_unsure(each) for some in template.enter_when.values() for each in some):
        return case.revision
    enter_when = {
        phase: tuple(asking.guard(each, phase) for each in some)
        for phase, some in template.enter_when.items()
    }
    templates = {**case.revision.templates, template.name: replace(template, enter_when=enter_when)}
    return case.revision.swapped(templates=templates)


def _are_uncounted(case: Case, then: Then | None) -> bool:
    """Whether a call that may write now was none then, so that nothing was counted for it."""
    may_write = case.contract.effect is not Effect.READ or bool(case.contract.raises)
    return may_write and then is not None and not then.has_counted


@value
class _Asking:
    call: Recorded
    then: Then | None
    run: Run
    unknown: Collection[str]
    oracle: Oracle

    def is_unsure(self, guard: Guard) -> bool:
        """Whether a guard reads what is unknown; that a field is there is known."""
        words = _words(guard.text)
        return any(
            each in words and guard.text.strip() != f"fields.{each}" for each in self.unknown
        )

    def guard(self, guard: Guard, phase: Phase) -> Guard:
        """Return a guard of a phase that can answer."""
        return (
            replace(guard, holds=partial(self._holds, guard, phase))
            if self.is_unsure(guard)
            else guard
        )

    def _holds(self, guard: Guard, phase: Phase, run: Run) -> bool:
        del run
        known = self._was(guard, phase)
        if known is not None:
            return known
        words = _words(guard.text)
        missing = [
            Missing(
                place=f"run.fields.{each}" if each not in _COUNTS else f"run.{each}",
                why=Gone.REDACTED if each not in _COUNTS else Gone.NOT_ASKED,
                readers=(f"runs.{self.run.template}",),
            )
            for each in self.unknown
            if each in words
        ]
        return self.oracle.ask(("guard", guard.text), (True, False), missing)

    def _was(self, guard: Guard, phase: Phase) -> bool | None:
        """Return whether the same guard held then, as far as what became of the call tells."""
        before = self._template()
        if before is None:
            return None
        same = [each for each in before.guards(phase) if each.text == guard.text]
        if not same:
            return None
        judged = self.call.judged
        was_blocked = judged.status is Status.PHASE_BLOCKED
        if judged.phase == phase and self.run.phase is not phase and not was_blocked:
            return True  # it was let in
        others = [each for each in before.guards(phase) if each.text != guard.text]
        is_blocked = was_blocked and f"`{phase}`" in judged.reason
        if not is_blocked or any(map(self.is_unsure, others)):
            return None
        return False if not guards.unmet(others, self.run) else None

    def _template(self) -> Template | None:
        then = self.then
        return then.revision.templates.get(self.run.template) if then is not None else None


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))

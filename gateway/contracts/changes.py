"""What differs between two contracts of one tool, field by field, and which way it goes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from gateway.contracts import diff
from gateway.types.leans import Lean
from gateway.types.tools import Contract, Effect, OnFail, ProvenanceRule, Risk

_WEIGHT: Final = {OnFail.LOG: 0, OnFail.APPROVE: 1, OnFail.DENY: 2}
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """One field of one tool's contract; a place is `file:line`, empty where there is none."""

    tool: str  # `server.name`
    what: str
    lean: Lean
    before: str = ""  # place
    after: str = ""


Told: TypeAlias = Iterator[tuple[str, Lean]]
_Both: TypeAlias = Callable[[Contract, Contract], Told]


def changes(
    before: Mapping[str, Contract], after: Mapping[str, Contract]
) -> tuple[ContractChange, ...]:
    """Compare the contracts of all tools; wider changes come first, then by tool."""
    found = [
        ContractChange(
            tool=tool,
            what=what,
            lean=lean,
            before=old.place if (old := before.get(tool)) is not None else "",
            after=new.place if (new := after.get(tool)) is not None else "",
        )
        for tool in sorted({*before, *after})
        for what, lean in _told(before.get(tool), after.get(tool))
    ]
    order = [*Lean]
    return tuple(sorted(found, key=lambda each: (order.index(each.lean), each.tool)))


def _told(before: Contract | None, after: Contract | None) -> Told:
    if before is None or after is None:
        # What that lets through is for the rules to say.
        yield ("has a contract now" if before is None else "has no contract any more"), Lean.OTHER
        return
    for name in _NAMES:
        if getattr(before, name) != getattr(after, name):
            telling = _TELLING.get(name)
            if telling is None:
                yield f"`{name}` is another one", Lean.OTHER
            else:
                yield from telling(before, after)


def _effect(before: Contract, after: Contract) -> Told:
    yield f"effect: {before.effect} → {after.effect}", _lower(before.effect, after.effect)


def _risk(before: Contract, after: Contract) -> Told:
    yield f"risk: {before.risk} → {after.risk}", _lower(before.risk, after.risk)


def _lower(before: Effect | Risk, after: Effect | Risk) -> Lean:
    return Lean.WIDER if after.rank < before.rank else Lean.NARROWER


def _definition(before: Contract, after: Contract) -> Told:
    found = diff.diff(before.definition, after.definition)
    named = ", ".join(f"`{change.pointer}`" for change in found[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    yield f"another definition is reviewed: {named}{more}", Lean.OTHER


def _pin(before: Contract, after: Contract) -> Told:
    if before.definition == after.definition:  # else that is told
        yield "another pin", Lean.OTHER


def _reviewed(before: Contract, after: Contract) -> Told:
    del before
    yield (
        ("reviewed: yes", Lean.WIDER)
        if after.reviewed
        else ("reviewed: not any more", Lean.NARROWER)
    )


def _scopes(before: Contract, after: Contract) -> Told:
    yield from _needed("scope", before.scopes, after.scopes)


def _needed(word: str, before: Collection[str], after: Collection[str]) -> Told:
    for name in sorted({*before} - {*after}):
        yield f"{word} `{name}` is not needed any more", Lean.WIDER
    for name in sorted({*after} - {*before}):
        yield f"{word} `{name}` is needed too", Lean.NARROWER


def _raises(before: Contract, after: Contract) -> Told:
    old, new = (
        {each.when: each for each in before.raises},
        {each.when: each for each in after.raises},
    )
    for when in dict.fromkeys((*old, *new)):
        was, now = old.get(when), new.get(when)
        if now is None:
            yield f"calls with `{_cut(when)}` are not raised any more", Lean.WIDER
        elif was is None:
            yield f"calls with `{_cut(when)}` are raised", Lean.NARROWER
        elif (was.risk, was.effect) != (now.risk, now.effect):
            yield f"calls with `{_cut(when)}` are raised to another class", Lean.OTHER


def _sensitive(name: str) -> _Both:
    def told(before: Contract, after: Contract) -> Told:
        old, new = getattr(before, name), getattr(after, name)
        where = "argument" if name == "sensitive" else "result"
        for pointer in sorted({*old, *new}):
            was, now = old.get(pointer), new.get(pointer)
            if was != now:
                lean = Lean.WIDER if now is None else Lean.NARROWER if was is None else Lean.OTHER
                yield (
                    f"{where} `{pointer}`: {was or 'not sensitive'} → {now or 'not sensitive'}",
                    lean,
                )

    return told


def _provenance(before: Contract, after: Contract) -> Told:
    old = {each.pointer: each for each in before.provenance}
    new = {each.pointer: each for each in after.provenance}
    for pointer in dict.fromkeys((*old, *new)):
        was, now = old.get(pointer), new.get(pointer)
        if now is None:
            yield f"`{pointer}` may come from anywhere", Lean.WIDER
        elif was is None:
            yield f"`{pointer}` has to come from {_sources(now)}", Lean.NARROWER
        elif was != now:
            yield from _origin(pointer, was, now)


def _origin(pointer: str, was: ProvenanceRule, now: ProvenanceRule) -> Told:
    if was.on_fail is not now.on_fail:
        lean = Lean.WIDER if _WEIGHT[now.on_fail] < _WEIGHT[was.on_fail] else Lean.NARROWER
        yield f"`{pointer}` from elsewhere: {was.on_fail} → {now.on_fail}", lean
    if was.trust_min is not now.trust_min:
        lean = Lean.WIDER if now.trust_min.rank > was.trust_min.rank else Lean.NARROWER
        yield f"origins of `{pointer}`: {was.trust_min} → {now.trust_min}", lean
    if was.sources != now.sources:
        more, fewer = {*now.sources} - {*was.sources}, {*was.sources} - {*now.sources}
        lean = Lean.OTHER if more and fewer else Lean.WIDER if more else Lean.NARROWER
        yield f"`{pointer}` from {_sources(was)} → {_sources(now)}", lean
    if (was.same_record_as, was.max_of) != (now.same_record_as, now.max_of):
        yield f"what else is asked of the origin of `{pointer}`", Lean.OTHER


def _sources(rule: ProvenanceRule) -> str:
    named = [f"{each.kind}({', '.join(each.operands)})" for each in rule.sources]
    return f"`{_cut(' or '.join(named))}`"


def _ensure(before: Contract, after: Contract) -> Told:
    old, new = {each.when for each in before.ensure}, {each.when for each in after.ensure}
    for when in sorted(old - new):
        yield f"the outcome need not meet `{_cut(when)}` any more", Lean.WIDER
    for when in sorted(new - old):
        yield f"the outcome has to meet `{_cut(when)}`", Lean.NARROWER


def _flag(name: str, words: str) -> _Both:
    """Tell of a flag that lets more through when it is set."""

    def told(before: Contract, after: Contract) -> Told:
        del before
        is_set = bool(getattr(after, name))
        yield f"{words}: {'yes' if is_set else 'no'}", Lean.WIDER if is_set else Lean.NARROWER

    return told


def _dropped(name: str, words: str) -> _Both:
    """Tell of a safeguard that is there or not, or another one."""

    def told(before: Contract, after: Contract) -> Told:
        was, now = getattr(before, name), getattr(after, name)
        if now is None:
            yield f"{words}: none any more", Lean.WIDER
        elif was is None:
            yield f"{words}: there is one now", Lean.NARROWER
        else:
            yield f"{words}: another one", Lean.OTHER

    return told


def _trust(before: Contract, after: Contract) -> Told:
    lean = Lean.WIDER if after.result_trust.rank < before.result_trust.rank else Lean.NARROWER
    yield f"trust in results: {before.result_trust} → {after.result_trust}", lean


def _idempotency(before: Contract, after: Contract) -> Told:
    old, new = before.idempotency, after.idempotency
    named = [
        each.name for each in fields(old) if getattr(old, each.name) != getattr(new, each.name)
    ]
    yield f"idempotency: {', '.join(f'`{name}`' for name in named)}", Lean.OTHER


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


_TELLING: Final[Mapping[str, _Both]] = {
    "effect": _effect,
    "risk": _risk,
    "definition": _definition,
    "pin": _pin,
    "reviewed": _reviewed,
    "scopes": _scopes,
    "raises": _raises,
    "sensitive": _sensitive("sensitive"),
    "sensitive_results": _sensitive("sensitive_results"),
    "provenance": _provenance,
    "ensure": _ensure,
    "trusted_text": _flag("trusted_text", "texts of results count as trusted"),
    "lenient_output": _flag("lenient_output", "results that miss their schema pass"),
    "result_trust": _trust,
    "when_tainted": _dropped("when_tainted", "what holds calls of tainted runs"),
    "readback": _dropped("readback", "what reads a write back"),
    "checksum": _dropped("checksum", "the checksum of a write"),
    "compensation": _dropped("compensation", "the way back"),
    "idempotency": _idempotency,
}
_NAMES: Final[Sequence[str]] = tuple(
    each.name for each in fields(Contract) if each.name not in ("tool", "place")
)

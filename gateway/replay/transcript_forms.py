"""A transcript beside a run, in the forms that people and programs read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as Xml

from gateway.replay import text
from gateway.replay.junit import xml
from gateway.replay.report import Wanted, said
from gateway.replay.tally import effect, speaker
from gateway.replay.transcribing import Kind, Step, Transcribed
from gateway.replay.types import Judgement, Missing
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer

VERSION: Final = 1  # of the JSON; members are only ever added
_SIGNS: Final[Mapping[Kind, str]] = {
    Kind.SAME: " ",
    Kind.CHANGED: "~",
    Kind.MOVED: "↕",
    Kind.ADDED: "+",
    Kind.DROPPED: "-",
}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOM: Final = [*DecisionEffect]  # from what lets least through to what lets most


def wants(step: Step, wanted: Wanted) -> bool:
    """Whether a pipeline of changes would have to be stopped over a step."""
    before, after = step.before, step.after
    match wanted:
        case Wanted.CHANGED:
            return step.kind is not Kind.SAME
        case Wanted.UNDECIDABLE:
            return step.is_undecidable
        case Wanted.REFUSED_CALLS:
            return step.number > 0 and step.is_refused
        case Wanted.GRANTS_MORE | Wanted.GRANTS_LESS:
            if before is None or after is None:
                return False
            more = _ROOM.index(after.effect) - _ROOM.index(before.effect)
            return more > 0 if wanted is Wanted.GRANTS_MORE else more < 0
        case Wanted.INVALID_ARGUMENTS:
            return after is not None and after.status == "invalid_arguments"
        case Wanted.SCHEMA_BREAKS:
            return False


def has(found: Transcribed, wanted: Wanted) -> bool:
    """Whether there is such a step."""
    return any(wants(each, wanted) for each in found.steps)


def lines(found: Transcribed) -> Iterator[str]:
    """Yield the lines of a comparison; names from outside are as they are."""
    counts = ", ".join(f"{len(found.of(kind)):,} {kind}" for kind in Kind)
    yield f"Transcript beside {found.run} of {found.tenant}, by {text.short(found.revision)}"
    yield f"{text.counted(found.proposed, 'call')}, {found.recorded:,} recorded: {counts}"
    refused = sum(each.number > 0 and each.is_refused for each in found.steps)
    unsure = sum(each.is_undecidable for each in found.steps)
    yield f"{refused:,} would be refused, of {unsure:,} nobody can know"
    if found.own:
        yield f"left out: {text.counted(found.own, 'call')} of the gateway's own tools"
    yield ""
    for each in found.steps:
        yield from _step(each)


def _step(step: Step) -> Iterator[str]:
    number = f"{step.number:>3}" if step.number else "   "
    yield f"{_SIGNS[step.kind]} {number}  {step.tool}  {_verdicts(step)}"
    if step.differs:
        yield f"         differs at {_places(step.differs)}"
    if step.unsure:
        yield f"         may differ at {_places(step.unsure)}, which the log does not hold"
    if step.after is not None and step.after.reason and step.is_refused:
        yield f"         {step.after.reason}"
    if step.is_undecidable:
        yield f"         needs {', '.join(map(_needs, step.missing)) or 'more than is kept'}"
    if step.recorded:
        yield f"         recorded: {step.recorded}, event {step.seq:,}"


def _places(places: Iterable[JsonPointer]) -> str:
    return ", ".join(each or "/" for each in places)


def _verdicts(step: Step) -> str:
    before = _verdict(step.before)
    if step.kind is Kind.DROPPED:
        return f"not made any more; it was {before}"
    if step.after is None:
        certain = f", whatever it was: {step.certain}" if step.certain is not None else ""
        after = f"undecidable{certain}"
    else:
        after = _verdict(step.after)
    return after if not before or before == after else f"{before} → {after}"


def _verdict(judged: Judgement | None) -> str:
    if judged is None:
        return ""
    by = speaker(judged)
    what = said(effect(judged))
    return f"{what} ({by})" if by else what


def _needs(missing: Missing) -> str:
    readers = f" for {', '.join(missing.readers)}" if missing.readers else ""
    return f"{missing.place} ({missing.told}){readers}"


def as_json(found: Transcribed) -> JsonObject:
    """Return a comparison for programs."""
    return {
        "v": VERSION,
        "run": found.run,
        "tenant": found.tenant,
        "revision": found.revision,
        "recorded": found.recorded,
        "proposed": found.proposed,
        "own_tools": found.own,
        "counts": {str(kind): len(found.of(kind)) for kind in Kind},
        "refused": sum(each.number > 0 and each.is_refused for each in found.steps),
        "undecidable": sum(each.is_undecidable for each in found.steps),
        "steps": [_json(each) for each in found.steps],
    }


def _json(step: Step) -> JsonObject:
    missing: list[Json] = [
        {"place": each.place, "why": each.told, "readers": list(each.readers)}
        for each in step.missing
    ]
    return {
        "kind": str(step.kind),
        "tool": step.tool,
        "number": step.number or None,
        "recorded": step.recorded or None,
        "seq": step.seq or None,
        "differs": list(step.differs),
        "unsure": list(step.unsure),
        "before": _judged(step.before),
        "after": _judged(step.after),
        "missing": missing,
        "certain": str(step.certain) if step.certain is not None else None,
    }


def _judged(judged: Judgement | None) -> Json:
    if judged is None:
        return None
    return {
        "decision": effect(judged),
        "status": str(judged.status),
        "rule": judged.rule,
        "code": judged.code,
        "reason": judged.reason,
        "place": judged.place,
    }


def junit(found: Transcribed, *, fail_on: Collection[Wanted]) -> str:
    """Render it as JUnit XML, a case for each call; what `fail_on` names is a failure."""
    failing = [any(wants(step, wanted) for wanted in fail_on) for step in found.steps]
    counts = {"tests": str(len(failing)), "failures": str(sum(failing)), "errors": "0"}
    root = Xml.Element("testsuite", {"name": "transcript", **counts})
    for step, fails in zip(found.steps, failing, strict=True):
        number = f"{step.number}: " if step.number else ""
        named = {"classname": f"transcript.{step.kind}", "name": xml(f"{number}{step.tool}")}
        case = Xml.SubElement(root, "testcase", named)
        if fails:
            told = xml("\n".join(each.strip() for each in _step(step)))
            Xml.SubElement(case, "failure", {"message": xml(_verdicts(step))}).text = told
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def sarif(found: Transcribed, *, version: str) -> JsonObject:
    """Return a SARIF run with a result for each call that is not the same, or would be refused."""
    kinds = [*(kind for kind in Kind if kind is not Kind.SAME), "refused", "undecidable"]
    rules: list[Json] = [{"id": f"{kind}-call"} for kind in kinds]
    results: list[Json] = [found for step in found.steps for found in _results(step)]
    driver: JsonObject = {"name": "weighbridge replay", "version": version, "rules": rules}
    run: JsonObject = {"tool": {"driver": driver}, "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(step: Step) -> Iterator[JsonObject]:
    said = f"{step.tool}: {_verdicts(step)}"
    at = step.after.place if step.after is not None else ""
    file, _, line = at.rpartition(":")
    region: JsonObject = {"startLine": int(line)} if line.isdecimal() else {}
    physical: JsonObject = {"artifactLocation": {"uri": file}, "region": region}
    locations: JsonObject = {"locations": [{"physicalLocation": physical}]} if region else {}
    if step.kind is not Kind.SAME:
        where = f"call {step.number} of the transcript" if step.number else step.recorded
        yield _result(f"{step.kind}-call", "note", f"{said}; {where}")
    if step.number and step.is_refused:
        yield {**_result("refused-call", "warning", said), **locations}
    elif step.is_undecidable:
        yield _result("undecidable-call", "note", said)


def _result(id: str, level: str, message: str) -> JsonObject:
    return {"ruleId": id, "level": level, "message": {"text": message}}

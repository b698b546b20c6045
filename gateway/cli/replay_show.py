"""`weighbridge replay show`: one past call, as it was judged and as it would be, line by line."""

from collections.abc import Iterator
from pathlib import Path

import click

from gateway import jsontext
from gateway.cli import disclosing, opening, output, pastime, sealed
from gateway.cli.flags import candidate_options
from gateway.cli.options import config_option, json_option
from gateway.replay import history
from gateway.replay.replaying import Replay
from gateway.replay.tally import effect
from gateway.replay.types import Compared, Grade, Judgement, Missing, Recorded
from gateway.revision import Revision
from gateway.types.json import Json, JsonObject
from gateway.types.values import replaced

_NONE = "–"
_WIDEST = 44


@click.command("show", epilog="Example: weighbridge replay show call_01JC... --policies ./policies")
@click.argument("call")
@config_option
@candidate_options
@click.option(
    "--unsealed", is_flag=True, help="Show arguments as they were, where they are sealed."
)
@json_option
def command(
    call: str,
    path: Path,
    policies: Path | None,
    contracts: Path | None,
    named: str,
    unsealed: bool,
    as_json: bool,
) -> None:
    """Say how one past call was judged and how it would be, with the first difference marked."""
    candidate = pastime.candidate(path, policies, contracts, named)
    found = opening.run(lambda: _found(path, candidate, call))
    if found is None:
        output.fail(f"the log has no judged call `{call}`; `events query` lists calls")
    if unsealed:
        found = replaced(found, recorded=replaced(found.recorded, shown=None))
    if as_json:
        output.as_json(_to_json(found))
        return
    for each in _lines(found):
        output.one_line(each)


async def _found(path: Path, candidate: Revision, call: str) -> Compared | None:
    async with opening.opened(path) as store:
        unsealing = sealed.opener(store, path)
        recorded = await history.call(store.events, call, unsealing)
        if recorded is None:
            return None
        asked: JsonObject = {"call": call}
        await disclosing.told(store, "replay show", asked, tenant=recorded.tenant)
        await sealed.noted(store, unsealing, "replay show", asked, tenant=recorded.tenant)
        replay = Replay(
            candidate=candidate,
            past=pastime.past(store, path),
            definitions=await store.definitions.all(),
        )
        return await replay.compared(recorded)


def _lines(found: Compared) -> Iterator[str]:
    call = found.recorded
    yield f"{call.call}: {call.tool} by {call.actor.user} of {call.tenant}, {call.at:%F %T} UTC"
    if call.run:
        yield f"in {call.run}"
    yield f"arguments: {jsontext.dump(call.seen).decode()}"
    yield ""
    if found.after is None:
        needs = ", ".join(map(_needs, found.missing)) or "more is needed than is kept"
        yield f"undecidable: {needs}"
        if found.certain is not None:
            yield f"whatever it was, the call would be: {found.certain}"
        yield from (f"  {name:<12}  {value}" for name, value in _sides(found.before))
        return
    yield "the same" if found.grade is Grade.SAME else f"changed: {', '.join(found.why)}"
    then = f"then ({_short(call.revision)})"
    yield f"    {'':<12}  {then:<{_WIDEST}}  now"
    first = True
    for (name, before), (_, after) in zip(_sides(found.before), _sides(found.after), strict=True):
        if before == after == _NONE:
            continue
        mark = " " if before == after else "→" if first else "≠"
        first = first and before == after
        yield f"  {mark} {name:<12}  {before:<{_WIDEST}}  {after}"
    if found.after.place:
        yield f"    {'place':<12}  {found.before.place:<{_WIDEST}}  {found.after.place}"


def _sides(judged: Judgement) -> Iterator[tuple[str, str]]:
    """Yield the lines of one judgement; every judgement has the same names in the same order."""
    yield "decision", effect(judged)
    yield "by", judged.rule or judged.code or _NONE
    yield "code", judged.code or _NONE
    yield "reason", judged.reason or _NONE
    yield "rules held", ", ".join(judged.matched) or _NONE
    yield "class", f"{judged.does} {judged.risk}" if judged.does and judged.risk else _NONE
    yield "phase", judged.phase or _NONE
    yield "people", judged.people or _NONE
    yield "constraints", _joined(f"{each.kind} {each.pointer}" for each in judged.constraints)
    yield "limits", _joined(f"{each.id} takes {_number(each.amount)}" for each in judged.limits)
    yield "no room in", judged.exceeded or _NONE
    yield "keeps", _joined(judged.keep)
    yield "redacts", _joined(f"{path} as {form}" for path, form in judged.redact.items())
    yield "rows", _joined(each.where for each in judged.rows)


def _joined(texts: Iterator[str] | tuple[str, ...]) -> str:
    return ", ".join(texts) or _NONE


def _number(amount: float | None) -> str:
    return "?" if amount is None else f"{amount:g}"


def _needs(missing: Missing) -> str:
    readers = f" for {', '.join(missing.readers)}" if missing.readers else ""
    return f"{missing.place} ({missing.told}){readers}"


def _short(revision: str) -> str:
    return revision.removeprefix("sha256:")[:12]


def _to_json(found: Compared) -> JsonObject:
    missing: Json = [
        {"place": each.place, "why": str(each.why), "readers": list(each.readers)}
        for each in found.missing
    ]
    return {
        **_of_call(found.recorded),
        "grade": str(found.grade),
        "why": [str(each) for each in found.why],
        "grants": str(found.grants),
        "before": dict(_sides(found.before)),
        "after": dict(_sides(found.after)) if found.after is not None else None,
        "missing": missing,
        "certain": str(found.certain) if found.certain is not None else None,
        "self_check": found.is_faithful,
    }


def _of_call(call: Recorded) -> JsonObject:
    return {
        "call": call.call,
        "run": call.run,
        "seq": call.seq,
        "at": call.at.isoformat(),
        "tenant": call.tenant,
        "user": call.actor.user,
        "tool": call.tool,
        "arguments": call.seen,
        "revision": call.revision,
    }

"""`weighbridge replay show`: one past call, as it was judged and as it would be, line by line."""

from collections.abc import Iterator
from pathlib import Path

import click

from gateway import jsontext
from gateway.cli import disclosing, opening, output, pastime, sealed
from gateway.cli.flags import candidate_options
from gateway.cli.options import config_option, json_option
from gateway.replay import history, report, sides
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared, Grade, Judgement, Missing, Recorded
from gateway.revision import Revision
from gateway.types.json import Json, JsonObject
from gateway.types.values import replaced

_WIDEST = 44
_MARKS = {"same": " ", "first": "→", "more": "≠"}


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
    for each in lines(found):
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


def lines(found: Compared) -> Iterator[str]:
    """Yield what a terminal shows of a call; names from outside are as they are."""
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
        for each in sides.beside(found.before, None):
            yield f"  {each.name:<12}  {_said(each.name, each.before)}"
        return
    yield "the same" if found.grade is Grade.SAME else f"changed: {', '.join(found.why)}"
    then = f"then ({_short(call.revision)})"
    yield f"    {'':<12}  {then:<{_WIDEST}}  now"
    for each in sides.beside(found.before, found.after):
        before, after = _said(each.name, each.before), _said(each.name, each.after)
        yield f"  {_MARKS[each.change]} {each.name:<12}  {before:<{_WIDEST}}  {after}"


def _said(name: str, text: str) -> str:
    return report.said(text) if name == "decision" else text


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
        "before": _texts(found.before),
        "after": _texts(found.after) if found.after is not None else None,
        "missing": missing,
        "certain": str(found.certain) if found.certain is not None else None,
        "self_check": found.is_faithful,
    }


def _texts(judged: Judgement) -> JsonObject:
    return {each.name: each.text for each in sides.lines(judged)}


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

"""`weighbridge policy test --record`: a recorded call or run becomes tests of the policy."""

from pathlib import Path

import click

from gateway.actions import promotion
from gateway.cli import disclosing, opening, output
from gateway.cli.ledger import run
from gateway.cli.pasts import Span, pasts
from gateway.policy.past import Past
from gateway.policy.promoting import Promoted
from gateway.policy.suggesting import counted
from gateway.results import marks
from gateway.revision import Revision


def record(id: str, path: Path, revision: Revision, out: Path | None) -> None:
    """Write the calls of a run, or one call, as tests; ends the command when none can be one."""
    if out is not None and out.exists():
        output.fail(f"`{out}` is there already; name a file that isn't")
    found = run(lambda: _found(id, path))
    if not found:
        output.fail(f"the log has no judged call and no run `{id}`")
    of = f"call {id}" if len(found) == 1 and found[0].call == id else f"run {id}"
    promoted = promotion.promote(found, revision, of=of)
    kept = [each for each in promoted if not each.fault]
    _tell(promoted)
    if not kept:
        output.fail("nothing of it can be a test", output.EXIT_FAILED)
    text = promotion.text(promoted, revision, of=of)
    if out is None:
        click.echo(text, nl=False)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    output.line(f"{len(kept)} of {counted(len(promoted), 'call')} can be tested by {out}")


async def _found(id: str, path: Path) -> list[Past]:
    async with opening.opened(path) as store:
        await disclosing.told(store, "policy test --record", {"record": id})
        of_call = [each async for each in pasts(store.events, Span(call=id))]
        return of_call or [each async for each in pasts(store.events, Span(run=id))]


def _tell(promoted: tuple[Promoted, ...]) -> None:
    for each in promoted:
        if each.fault:
            said = f"{each.past.call} is no test: {each.fault}"
            click.echo(marks.visible(f"weighbridge: {said}"), err=True)

"""`weighbridge approvals`: calls that wait for a person's decision, and deciding about them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from gateway.actions import approvals
from gateway.approvals import lines
from gateway.approvals.lines import Row
from gateway.approvals.matching import same_person
from gateway.cli import output, sheet
from gateway.cli.ledger import opened, run
from gateway.cli.moments import age, earlier, left
from gateway.cli.options import config_option, json_option
from gateway.crossing.showing import shown
from gateway.store.approvals import ApprovalFilter
from gateway.types.approvals import Approval, ApprovalState, Choice, Vote
from gateway.types.json import JsonObject

_HEADERS: Final = (
    "request",
    "state",
    "tool",
    "asked by",
    "risk",
    "rule",
    "age",
    "left",
    "still",
    "decided by",
)
_DECIDED: Final = {
    ApprovalState.APPROVED: Choice.APPROVE,
    ApprovalState.CONSUMED: Choice.APPROVE,
    ApprovalState.DENIED: Choice.DENY,
}
_JUDGED: Final = frozenset({ApprovalState.PENDING, *_DECIDED})


@click.command("list", epilog="Example: weighbridge approvals list --tenant acme")
@config_option
@click.option(
    "--state",
    type=click.Choice(["open", "all", *(state.value for state in ApprovalState)]),
    default="open",
    show_default=True,
    help="`open`: what can still come to be used.",
)
@click.option("--tenant", default="")
@click.option("--user", default="", help="Who asked.")
@click.option("--tool", default="", help="As in contracts: server.name.")
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (1h).")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
@json_option
def list_approvals(
    path: Path,
    state: str,
    tenant: str,
    user: str,
    tool: str,
    since: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show requests, the newest first.

    Without `--state`, those that can still come to be used.
    """
    wanted = ApprovalFilter(
        state="" if state in ("open", "all") else state,
        is_open=state == "open",
        tenant=tenant,
        user=user,
        tool=tool,
        since=earlier(since),
        limit=limit,
    )

    async def find() -> tuple[list[Approval], Mapping[str, list[Vote]]]:
        async with opened(path) as ledger:
            table = ledger.store.approvals
            found = await table.find(wanted)
            judged = [each for each in found if each.state in _JUDGED]
            votes = {each.approval_id: await table.votes(each.approval_id) for each in judged}
            return found, votes

    found, votes = run(find)
    if as_json:
        output.as_json([approvals.as_json(each) for each in found])
        return
    output.table(_HEADERS, [_row(each, votes.get(each.approval_id, ())) for each in found])
    waiting = sum(each.state is ApprovalState.PENDING for each in found)
    click.echo(_tally(len(found), waiting))
    if len(found) == limit:
        click.echo(f"(the first {limit}; --limit gives more)", err=True)


@click.command("show", epilog="Example: weighbridge approvals show apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V")
@click.argument("approval_id", metavar="REQUEST")
@config_option
@click.option("--full", is_flag=True, help="Long values to their ends.")
@json_option
def show(approval_id: str, path: Path, full: bool, as_json: bool) -> None:
    """Show one request whole.

    The call as approvers see it, who decides and who has, until when, and its binding.
    """

    async def read() -> tuple[Approval, list[Vote], Sequence[Row]]:
        async with opened(path) as ledger:
            approval = await approvals.named(ledger.store.approvals, approval_id)
            votes = await ledger.store.approvals.votes(approval.approval_id)
            return approval, votes, lines.rows(shown(approval, ledger.vault))

    approval, votes, rows = run(read)
    if as_json:
        output.as_json(_whole(approval, votes, rows))
        return
    sheet.show_rows(rows, whole=full)
    sheet.show_standing(approval, votes, approvals.lacks(approval, votes))
    if approval.state is ApprovalState.PENDING:
        click.echo(f"\nnext: `weighbridge approvals approve {approval.approval_id}`, or `deny`")


def _row(approval: Approval, votes: Sequence[Vote]) -> tuple[str, ...]:
    is_waiting = approval.state is ApprovalState.PENDING
    until = approval.decide_by if is_waiting else approval.use_by
    still = sum(count for _, count in approvals.lacks(approval, votes))
    return (
        approval.approval_id,
        approval.state.value,
        approval.tool,
        f"{approval.user}@{approval.tenant}",
        approval.risk,
        approval.rule,
        age(approval.created_at),
        left(until) if approval.state.is_open else "–",
        f"{still} of {approval.clause.quorum}" if is_waiting else "–",
        ", ".join(_deciders(approval, votes)) or "–",
    )


def _deciders(approval: Approval, votes: Sequence[Vote]) -> Iterator[str]:
    """Name who decided a request; of one that ended otherwise, nobody."""
    for vote in votes:
        if vote.choice is _DECIDED.get(approval.state):
            own = same_person(vote.user, approval.user)
            yield f"{vote.user} (self)" if own else vote.user


def _tally(found: int, waiting: int) -> str:
    told = f"{found} request{'' if found == 1 else 's'}"
    if not waiting:
        return told
    return f"{told}, {waiting} to be decided; look at one with `weighbridge approvals show REQUEST`"


def _whole(approval: Approval, votes: Sequence[Vote], rows: Sequence[Row]) -> JsonObject:
    return {
        **approvals.as_json(approval),
        "votes": [approvals.vote_as_json(vote) for vote in votes],
        "lacks": approvals.lacks_as_json(approvals.lacks(approval, votes)),
        "rows": [approvals.row_as_json(row) for row in rows],
    }

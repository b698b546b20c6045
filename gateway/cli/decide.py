"""Deciding about one request in a terminal: yes, no, and the ways back.

Whoever may read the configuration and the store may do this under the name of any account in it.
That is no login, and is recorded as such: `local`, with the user of the machine.
"""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import click

from gateway import jsontext
from gateway.actions import approvals
from gateway.approvals import lines
from gateway.approvals.ballot import echoes, judge
from gateway.approvals.binding import SHORT, short
from gateway.approvals.lines import Row, Unreadable
from gateway.approvals.matching import may_decide, same_person
from gateway.approvals.visible import visible
from gateway.approvals.words import said
from gateway.cli import output, sheet
from gateway.cli.ledger import opened, run
from gateway.cli.options import config_option, json_option
from gateway.cli.people import approver
from gateway.clock import SystemClock
from gateway.config.admin import AccountSettings
from gateway.crossing.deciding import Deciding
from gateway.crossing.showing import shown
from gateway.errors import JsonError
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Cast,
    Choice,
    Factor,
    Ruling,
    Vote,
)
from gateway.types.json import JsonObject

_MOST_BYTES: Final = 1 << 20  # of a proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What somebody wants to say, and how he was asked about it."""

    choice: Choice
    name: str  # `--as`
    binding: str
    reason: str
    is_sure: bool  # `--yes`
    proposal: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A request with everything that is shown of it."""

    approval: Approval
    votes: Sequence[Vote]
    rows: Sequence[Row]
    accounts: Sequence[AccountSettings]
    problem: str = ""  # why nothing can be shown
    faults: Sequence[str] = ()  # what is wrong with what is proposed


_AS = click.option("--as", "name", default="", metavar="USER", help="Who decides: an account.")
_REASON = "Why; its caller is told."


@click.command(
    "approve",
    epilog="Example: weighbridge approvals approve apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V --as ada",
)
@click.argument("approval_id", metavar="REQUEST")
@config_option
@_AS
@click.option("--reason", default="", help="Why; kept with the vote.")
@click.option("--binding", default="", help="First 8 hex digits of what was looked at, or more.")
@click.option("--yes", is_flag=True, help="Ask nothing; needs `--binding`.")
@json_option
def approve(
    approval_id: str,
    path: Path,
    name: str,
    reason: str,
    binding: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Say yes to exactly the call that is shown.

    Shows it first, and asks for the first digits of its binding. Exit code 0 when the vote counts,
    1 when it can't.
    """
    wish = _Wish(choice=Choice.APPROVE, name=name, binding=binding, reason=reason, is_sure=yes)
    _vote(path, approval_id, wish, as_json)


@click.command(
    "deny",
    epilog="Example: weighbridge approvals deny apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V "
    '--reason "the order is older than 30 days"',
)
@click.argument("approval_id", metavar="REQUEST")
@config_option
@_AS
@click.option("--reason", required=True, help=_REASON)
@click.option(
    "--propose",
    type=click.File("rb"),
    default=None,
    help="A JSON file with arguments that you would rather have; `-` reads them from stdin.",
)
@click.option("--binding", default="", help="First 8 hex digits of what was looked at, or more.")
@click.option("--yes", is_flag=True, help="Ask nothing; needs `--binding`.")
@json_option
def deny(
    approval_id: str,
    path: Path,
    name: str,
    reason: str,
    propose: BinaryIO | None,
    binding: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Say no, or take an approval back that is not used yet.

    What is proposed is told to the caller, and becomes real only when he calls with it.
    """
    if not reason.strip():
        output.fail("`--reason` is empty; say why, so that the caller can do better")
    proposal = _proposal(propose.read(_MOST_BYTES + 1)) if propose is not None else None
    wish = _Wish(
        choice=Choice.DENY,
        name=name,
        binding=binding,
        reason=reason,
        is_sure=yes,
        proposal=proposal,
    )
    _vote(path, approval_id, wish, as_json)


@click.command(
    "withdraw",
    epilog="Example: weighbridge approvals withdraw apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V --as ada",
)
@click.argument("approval_id", metavar="REQUEST")
@config_option
@_AS
@json_option
def withdraw(approval_id: str, path: Path, name: str, as_json: bool) -> None:
    """Take an own vote back, while nothing is decided."""
    _person(
        path, approval_id, name, as_json, lambda work, who: work.withdraw_vote(who, approval_id)
    )


@click.command(
    "cancel",
    epilog="Example: weighbridge approvals cancel apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V "
    '--reason "asked by mistake"',
)
@click.argument("approval_id", metavar="REQUEST")
@config_option
@_AS
@click.option("--reason", required=True, help=_REASON)
@json_option
def cancel(approval_id: str, path: Path, name: str, reason: str, as_json: bool) -> None:
    """End a request without a decision.

    As who asked, or who runs the gateway; the call is not sent.
    """
    _person(
        path, approval_id, name, as_json, lambda work, who: work.cancel(who, approval_id, reason)
    )


@click.command(
    "reopen",
    epilog="Example: weighbridge approvals reopen apr_01KB2Y8H6Z3M4N5P6Q7R8S9T0V --as ada",
)
@click.argument("approval_id", metavar="REQUEST")
@config_option
@_AS
@json_option
def reopen(approval_id: str, path: Path, name: str, as_json: bool) -> None:
    """Let a denied call be asked about again.

    The decision itself stands; the same call makes a request of its own.
    """
    _person(path, approval_id, name, as_json, lambda work, who: work.reopen(who, approval_id))


def _vote(path: Path, approval_id: str, wish: _Wish, as_json: bool) -> None:
    """Show the request where somebody looks, ask him, and cast his vote."""
    if wish.is_sure and not wish.binding:
        output.fail(f"`--yes` needs `--binding`, the first {SHORT} digits of what you looked at")
    if not wish.is_sure and (as_json or not sys.stdin.isatty()):
        output.fail(
            f"{'with `--json`' if as_json else 'where stdin is no terminal'} nothing can be "
            "asked; look with `weighbridge approvals show`, then add `--binding` (its first "
            f"{SHORT} digits) and `--yes`"
        )
    read = run(lambda: _read(path, approval_id, wish.proposal))
    if read.faults:
        output.fail(f"`--propose`: the tool doesn't take it: {'; '.join(read.faults)}")
    who = approver(read.accounts, wish.name, read.approval.tenant, lambda each: _may(read, each))
    if not wish.is_sure:
        _refuse_in_vain(read, wish, who)
    if read.problem and wish.choice is Choice.APPROVE:
        output.fail(f"{read.problem}; nobody can approve what can't be shown", output.EXIT_FAILED)
    binding = wish.binding if wish.is_sure else _asked(read, wish, who)

    async def cast(deciding: Deciding) -> Ruling:
        return await deciding.decide(
            who, approval_id, wish.choice, binding, reason=wish.reason, proposal=wish.proposal
        )

    _carry_out(path, cast, as_json, who, approval_id)


def _may(read: _Read, account: AccountSettings) -> bool:
    """Whether an account is one of those that may decide about a request."""
    approval = read.approval
    clause, escalated = approval.clause, approval.escalated
    is_self = same_person(account.user, approval.user)
    return (clause.requester_may_approve or not is_self) and may_decide(
        clause, account.user, account.roles, escalated=escalated
    )


def _refuse_in_vain(read: _Read, wish: _Wish, who: Approver) -> None:
    """End the command when a vote could not count, before anybody reads and types for nothing."""
    approval, now = read.approval, microseconds(SystemClock().now())
    cast = judge(approval, read.votes, who, wish.choice, approval.binding, now=now)
    if not cast.is_accepted:
        known = None if cast is Cast.NOT_FOUND else approval
        output.fail(
            _in_words(Ruling(cast=cast, approval=known), (), who, approval.approval_id),
            output.EXIT_FAILED,
        )


def _in_words(
    ruling: Ruling, lacks: Sequence[tuple[Factor, int]], who: Approver, approval_id: str
) -> str:
    if ruling.approval is None:
        return f"there is no request `{approval_id}` for {who.user} of {who.tenant}"
    return said(ruling, lacks)


async def _read(path: Path, approval_id: str, proposal: JsonObject | None = None) -> _Read:
    async with opened(path) as ledger:
        approval = await approvals.named(ledger.store.approvals, approval_id)
        votes = await ledger.store.approvals.votes(approval.approval_id)
        rows, problem = _rows(approval, ledger.vault)
        return _Read(
            approval=approval,
            votes=votes,
            rows=rows,
            problem=problem,
            accounts=ledger.loaded.settings.accounts,
            faults=()
            if proposal is None
            else [visible(each) for each in ledger.deciding.faults(approval.tool, proposal)],
        )


def _rows(approval: Approval, vault: Vault) -> tuple[Sequence[Row], str]:
    """Return what is shown of a request, or why nothing can be."""
    try:
        return lines.rows(shown(approval, vault)), ""
    except Unreadable as error:
        return (), str(error)


def _asked(read: _Read, wish: _Wish, who: Approver) -> str:
    """Show all of a request and ask for the digits of its binding; return its binding."""
    approval, verb = read.approval, wish.choice.value
    sheet.show_rows(read.rows, whole=True)
    if read.problem:
        output.one_line(f"! {read.problem}")
    sheet.show_standing(approval, read.votes, approvals.lacks(approval, read.votes))
    roles = ", ".join(sorted(who.roles)) or "none"
    click.echo()
    output.one_line(f"you are {who.user} of {who.tenant} (roles: {roles})")
    typed = wish.binding or click.prompt(
        f"type {short(approval.binding)} to {verb} it", default="", show_default=False
    )
    if not echoes(approval.binding, typed):
        output.fail("that is not its binding; nothing was decided", output.EXIT_FAILED)
    if wish.binding and not click.confirm(f"{verb} it?", default=False):
        output.fail("nothing was decided", output.EXIT_FAILED)
    return approval.binding


def _person(
    path: Path,
    approval_id: str,
    name: str,
    as_json: bool,
    wish: Callable[[Deciding, Approver], Awaitable[Ruling]],
) -> None:
    """Carry out what somebody wants of a request besides a vote."""
    read = run(lambda: _read(path, approval_id))
    who = approver(read.accounts, name, read.approval.tenant)
    _carry_out(path, lambda deciding: wish(deciding, who), as_json, who, approval_id)


def _carry_out(
    path: Path,
    wish: Callable[[Deciding], Awaitable[Ruling]],
    as_json: bool,
    who: Approver,
    approval_id: str,
) -> None:
    async def work() -> tuple[Ruling, Sequence[Vote]]:
        async with opened(path) as ledger:
            ruling = await wish(ledger.deciding)
            approval = ruling.approval
            table = ledger.store.approvals
            return ruling, await table.votes(approval.approval_id) if approval else ()

    ruling, votes = run(work)
    approval = ruling.approval
    is_open = approval is not None and approval.state is ApprovalState.PENDING
    lacks = approvals.lacks(approval, votes) if approval is not None and is_open else ()
    text = _in_words(ruling, lacks, who, approval_id)
    if as_json:
        output.as_json(
            {
                "cast": ruling.cast.value,
                "message": text,
                "lacks": approvals.lacks_as_json(lacks),
                "approval": None if approval is None else approvals.as_json(approval),
            }
        )
    elif ruling.cast.is_accepted:
        output.one_line(text)
    else:
        output.fail(text, output.EXIT_FAILED)
    if not ruling.cast.is_accepted:
        raise SystemExit(output.EXIT_FAILED)


def _proposal(data: bytes) -> JsonObject:
    """Read arguments as strictly as those of a call."""
    try:
        value = jsontext.parse(data)
    except JsonError as error:
        output.fail(f"`--propose`: {error}")
    if not isinstance(value, dict):
        output.fail("`--propose` has to be a JSON object: the arguments of the call")
    return value

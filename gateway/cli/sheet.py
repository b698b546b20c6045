"""A request as somebody reads it in a terminal: line by line, and no line can pose as another.

A value is wrapped here and not by the terminal, so that what goes on begins behind a bar; by itself
a value can't begin a line.
"""

import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import click

from gateway.approvals.binding import short
from gateway.approvals.lines import Group, Row
from gateway.approvals.visible import visible
from gateway.approvals.words import approvers, away, lacking, when
from gateway.types.approvals import Approval, ApprovalState, Choice, Factor, Vote

_HEADS: Final = {
    Group.SUMMARY: "",
    Group.TOP: "",
    Group.CALL: "the call",
    Group.CHANGES: "what is new against the request that this one replaces",
    Group.ARGUMENTS: "all arguments",
    Group.REQUESTER: "who asks",
    Group.RULE: "why it is held",
    Group.NOTE: "words of the agent, which nobody has verified",
}
_LABEL: Final = 22  # cells; a longer label has a line of its own
_BAR: Final = "┆ "
_ENDLESS: Final = 1_000_000  # where nobody looks, nothing is wrapped


def show_rows(rows: Sequence[Row], *, whole: bool) -> None:
    """Print what the call is about; `whole` also prints long values to their ends."""
    for group, members in groupby(rows, key=lambda row: row.group):
        if head := _HEADS[group]:
            click.echo(f"\n{head}")
        for row in members:
            _show(row.label, row.whole if whole and row.long else row.text)
            for note in row.marks.notes:
                _show("", f"! {note}")
            if row.long and whole:
                _show("", f"! {row.length:,} characters in all, {row.digest}")
            elif row.long:
                _show("", "! long; `--full` shows all of it")


def show_standing(
    approval: Approval, votes: Sequence[Vote], lacks: Sequence[tuple[Factor, int]]
) -> None:
    """Print where a request stands: who decides, who has, until when, and its binding."""
    click.echo("\nthe request")
    for label, text in _standing(approval, lacks):
        _show(label, text)
    for vote in votes:
        said = "yes" if vote.choice is Choice.APPROVE else "no"
        because = f": {visible(vote.reason)}" if vote.reason else ""
        login = f", {visible(vote.issuer)}" if vote.issuer else ""
        _show(
            f"{said} of {visible(vote.user)}",
            f"{when(vote.at)}, {vote.channel}, {vote.assurance}{login}{because}",
        )


def _standing(approval: Approval, lacks: Sequence[tuple[Factor, int]]) -> Iterator[tuple[str, str]]:
    yield "Id", approval.approval_id
    yield "State", approval.state.value
    if approval.closed_reason:
        yield "Because", visible(approval.closed_reason)
    yield "Decided by", approvers(approval)
    if approval.state is ApprovalState.PENDING:
        if lacks:
            yield "Still needed", lacking(lacks)
        if approval.not_before:
            yield "Not before", when(approval.not_before)
        yield "Until", when(approval.decide_by)
        if gone := away(approval):
            yield "Requester", gone
    if approval.state is ApprovalState.APPROVED:
        yield "To be used until", when(approval.use_by)
    if approval.replaces:
        yield "Replaces", approval.replaces
    yield "Operation", approval.op_id
    yield "Binding", f"{short(approval.binding)}  ({approval.binding})"


def _show(label: str, text: str) -> None:
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else _ENDLESS
    for line in laid_out(label, text, width):
        click.echo(line)


def laid_out(label: str, text: str, width: int) -> Iterator[str]:
    """Yield the lines of one row in a terminal so many cells wide; both texts hide nothing."""
    margin = "  " + " " * _LABEL + "  "
    room = max(20, width - len(margin) - 1)
    first = f"  {label}{' ' * (_LABEL - cells(label))}  "
    if cells(label) > _LABEL:
        for part in wrapped(label, max(20, width - 3)):
            yield f"  {part}"
        first = margin
    for number, part in enumerate(wrapped(text, room - len(_BAR))):
        yield f"{margin}{_BAR}{part}" if number else f"{first}{part}".rstrip()


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a text in parts of so many cells; all of it, an empty one too."""
    begin = taken = 0
    for at, each in enumerate(text):
        size = _cell(each)
        if taken + size > width:
            yield text[begin:at]
            begin, taken = at, 0
        taken += size
    yield text[begin:]


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    return sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

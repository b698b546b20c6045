"""`weighbridge events ask`: the questions of auditors, ready-made."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import click

from gateway.actions import answers_calls, approvals
from gateway.actions.sampling import Sample
from gateway.approvals import lines
from gateway.cli import output, verify
from gateway.cli.answering import (
    Period,
    answer,
    period_options,
    question_options,
    sample_options,
    write,
)
from gateway.cli.ledger import Ledger
from gateway.crossing.showing import shown as shown_of
from gateway.events.verifying import Report
from gateway.types.json import JsonObject


@click.command(
    epilog="Example: weighbridge events ask decided --tenant acme --since 2026-05-01 "
    "--until 2026-06-01"
)
@question_options
@period_options
@sample_options
@click.option("--tool", multiple=True, help="As in contracts: server.name.")
@click.option("--user", multiple=True, help="Who asked for the call.")
@click.option(
    "--outcome", multiple=True, type=click.Choice(answers_calls.OUTCOMES), help="Only such rows."
)
def decided(
    path: Path,
    form: str,
    period: Period,
    sample: Sample | None,
    tool: tuple[str, ...],
    user: tuple[str, ...],
    outcome: tuple[str, ...],
) -> None:
    """Which calls were denied or approved, by which rule or by whom, and why.

    A row for each call that was denied, and for each end of a request to people: approved, denied,
    expired, voided; and for the call that used it.
    """
    wanted = replace(period.wanted, tools=tool, actors=user)

    def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        outcomes = outcome or answers_calls.OUTCOMES
        return answers_calls.decided(ledger.store.events, wanted, outcomes)

    answer(
        path,
        "decided",
        find,
        form=form,
        columns=answers_calls.DECIDED,
        shown=(
            *("time", "tenant", "user", "tool", "outcome", "approvers", "rule", "code", "reason"),
            "call",
        ),
        asked={**period.asked, "tool": [*tool], "user": [*user], "outcome": [*outcome]},
        wanted=wanted,
        tenant=period.tenant,
        sample=sample,
    )


@click.command(epilog="Example: weighbridge events ask reviews --since 90d --breaches")
@question_options
@period_options
@sample_options
@click.option("--breaches", is_flag=True, help="Only where somebody decided about himself.")
def reviews(path: Path, form: str, period: Period, sample: Sample | None, breaches: bool) -> None:
    """Who approved or denied what for whom, and whether it was another person.

    With --breaches, exit code 1 when there is one.
    """
    wanted = period.wanted

    def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        return answers_calls.reviews(ledger.store.events, wanted, only_breaches=breaches)

    count = answer(
        path,
        "reviews",
        find,
        form=form,
        columns=answers_calls.REVIEWS,
        shown=(
            *("time", "tenant", "tool", "requester", "outcome", "approvers", "separate"),
            *("roles", "channel", "waited_s", "reason", "request"),
        ),
        asked={**period.asked, "breaches": breaches},
        wanted=wanted,
        tenant=period.tenant,
        sample=sample,
    )
    if breaches and count:
        raise SystemExit(output.EXIT_FAILED)


@click.command(epilog="Example: weighbridge events ask shown --request apr_01KB2Y8H6Z3M4N5P6Q")
@question_options
@click.option("--request", required=True, help="Id of a request for approval.")
def shown(path: Path, form: str, request: str) -> None:
    """What the approver saw: the document as it was sealed when the request was made.

    Its digest is held against the one in the log; exit code 1 where they differ.
    """

    async def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        approval = await approvals.named(ledger.store.approvals, request)
        document = shown_of(approval, ledger.vault)
        digests = await answers_calls.presented(ledger.store.events, approval.approval_id)
        if not digests and await ledger.store.retention.sealed() is not None:
            raise approvals.ApprovalRefused(
                f"what approvers of `{request}` were shown can't be held against the log: "
                "the event that says so is in an archive"
            )
        if digests != frozenset({approval.presented_digest}):
            raise approvals.ApprovalRefused(
                f"what is kept of `{request}` is not what the log says that approvers were shown"
            )
        for row in lines.rows(document):
            yield approvals.row_as_json(row)
        yield {
            **{"group": "proof", "label": "digest", "text": approval.presented_digest},
            "marks": ["the same in the log"],
        }

    columns = ("group", "label", "text", "marks")
    about: JsonObject = {"request": request}
    answer(path, "shown", find, form=form, columns=columns, asked=about, is_of_log=False)


@click.command(epilog="Example: weighbridge events ask readers --since 30d --csv")
@question_options
@period_options
def readers(path: Path, form: str, period: Period) -> None:
    """Who read the log, by which command or page, and what was asked for."""
    wanted = period.wanted

    def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        return answers_calls.readers(ledger.store.events, wanted)

    answer(
        path,
        "readers",
        find,
        form=form,
        columns=answers_calls.READERS,
        asked=period.asked,
        wanted=wanted,
        tenant=period.tenant,
    )


@click.command(
    epilog="Example: weighbridge events ask complete --checkpoint /mnt/audit/checkpoints.jsonl"
)
@question_options
@click.option(
    "--checkpoint",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file with checkpoints from outside of the store; may be repeated.",
)
@click.option("--key", "given", multiple=True, help="As for `weighbridge events verify`.")
def complete(path: Path, form: str, files: tuple[Path, ...], given: tuple[str, ...]) -> None:
    """Whether the log is complete: nothing removed, changed or added since a checkpoint.

    As `weighbridge events verify` finds out; exit code 0 when it is, 1 when it is not.
    """
    report: Report = verify.checked(path, files, given, (), how="ask complete")
    write(form, ("part", "first", "last", "what"), verify.parts(report))
    if not report.is_whole:
        raise SystemExit(output.EXIT_FAILED)

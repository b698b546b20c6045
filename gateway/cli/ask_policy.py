"""Questions of `weighbridge events ask` about the policy: of a day, of a rule, and its changes."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import click

from gateway.actions import answers_access, answers_policy
from gateway.cli import giving, output, pastime
from gateway.cli.answering import Period, answer, question_options
from gateway.cli.ledger import Ledger
from gateway.cli.moments import earlier
from gateway.clock import SystemClock
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.json import JsonObject

_DAY: Final = timedelta(days=1)
_MOMENT: Final = timedelta(microseconds=1)
_DATE: Final = len("2026-05-03")


@click.command(
    "who-could",
    epilog="Example: weighbridge events ask who-could --tool desk.refund --on 2026-05-03",
)
@question_options
@click.option("--tool", required=True, help="As in contracts: server.name.")
@click.option("--on", default="", help="A day or a moment in UTC, or an age; default: now.")
@click.option("--tenant", default="", help="Only what is about this tenant.")
def who_could(path: Path, form: str, tool: str, on: str, tenant: str) -> None:
    """Who could call a tool on a day, by the rules in force then, and who did.

    A row for its contract, for each rule about it (the strongest first: deny, require_approval,
    allow), and for each caller of that day. A rule counts only where its `when` held, too.
    Exit code 1 where only archives tell what was in force, or who called.
    """
    since, until = _span(on)
    unknown = False

    async def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        nonlocal unknown
        store, past = ledger.store, pastime.past(ledger.store, path)
        left = await answers_policy.archived(store)
        await giving.note_strangers(store, Selection(tools=(tool,)), await _contracts(store, past))
        async for row in answers_access.who_could(
            store.events, tool, past, since=since, until=until, tenant=tenant, left=left
        ):
            unknown = unknown or row["what"] == answers_access.NOT_KNOWN
            yield row

    answer(
        path,
        "who-could",
        find,
        form=form,
        columns=answers_access.WHO_COULD,
        shown=("what", "rule", "tenants", "users", "roles", "scopes", "when", "also", "place"),
        asked={"tool": tool, "on": on, "tenant": tenant},
        tenant=tenant,
        wanted=Selection(tenants=(tenant,) if tenant else (), since=since),
    )
    if unknown:
        output.fail("who could is not known for all of that time", output.EXIT_FAILED)


async def _contracts(store: Store, past: answers_access.Compiled) -> dict[str, list[str]]:
    """Return the tools that are under contract by what was put in force last."""
    newest = next(iter(await store.revisions.latest(1)), None)
    found = await past(newest.id) if newest is not None else None
    return {"tools": [*found.contracts]} if found is not None else {}


def _span(on: str) -> tuple[datetime, datetime]:
    """Return the day that is named, or a moment."""
    at = earlier(on) or SystemClock().now()
    return at, at + (_DAY if len(on) == _DATE else _MOMENT)


@click.command(
    "rule-changes", epilog="Example: weighbridge events ask rule-changes --rule desk.refund.large"
)
@question_options
@click.option("--rule", required=True, help="Id of a rule.")
def rule_changes(path: Path, form: str, rule: str) -> None:
    """Every change of a rule, from the revisions that were in force, with the difference.

    Exit code 1 when no revision had such a rule.
    """

    def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        store = ledger.store
        return answers_policy.rule_changes(store.events, rule, store.revisions.get)

    count = answer(
        path,
        "rule-changes",
        find,
        form=form,
        columns=answers_policy.RULE_CHANGES,
        shown=("time", "change", "place", "revision", "by", "tests"),
        asked={"rule": rule},
    )
    if not count:
        output.fail(f"no revision in the log had a rule `{rule}`", output.EXIT_FAILED)


@click.command(
    "policy-changes", epilog="Example: weighbridge events ask policy-changes --since 90d --diff"
)
@question_options
@click.option("--since", default="", help="A time in UTC (2026-05-01) or an age (90d).")
@click.option("--until", default="", help="As --since; this moment is left out.")
@click.option("--diff", is_flag=True, help="With the difference of the files.")
def policy_changes(path: Path, form: str, since: str, until: str, diff: bool) -> None:
    """Every change of the policy: tests that passed, what it widened, which files, how."""
    wanted = Period(since=since, until=until).wanted

    def find(ledger: Ledger) -> AsyncIterator[JsonObject]:
        store = ledger.store
        return answers_policy.policy_changes(
            store.events, wanted, store.revisions.get, with_diff=diff
        )

    answer(
        path,
        "policy-changes",
        find,
        form=form,
        columns=answers_policy.POLICY_CHANGES,
        shown=(
            *("time", "what", "revision", "by", "warnings", "tests", "wider", "narrower"),
            *("reason", "files", "errors"),
        ),
        asked={"since": since, "until": until, "diff": diff},
        wanted=wanted,
    )

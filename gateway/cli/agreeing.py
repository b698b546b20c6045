"""`weighbridge policy proposals`, `propose`, `activate` and `reject`: a change that takes several.

Who it is comes from the configuration and from the machine, as for approvals in the terminal: a
name can be claimed here, and the account of the machine can't.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from gateway import ids
from gateway.actions import comparing, review, revisions
from gateway.app.agreeing import agreement
from gateway.approvals import agreeing
from gateway.cli import output, shelf
from gateway.cli.ledger import Ledger, opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.cli.people import approver
from gateway.cli.policies import policies
from gateway.clock import SystemClock
from gateway.config.admin import AccountSettings
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError, FileError
from gateway.revision import Revision
from gateway.store.proposals import Ruled
from gateway.types.approvals import Approver
from gateway.types.json import JsonObject
from gateway.types.proposals import Backing, Proposal, ProposalState

_AS: Final = click.option(
    "--as", "name", default="", help="Who it is, of `admin.accounts`; default: the only one."
)
_LEAST: Final = 12  # digits of a digest that somebody has looked at
_GLANCE: Final = 500
_OFF: Final = (
    "`activation.people` is 1: a changed folder takes force by itself, and nothing is proposed"
)


@click.command("proposals", epilog="Example: weighbridge policy proposals")
@config_option
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@json_option
def proposals(path: Path, limit: int, as_json: bool) -> None:
    """List changes of the policy that wait for people, and what became of earlier ones."""

    say = load(path).settings.say

    async def read() -> list[tuple[Proposal, tuple[Backing, ...]]]:
        async with opened(path) as ledger:
            table = ledger.store.proposals
            found = await table.latest(limit)
            return [(each, await table.backings(each.id)) for each in found]

    found = run(read)
    if as_json:
        output.as_json(
            [
                _as_json(each, backings, agreeing.lacks(each, backings, say))
                for each, backings in found
            ]
        )
        return
    if not found:
        output.line("nothing was proposed yet")
        return
    output.table(
        ("since", "revision", "in place of", "state", "agreed", "still", "wider", "narrower"),
        [
            (
                each.at.isoformat()[:19],
                shelf.short(each.revision),
                shelf.short(each.base) or "–",
                each.state.value,
                ", ".join(one.person.user for one in backings) or "–",
                str(agreeing.lacks(each, backings, say)) if _is_open(each) else "–",
                str(each.change.get("wider", "–")),
                str(each.change.get("narrower", "–")),
            )
            for each, backings in found
        ],
    )


@click.command("propose", epilog="Example: weighbridge policy propose --as ann")
@config_option
@_AS
@json_option
def propose(path: Path, name: str, as_json: bool) -> None:
    """Propose the policy folder, and agree with it, as the one who made the change.

    A running gateway proposes a changed folder by itself, in nobody's name. Exit code 3 when the
    folder does not compile or its tests fail.
    """
    settings = _shared(path)
    built = policies(path, None).built
    if built.revision is None:
        output.fail(built.problem, output.EXIT_DOES_NOT_COMPILE)
    who = _who(settings, name)
    problem = agreeing.stranger(who, settings.say)
    if problem:
        output.fail(problem, output.EXIT_FAILED)
    made = built.revision

    async def work() -> Ruled:
        async with opened(path) as ledger:
            base = await _in_force(ledger)
            if base is not None and base.id == made.id:
                return Ruled(proposal=None, obstacle="it is in force already")
            table = ledger.store.proposals
            waiting = next((each for each in await table.open() if each.revision == made.id), None)
            if waiting is None:
                new = _proposal(built, made, base, settings)
                await table.propose(new, who)
                return Ruled(proposal=new, lacks=new.people - 1)
            return await table.agree(waiting.id, who, say=settings.say)

    _tell(run(work), who, as_json=as_json, verb="proposed")


@click.command("activate", epilog="Example: weighbridge policy activate b08576b689aa --as bo")
@click.argument("revision")
@config_option
@_AS
@click.option("--reason", default="", help="Why; kept with it.")
@json_option
def activate(revision: str, path: Path, name: str, reason: str, as_json: bool) -> None:
    """Agree with a proposed change: with exactly the revision of this digest.

    Look at it first: `policy diff` without arguments, or `policy show REVISION`. When enough people
    agree, every gateway of the store puts it in force within seconds. Exit code 1 when it can't
    count.
    """
    settings = _shared(path)
    who = _who(settings, name)

    async def work(ledger: Ledger, found: Proposal) -> Ruled:
        return await ledger.store.proposals.agree(
            found.id, who, say=settings.say, reason=ledger.redactor.text(reason)
        )

    async def agree() -> Ruled:
        async with opened(path) as ledger:
            return await work(ledger, await _named(ledger, revision))

    _tell(run(agree), who, as_json=as_json, verb="agreed")


@click.command(
    "reject",
    epilog="Example: weighbridge policy reject b08576b689aa --as bo --reason 'opens refunds'",
)
@click.argument("revision")
@config_option
@_AS
@click.option("--reason", required=True, help="Why; kept in the log.")
@json_option
def reject(revision: str, path: Path, name: str, reason: str, as_json: bool) -> None:
    """Turn a proposed change down; the files stay as they are, and are not in force."""
    settings = _shared(path)
    who = _who(settings, name)

    async def work() -> Ruled:
        async with opened(path) as ledger:
            found = await _named(ledger, revision)
            return await ledger.store.proposals.reject(
                found.id, who, say=settings.say, reason=ledger.redactor.text(reason)
            )

    _tell(run(work), who, as_json=as_json, verb="turned down")


def _shared(path: Path) -> Settings:
    settings = load(path).settings
    if not settings.activation.is_shared:
        output.fail(_OFF)
    return settings


def _who(settings: Settings, name: str) -> Approver:
    say = settings.say

    def may(account: AccountSettings) -> bool:
        return not say.roles or not say.roles.isdisjoint(account.roles)

    return approver(settings.accounts, name, say.tenant, may)


async def _named(ledger: Ledger, said: str) -> Proposal:
    """Find the proposal of a digest, of which enough has to be given to mean nothing else."""
    digits = said.removeprefix("sha256:")
    if len(digits) < _LEAST:
        output.fail(f"write at least {_LEAST} digits of the revision: what you agree with is that")
    found = await ledger.store.proposals.beginning(f"sha256:{digits}")
    waiting = [each for each in found if _is_open(each)] or found
    if not waiting:
        output.fail(f"no revision `{said}` is proposed; see `weighbridge policy proposals`")
    if len({each.revision for each in waiting}) > 1:
        output.fail(f"`{said}` is the beginning of several revisions; write more of it")
    return waiting[0]


async def _in_force(ledger: Ledger) -> Revision | None:
    """Return the revision that people agreed on, or that was in force last."""
    found = agreement(ledger.store, ledger.loaded.settings, SystemClock())
    try:
        agreed = await found.agreed() if found is not None else None
    except ConfigurationError:  # a revision that can't be used: what is proposed may mend it
        return None
    return agreed.revision if agreed is not None else None


def _proposal(
    built: revisions.Built, made: Revision, base: Revision | None, settings: Settings
) -> Proposal:
    return Proposal(
        id=ids.new("prop"),
        revision=made.id,
        base=base.id if base is not None else "",
        at=SystemClock().now(),
        because="somebody proposed it",
        people=settings.activation.people,
        texts=dict(made.texts),
        warnings=len(built.warnings),
        tests=len(built.report.results) if built.report is not None else 0,
        change=_change(base, made, settings),
    )


def _change(base: Revision | None, made: Revision, settings: Settings) -> JsonObject:
    if base is None:
        return {}
    try:
        found = comparing.compare(base, made, servers=frozenset(settings.servers), most=_GLANCE)
    except FileError:
        return {}
    return review.summary(found)


def _tell(ruled: Ruled, who: Approver, *, as_json: bool, verb: str) -> None:
    proposal = ruled.proposal
    text = ruled.obstacle or _in_words(proposal, ruled.lacks, who, verb)
    if as_json:
        output.as_json(
            {
                "counts": not ruled.obstacle,
                "message": text,
                "lacks": ruled.lacks,
                "proposal": None if proposal is None else _as_json(proposal, (), ruled.lacks),
            }
        )
    elif not ruled.obstacle:
        output.one_line(text)
    else:
        output.fail(text, output.EXIT_FAILED)
    if ruled.obstacle:
        raise SystemExit(output.EXIT_FAILED)


def _in_words(proposal: Proposal | None, lacks: int, who: Approver, verb: str) -> str:
    if proposal is None:
        return "there is no such proposal any more"
    short = shelf.short(proposal.revision)
    if proposal.state is ProposalState.REJECTED:
        return f"{short} was turned down by {who.user}; what was in force stays"
    if proposal.state is ProposalState.AGREED:
        return f"{short} takes force: {who.user} was the last whom it took"
    people = "person has" if lacks == 1 else "people have"
    return f"{short} was {verb} by {who.user}; {lacks} more {people} to agree"


def _is_open(proposal: Proposal) -> bool:
    return proposal.state is ProposalState.OPEN


def _as_json(proposal: Proposal, backings: Sequence[Backing], lacks: int) -> JsonObject:
    return {
        "id": proposal.id,
        "revision": proposal.revision,
        "base": proposal.base,
        "at": proposal.at.isoformat(),
        "because": proposal.because,
        "state": proposal.state.value,
        "people": proposal.people,
        "lacks": lacks,
        "warnings": proposal.warnings,
        "tests": proposal.tests,
        "change": proposal.change,
        "agreed": [
            {"user": each.person.user, "tenant": each.person.tenant, "at": each.at.isoformat()}
            for each in backings
        ],
    }

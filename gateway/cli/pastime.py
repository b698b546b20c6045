"""What commands about the past judge it by: a candidate, and the revisions that were in force."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from gateway.actions import revisions
from gateway.cli import output, shelf
from gateway.cli.options import load
from gateway.clock import SystemClock
from gateway.errors import FileError
from gateway.revision import Revision, Unreviewed
from gateway.store.store import Store


def candidate(path: Path, policies: Path | None, contracts: Path | None, named: str) -> Revision:
    """Compile what past calls are to be judged by; ends the command when it can't be."""
    if named and (policies is not None or contracts is not None):
        output.fail("--revision names what --policies and --contracts do; leave one out")
    settings = load(path).settings
    if named:
        return shelf.of(shelf.stored(named, path), settings)
    folder = policies or settings.policies
    try:
        texts = revisions.read(folder)
        if contracts is not None:
            texts = revisions.with_contracts(texts, contracts)
        return revisions.compiled(
            texts,
            unreviewed=Unreviewed(settings.contracts.unreviewed),
            at=SystemClock().now(),
            prefix=f"{folder}/",
        )
    except FileError as error:
        first, *others = revisions.each(error)
        output.fail(f"{first} (and {len(others)} more)" if others else str(first))


def prefix(path: Path, policies: Path | None, revision: Revision, named: str) -> str:
    """Return what stands before the names of a candidate's files."""
    if named:
        return f"{shelf.short(revision.id)}/"
    return f"{policies or load(path).settings.policies}/"


def past(store: Store, path: Path) -> Callable[[str], Awaitable[Revision | None]]:
    """Return what finds a revision as it was; None for one that is not kept, or not readable."""
    otherwise = Unreviewed(load(path).settings.contracts.unreviewed)

    async def find(id: str) -> Revision | None:
        kept = await store.revisions.get(id)
        if kept is None:
            return None
        texts = revisions.folder_of(kept.texts)
        try:
            return revisions.compiled(
                texts, unreviewed=revisions.unreviewed_of(id, texts) or otherwise, at=kept.at
            )
        except FileError:  # written for an older gateway, which understood it
            return None

    return find

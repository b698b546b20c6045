"""Policies by what people call them: a folder, or a revision that the store keeps."""

import re
from pathlib import Path
from typing import Final

from gateway.actions import revisions
from gateway.cli import opening, output
from gateway.cli.ledger import run
from gateway.cli.options import load
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.errors import FileError
from gateway.revision import Revision, Unreviewed
from gateway.store.revisions import StoredRevision

_ID: Final = re.compile(r"(?:sha256:)?([0-9a-f]{4,64})")
_SHOWN: Final = 12  # digits of an id


def folder(path: Path, config: Path) -> Revision:
    """Compile a folder; ends the command for one that can't be."""
    unreviewed = Unreviewed.REFUSE
    if config.exists():
        unreviewed = Unreviewed(load(config).settings.contracts.unreviewed)
    return _compiled(path, unreviewed)


def configured(config: Path) -> Revision:
    """Compile the folder that the configuration names."""
    settings = load(config).settings
    return _compiled(settings.policies, Unreviewed(settings.contracts.unreviewed))


def in_force(config: Path) -> Revision:
    """Compile the revision that was put in force last; ends the command where there is none."""

    async def find() -> StoredRevision | None:
        async with opening.opened(config) as store:
            return next(iter(await store.revisions.latest(1)), None)

    found = run(find)
    if found is None:
        output.fail("no revision was ever in force here; name OLD")
    return of(found, load(config).settings)


def named(said: str, config: Path) -> Revision:
    """Compile what a folder's path, or the beginning of a revision's id, stands for."""
    if Path(said).is_dir():
        return folder(Path(said), config)
    if _ID.fullmatch(said) is None:
        output.fail(f"`{said}` is neither a folder nor a revision; `policy history` lists those")
    return of(stored(said, config), load(config).settings)


def stored(said: str, config: Path) -> StoredRevision:
    """Find a revision by the beginning of its id; ends the command unless there is just one."""
    matched = _ID.fullmatch(said)
    if matched is None:
        output.fail(f"`{said}` is no revision; `policy history` lists them")

    async def find() -> list[StoredRevision]:
        async with opening.opened(config) as store:
            begins = f"sha256:{matched[1]}"
            kept = {each.id: each for each in await store.revisions.beginning(begins)}
            for each in await store.proposals.beginning(begins):
                proposed = StoredRevision(
                    id=each.revision,
                    at=each.at,
                    activated_by="never: it was proposed",
                    texts=dict(each.texts),
                )
                kept.setdefault(each.revision, proposed)
            return [*kept.values()]

    found = run(find)
    if not found:
        output.fail(f"the store has no revision `{said}`; `policy history` lists them")
    if len(found) > 1:
        output.fail(f"`{said}` is the beginning of {len(found)} revisions; write more of it")
    return found[0]


def of(found: StoredRevision, settings: Settings) -> Revision:
    """Compile a revision as it was kept; ends the command for one that this version can't read."""
    texts = revisions.folder_of(found.texts)
    unreviewed = revisions.unreviewed_of(found.id, texts)
    try:
        return revisions.compiled(
            texts,
            unreviewed=unreviewed or Unreviewed(settings.contracts.unreviewed),
            at=found.at,
            prefix=f"{short(found.id)}/",
        )
    except FileError as error:
        output.fail(_first(error))


def short(id: str) -> str:
    """Return so much of an id as people need to tell revisions apart."""
    return id.removeprefix("sha256:")[:_SHOWN]


def _compiled(path: Path, unreviewed: Unreviewed) -> Revision:
    try:
        return revisions.compiled(
            revisions.read(path),
            unreviewed=unreviewed,
            at=SystemClock().now(),
            prefix=f"{path}/",
        )
    except FileError as error:
        output.fail(_first(error))


def _first(error: FileError) -> str:
    first, *others = revisions.each(error)
    return f"{first} (and {len(others)} more)" if others else str(first)

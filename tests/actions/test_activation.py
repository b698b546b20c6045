"""The switch from one revision to the next."""

from pathlib import Path

import pytest

from gateway.actions.activation import Activation, Reloaded
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.revision import Revision, Unreviewed

GOOD = "rules:\n  - {id: all, decision: allow, match: {tools: ['*'], roles: {any: [a]}}}\n"


class Shelf:
    """Keeps revisions, or can't."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.told: list[Reloaded] = []
        self.away = False

    async def keep(self, revision: Revision, because: str) -> None:
        if self.away:
            raise StoreUnavailable("disk full")
        self.kept.append(revision.id)

    def tell(self, outcome: Reloaded, because: str) -> None:
        self.told.append(outcome)


def an_activation(folder: Path, shelf: Shelf) -> Activation:
    return Activation(
        folder=folder,
        unreviewed=Unreviewed.REFUSE,
        clock=SystemClock(),
        keep=shelf.keep,
        tell=shelf.tell,
    )


async def started(folder: Path) -> tuple[Activation, Shelf]:
    (folder / "policy.yaml").write_text(GOOD)
    shelf = Shelf()
    activation = an_activation(folder, shelf)
    await activation.start()
    return activation, shelf


async def test_a_revision_is_stored_before_it_is_in_force(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    assert shelf.kept == [activation.current().id]
    assert [outcome.activated for outcome in shelf.told] == [True]


async def test_a_changed_folder_is_taken_and_names_what_it_replaces(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    before = activation.current().id
    (tmp_path / "policy.yaml").write_text(GOOD + "# changed\n")
    outcome = await activation.reload("a file changed")
    assert outcome.activated
    assert (outcome.previous, outcome.revision) == (before, activation.current().id)
    assert shelf.kept[-1] == activation.current().id != before


async def test_a_bad_file_leaves_the_old_revision_in_force_visibly(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    before = activation.current()
    (tmp_path / "policy.yaml").write_text("rulez: []\n")
    outcome = await activation.reload("a file changed")
    assert not outcome.activated
    assert activation.current() is before
    assert "rulez" in activation.problem
    assert shelf.told[-1].problem == activation.problem
    (tmp_path / "policy.yaml").write_text(GOOD)
    await activation.reload("a file changed")
    assert activation.problem == ""


async def test_a_revision_that_can_not_be_stored_is_not_taken(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    before = activation.current()
    shelf.away = True
    (tmp_path / "policy.yaml").write_text(GOOD + "# changed\n")
    outcome = await activation.reload("a file changed")
    assert not outcome.activated
    assert "disk full" in outcome.problem
    assert activation.current() is before


async def test_nothing_changes_when_nothing_changed(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    before = activation.current()
    assert not (await activation.reload("told to")).activated
    assert activation.current() is before
    assert {*shelf.kept} == {before.id}


async def test_a_gateway_does_not_start_without_a_policy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such folder"):
        await an_activation(tmp_path / "nowhere", Shelf()).start()


async def test_an_unchanged_folder_is_put_in_force_again_when_somebody_says_so(
    tmp_path: Path,
) -> None:
    """Beside gateways with other files: these are the ones that count."""
    activation, shelf = await started(tmp_path)
    outcome = await activation.reload("told to")
    assert not outcome.activated
    assert shelf.kept == [activation.current().id] * 2
    shelf.away = True
    assert (await activation.reload("told to")).problem == ""


async def test_a_change_is_told_with_what_it_grants_and_takes_away(tmp_path: Path) -> None:
    activation, shelf = await started(tmp_path)
    rule = "  - {id: read, decision: allow, match: {resources: ['file:*'], roles: {any: [a]}}}\n"
    (tmp_path / "policy.yaml").write_text(GOOD + rule)
    outcome = await activation.reload("a file changed")
    assert outcome.change is not None
    assert (outcome.change["wider"], outcome.change["narrower"]) == (1, 0)
    assert (outcome.warnings, outcome.tests) == (activation.warnings, 0)
    assert shelf.told[0].change is None  # at a start nothing is known of what was before


async def test_a_change_that_can_t_be_told_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activation, _ = await started(tmp_path)

    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("no way to tell")

    monkeypatch.setattr("gateway.actions.activation.compare", breaks)
    (tmp_path / "policy.yaml").write_text(GOOD + "# changed\n")
    outcome = await activation.reload("a file changed")
    assert (outcome.activated, outcome.change) == (True, None)

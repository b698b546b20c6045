"""Policies by what people call them."""

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from gateway.actions import revisions
from gateway.cli import shelf
from gateway.revision import Unreviewed
from gateway.store.revisions import StoredRevision
from tests.helpers.workspaces import Workspace, a_workspace

AT = datetime(2026, 11, 30, tzinfo=UTC)
RULE = "rules:\n  - {id: a, decision: deny}\n"


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path, {}, policy=RULE, contracts=[])


async def kept(place: Workspace, texts: dict[str, str], unreviewed: Unreviewed) -> str:
    id = revisions.revision_id(revisions.folder_of(texts), unreviewed)
    with place.store() as store:
        found = StoredRevision(id=id, at=AT, activated_by="test", texts=texts)
        await store.revisions.save(found)
    return id


def test_a_revision_is_found_by_the_beginning_of_its_id(place: Workspace) -> None:
    texts = {"rules.yaml": RULE, "tests/a.yaml": "not read at all"}
    id = anyio.run(kept, place, texts, Unreviewed.OBSERVE)
    for said in (id, id[:19], id[7:13]):
        found = shelf.named(said, place.config)
        assert (found.id, found.unreviewed) == (id, Unreviewed.OBSERVE)
    assert found.policy.rules[0].place == f"{shelf.short(id)}/rules.yaml:2"
    assert shelf.in_force(place.config).id == id
    assert set(found.texts) == set(texts)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("abcd", "the store has no revision `abcd`"),
        ("no/such", "neither a folder nor a revision"),
    ],
)
def test_what_is_neither_ends_the_command(
    said: str, problem: str, place: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with place.store():
        pass
    with pytest.raises(SystemExit) as ended:
        shelf.named(said, place.config)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


async def _kept_alike(place: Workspace) -> None:
    with place.store() as store:
        for end in "01":
            found = StoredRevision(
                id=f"sha256:abcd{end.rjust(60, '0')}",
                at=AT,
                activated_by="test",
                texts={"rules.yaml": RULE},
            )
            await store.revisions.save(found)


def test_the_beginning_of_several_is_not_enough(
    place: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(_kept_alike, place)
    with pytest.raises(SystemExit):
        shelf.stored("abcd", place.config)
    assert "`abcd` is the beginning of 2 revisions; write more of it" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        shelf.stored("zz", place.config)
    assert "is no revision" in capsys.readouterr().err


def test_a_folder_goes_by_what_the_configuration_says_of_unreviewed_tools(
    place: Workspace, tmp_path: Path
) -> None:
    assert shelf.configured(place.config).unreviewed is Unreviewed.REFUSE
    found = shelf.named(str(place.loaded().settings.policies), tmp_path / "none.yaml")
    assert found.id == shelf.configured(place.config).id


def test_without_any_revision_the_old_one_has_to_be_named(
    place: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with place.store():
        pass
    with pytest.raises(SystemExit):
        shelf.in_force(place.config)
    assert "no revision was ever in force here; name OLD" in capsys.readouterr().err

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.actions import revisions
from gateway.cli import pastime
from gateway.revision import Unreviewed
from gateway.store.revisions import StoredRevision
from tests.helpers.workspaces import Workspace, a_workspace, weighbridge

AT = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path)


async def test_a_revision_of_the_past_is_met_as_it_was(place: Workspace) -> None:
    texts = revisions.read(place.loaded().settings.policies)
    id = revisions.revision_id(texts, Unreviewed.OBSERVE)
    kept = StoredRevision(id=id, at=AT, activated_by="start", texts=texts.texts)
    with place.store() as store:
        await store.revisions.save(kept)
        found = await pastime.past(store, place.config)(id)
    assert found is not None
    assert (found.id, found.unreviewed) == (id, Unreviewed.OBSERVE)


async def test_a_revision_that_is_not_kept_or_not_understood_is_none(place: Workspace) -> None:
    odd = StoredRevision(id="sha256:odd", at=AT, activated_by="start", texts={"a.yaml": "rules: 1"})
    with place.store() as store:
        await store.revisions.save(odd)
        find = pastime.past(store, place.config)
        assert await find("sha256:none") is None
        assert await find("sha256:odd") is None


def test_the_folder_of_the_configuration_is_what_is_judged_by(place: Workspace) -> None:
    found = pastime.candidate(place.config, None, None, "")
    texts = revisions.read(place.loaded().settings.policies)
    assert found.id == revisions.revision_id(texts, Unreviewed.REFUSE)


def test_options_say_what_they_name() -> None:
    said = weighbridge("replay", "show", "--help").stdout
    assert all(each in said for each in ("--policies", "--contracts", "--revision"))

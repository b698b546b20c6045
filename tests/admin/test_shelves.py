"""Policies as pages pass them on."""

from contextlib import closing
from pathlib import Path

import pytest

from gateway.actions import revisions
from gateway.admin.shelves import Shelf, compiled, short
from gateway.config.settings import Settings
from gateway.errors import FileError
from gateway.revision import Unreviewed
from gateway.store.revisions import StoredRevision
from gateway.store.store import Store
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW
from tests.helpers.databases import ORIGIN

RULES = "rules:\n  - {id: a, decision: allow, match: {tools: ['*']}}\n"


async def test_a_kept_policy_and_the_folder_are_found_by_the_same_id(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/rules.yaml").write_text(RULES)
    settings = Settings.model_validate({"policies": str(tmp_path / "policies")})
    with closing(Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)) as store:
        shelf = Shelf(store=store, settings=settings)
        now = shelf.folder()
        id = str(now["id"])
        assert await shelf.kept(id) is None
        kept = StoredRevision(id=id, at=NOW, activated_by="start", texts={"rules.yaml": RULES})
        await store.revisions.save(kept)
        found = await shelf.kept(id.removeprefix("sha256:")[:8])
        assert found is not None
        again = compiled(shelf.of(found))
        assert (again.id, again.activated_at) == (id, NOW)
        assert [each.place for each in again.policy.rules] == [f"{short(id)}/rules.yaml:2"]
        for said in ("", "zz", "sha256:zz", "%"):
            assert await shelf.kept(said) is None


def test_the_first_fault_of_files_is_told_with_its_place() -> None:
    texts = {"rules.yaml": "rules: 7\n", "more.yaml": "rules: 8\n"}
    folder = revisions.folder_of(texts)
    order: JsonObject = {
        "id": revisions.revision_id(folder, Unreviewed.REFUSE),
        "texts": {**texts},
        "unreviewed": "refuse",
        "at": NOW.isoformat(),
        "prefix": "policies/",
    }
    with pytest.raises(FileError, match=r"policies/\w+\.yaml:1:\d+: .* \(and \d more\)"):
        compiled(order)

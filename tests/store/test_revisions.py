from dataclasses import replace
from datetime import timedelta

from gateway.store.revisions import StoredRevision
from gateway.store.store import Store
from tests.helpers.cases import NOW

FIRST = StoredRevision(
    id="sha256:1", at=NOW, activated_by="start", texts={"policies/a.yaml": "rules: []\n# é\n"}
)
SECOND = StoredRevision(id="sha256:2", at=NOW + timedelta(hours=1), activated_by="sam", texts={})


async def test_a_revision_comes_back_whole(store: Store) -> None:
    await store.revisions.save(FIRST)
    assert await store.revisions.get(FIRST.id) == FIRST
    assert await store.revisions.get("sha256:3") is None


async def test_the_one_that_was_activated_last_is_the_latest(store: Store) -> None:
    await store.revisions.save(FIRST)
    await store.revisions.save(SECOND)
    assert await store.revisions.latest() == [SECOND, FIRST]
    back = replace(FIRST, at=NOW + timedelta(hours=2), activated_by="kim")
    await store.revisions.save(back)
    assert await store.revisions.latest(limit=1) == [back]


async def test_revisions_are_found_by_how_their_ids_begin(store: Store) -> None:
    for number, end in enumerate(("aa", "ab", "b")):
        at = NOW + timedelta(hours=number)
        await store.revisions.save(replace(FIRST, id=f"sha256:{end}", at=at))
    found = await store.revisions.beginning("sha256:a")
    assert [each.id for each in found] == ["sha256:ab", "sha256:aa"]
    assert len(await store.revisions.beginning("sha256:")) == 3
    assert await store.revisions.beginning("sha256:%") == []
    assert await store.revisions.beginning("aa") == []

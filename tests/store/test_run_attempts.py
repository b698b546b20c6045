"""Requests to start a run that are made again."""

import pytest

from gateway.store.run_attempts import KeyUsed
from gateway.store.store import Store
from gateway.types.runs import Attempt
from gateway.types.values import replaced
from tests.helpers.runs import a_run, started

pytestmark = pytest.mark.postgres
FIRST = Attempt(owner="a" * 32, key="k-1", body="sha256:1")


async def test_an_attempt_leads_to_one_run_and_only_by_all_that_it_asks_for(store: Store) -> None:
    made = await store.runs.start(a_run(), [], started, attempt=FIRST)
    assert await store.runs.start(a_run(), [], started, attempt=FIRST) == made
    with pytest.raises(KeyUsed, match="another run"):
        await store.runs.start(a_run(), [], started, attempt=replaced(FIRST, body="sha256:2"))
    for other in (replaced(FIRST, key="k-2"), replaced(FIRST, owner="b" * 32)):
        run = await store.runs.start(a_run(), [], started, attempt=other)
        assert run.run_id != made.run_id


async def test_a_key_is_known_as_long_as_its_run(store: Store) -> None:
    made = await store.runs.start(a_run(), [], started, attempt=FIRST)
    await store.runs.forget(made)
    assert (await store.runs.start(a_run(), [], started, attempt=FIRST)).run_id != made.run_id

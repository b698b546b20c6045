import pytest

from gateway.crossing.run_wishes import By, Kind, RunRefused, Sees
from gateway.crossing.turning import turned
from gateway.events.turns import Turn
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.runs import Attempt, Mover, Phase
from gateway.types.values import replaced
from tests.crossing.test_running import a_running
from tests.helpers.runs import begun, moved

pytestmark = pytest.mark.postgres

BY = By(mover=Mover.HOST)
ACME = Sees(tenant="acme")
TURN = Turn(model="gpt-x", input_tokens=3, output_tokens=4)
ONCE = Attempt(owner="a" * 32, key="k-1", body="sha256:1")


async def test_a_turn_is_kept_with_its_run_and_spends_its_tokens(store: Store) -> None:
    run = await begun(store)
    running = a_running(store)
    assert (await turned(running, run.run_id, ACME, BY, TURN)).tokens == 7
    assert (await turned(running, run.run_id, ACME, BY, TURN)).tokens == 14
    (first, second) = await store.events.query(EventFilter(run=run.run_id, kind="model_turn"))
    assert [each.json()["stage"] for each in (first, second)] == ["recorded", "recorded"]


async def test_one_that_is_told_again_with_its_key_counts_once(store: Store) -> None:
    run, other = await begun(store), await begun(store)
    running = a_running(store)
    for _ in range(2):
        told = await turned(running, run.run_id, ACME, BY, TURN, attempt=ONCE)
        assert (told.tokens, told.run_id) == (7, run.run_id)
    assert (await turned(running, other.run_id, ACME, BY, TURN, attempt=ONCE)).tokens == 7
    changed = replaced(ONCE, body="sha256:2")
    with pytest.raises(RunRefused, match="another turn") as refused:
        await turned(running, run.run_id, ACME, BY, TURN, attempt=changed)
    assert refused.value.kind is Kind.KEY_USED
    kept = await store.events.query(EventFilter(run=run.run_id, kind="model_turn"))
    assert len(kept) == 1


async def test_neither_a_run_that_is_over_nor_somebody_elses_has_turns(store: Store) -> None:
    run = await begun(store)
    running = a_running(store)
    with pytest.raises(RunRefused) as refused:
        await turned(running, run.run_id, Sees(tenant="globex"), BY, TURN)
    assert refused.value.kind is Kind.NOT_FOUND
    await moved(store, run, Phase.FAILED)
    with pytest.raises(RunRefused) as refused:
        await turned(running, run.run_id, ACME, BY, TURN)
    assert refused.value.kind is Kind.BLOCKED

"""Changes of runs inside of a transaction: what `passing` and the table of runs have in common."""

import pytest

from gateway.store.store import Store
from gateway.types.runs import Phase
from gateway.types.values import replaced
from tests.helpers.runs import a_field, begun, told

pytestmark = pytest.mark.postgres


async def test_a_change_of_fields_and_one_of_the_phase_keep_what_the_other_has_written(
    store: Store,
) -> None:
    run = await begun(store, objective="a refund", fields={"a": a_field(1)})
    more = await store.runs.change(run, replaced(run, fields={"b": a_field(2)}), told)
    assert more is not None
    moved = await store.runs.change(more, replaced(more, phase=Phase.ACTING), told)
    assert moved is not None
    kept = await store.runs.get(run.run_id)
    assert kept is not None
    assert (kept.objective, kept.phase, kept.fields) == (
        "a refund",
        Phase.ACTING,
        {"b": a_field(2)},
    )
    none = await store.runs.change(moved, replaced(moved, fields={}), told)
    assert none is not None
    assert (await store.runs.get(run.run_id) or run).fields == {}

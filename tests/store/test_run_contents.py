"""What runs are for and have collected, as it lies in their rows."""

import logging
from collections.abc import Sequence

import pytest

from gateway.store.engine import Row
from gateway.store.run_contents import Contents
from gateway.store.run_rows import row_of
from gateway.store.store import Store
from gateway.store.vault import VaultBroken
from gateway.types.events import Event
from gateway.types.runs import Evidence, Run, Trust
from gateway.types.values import replaced
from tests.helpers.runs import a_field, a_run, begun, told

CONTENTS = Contents(lambda tenant: tenant.encode().ljust(32, b"\0"))


def a_full_run() -> Run:
    return a_run(
        objective="give ada the money back",
        fields={
            "customer_id": a_field({"id": 2**70}, trust=Trust.MODEL, source="crm.id", call_id="c"),
            "amount": a_field(4711),
        },
    )


def test_contents_come_back_from_their_row_and_nobody_reads_them_there() -> None:
    run = a_full_run()
    row = CONTENTS.row(run)
    assert CONTENTS.run(Row(row)) == run
    assert not any(word in str(row) for word in ("ada", "customer_id", "4711"))
    empty = CONTENTS.row(a_run())
    assert (empty["objective"], empty["fields"]) == ("", "")


def test_contents_open_in_their_own_run_and_tenant_only() -> None:
    row = CONTENTS.row(a_full_run())
    for other in ({"run_id": "run_2"}, {"tenant": "globex"}, {"fields": row["objective"]}):
        with pytest.raises(VaultBroken):
            CONTENTS.run(Row({**row, **other}))


def test_a_list_shows_a_run_whose_contents_do_not_open_without_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = a_full_run()
    row = {**CONTENTS.row(run), "objective": "v1.AAAA"}
    with caplog.at_level(logging.WARNING, logger="weighbridge"):
        assert CONTENTS.listed(Row(row)) == replaced(run, objective="", fields={})
    assert run.run_id in caplog.text


def test_what_was_kept_before_contents_were_sealed_is_read_as_it_is() -> None:
    fields = '{"a":{"value":1,"trust":"host","source":"host","at":3,"call":""}}'
    run = CONTENTS.run(Row({**row_of(a_run()), "objective": "a refund", "fields": fields}))
    assert (run.objective, run.fields) == ("a refund", {"a": a_field(1, at=3)})


def test_what_an_engine_refuses_is_not_in_a_row() -> None:
    run = a_run(objective="a\0b", fields={"x": a_field("a\0b")})
    kept = CONTENTS.run(Row(CONTENTS.row(run)))
    assert (kept.objective, kept.fields["x"].value) == ("a\ufffdb", "a\0b")


def test_a_row_with_a_field_that_is_none_is_no_run() -> None:
    row = {**row_of(a_run()), "objective": "", "fields": '{"x": 1}'}
    with pytest.raises(TypeError, match="a field that is none"):
        CONTENTS.run(Row(row))


@pytest.mark.postgres
async def test_who_tells_of_references_changes_no_field_by_that(store: Store) -> None:
    run = await begun(store, fields={"a": a_field(1)}, objective="a refund")
    seen: list[tuple[Run, Run]] = []

    def tell(before: Run, after: Run) -> Sequence[Event]:
        seen.append((before, after))
        return told(before, after)

    after = await store.runs.told_of(run, tell, items=[Evidence(source="kb://1")], tokens=5)
    assert (after.fields, after.objective, after.tokens) == ({"a": a_field(1)}, "a refund", 5)
    assert [before.fields for before, _ in seen] == [after.fields]

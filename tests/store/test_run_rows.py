import pytest

from gateway.store.engine import Row
from gateway.store.run_rows import evidence_of, evidence_row, row_of, run_of
from gateway.types.runs import Evidence, Mode, Phase, StopReason, Trust
from tests.helpers.runs import a_field, a_run


def test_a_run_comes_back_from_its_row() -> None:
    run = a_run(
        is_of_user=True,
        roles=frozenset({"support", "lead"}),
        scopes=frozenset({"crm:read"}),
        client="desk",
        task_id="T-1",
        objective="give the money back",
        template="refund",
        mode=Mode.HOST,
        phase=Phase.AWAITING_APPROVAL,
        resume_phase=Phase.ACTING,
        is_paused=True,
        stop_reason=StopReason.BLOCKED,
        note="wartet",
        parent="run_0",
        fields={
            "customer_id": a_field({"id": 2**70}, trust=Trust.MODEL, source="crm.id", call_id="c"),
            "amount": a_field(12),
        },
        is_tainted=True,
        version=7,
        ends_at=8,
        idle_s=1.5,
        finished_at=9,
        evidence=10,
        calls=11,
        tokens=12,
    )
    assert run_of(Row(row_of(run))) == run


def test_what_an_engine_refuses_is_not_in_a_row() -> None:
    row = row_of(a_run(objective="a\0b", note="\ud800", fields={"x": a_field("a\0b")}))
    assert (row["objective"], row["note"]) == ("a\ufffdb", "?")
    assert "\0" not in str(row["fields"])
    assert run_of(Row(row)).fields["x"].value == "a\0b"


def test_a_reference_comes_back_from_its_row() -> None:
    item = Evidence(source="kb/returns", version="7", chunk="3", call_id="call_1", at=5)
    assert evidence_of(Row(evidence_row("run_1", item))) == item


def test_a_row_with_a_field_that_is_none_is_no_run() -> None:
    with pytest.raises(TypeError, match="a field that is none"):
        run_of(Row(row_of(a_run()) | {"fields": '{"x": 1}'}))

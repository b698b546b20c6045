from gateway.store.engine import Row
from gateway.store.run_rows import evidence_of, evidence_row, row_of, run_of
from gateway.types.runs import Evidence, Mode, Phase, StopReason
from tests.helpers.runs import a_run


def test_a_run_comes_back_from_its_row() -> None:
    run = a_run(
        is_of_user=True,
        roles=frozenset({"support", "lead"}),
        scopes=frozenset({"crm:read"}),
        client="desk",
        task_id="T-1",
        template="refund",
        mode=Mode.HOST,
        phase=Phase.AWAITING_APPROVAL,
        resume_phase=Phase.ACTING,
        is_paused=True,
        stop_reason=StopReason.BLOCKED,
        note="wartet",
        parent="run_0",
        is_tainted=True,
        version=7,
        ends_at=8,
        idle_s=1.5,
        finished_at=9,
        evidence=10,
        calls=11,
        tokens=12,
    )
    assert run_of(Row({**row_of(run), "objective": "", "fields": ""})) == run


def test_what_an_engine_refuses_is_not_in_a_row() -> None:
    assert row_of(a_run(note="\ud800"))["note"] == "?"


def test_a_reference_comes_back_from_its_row() -> None:
    item = Evidence(source="kb/returns", version="7", chunk="3", call_id="call_1", at=5)
    assert evidence_of(Row(evidence_row("run_1", item))) == item

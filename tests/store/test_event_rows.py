import pytest

from gateway.events.envelope import Origin, to_bytes
from gateway.store.event_rows import column, row_of
from gateway.types.event_rows import COLUMNS
from tests.helpers.cases import NOW
from tests.helpers.events import an_event

ORIGIN = Origin(instance="one", version="1")


def test_a_row_has_what_its_event_is_looked_for_by_and_its_exact_bytes() -> None:
    body = {"tool": "crm.find", "decision": "deny", "rule": "r", "status": "denied"}
    event = an_event(id="e", body=body, run="run_1", trace_id="ab")
    row = row_of(event, ORIGIN)
    assert row.body.encode() == to_bytes(event, ORIGIN)
    assert row.at == round(NOW.timestamp()) * 1_000_000
    assert dict(zip(COLUMNS, row.numbered(7), strict=True)) == {
        "seq": 7,
        "id": "e",
        "at": row.at,
        "kind": "tool_call",
        "stage": "finished",
        "tenant": "acme",
        "run_id": "run_1",
        "call_id": "call_1",
        "tool": "crm.find",
        "actor_user": event.actor.user if event.actor else "",
        "decision": "deny",
        "rule": "r",
        "status": "denied",
        "trace_id": "ab",
        "body": row.body,
    }


def test_what_an_event_does_not_say_is_an_empty_column() -> None:
    row = row_of(an_event(body={}, actor=None, tenant="", call=""), ORIGIN)
    said = (row.tenant, row.run_id, row.call_id, row.tool, row.actor_user, row.decision, row.rule)
    assert {*said, row.status, row.trace_id} == {""}


@pytest.mark.parametrize("odd", [None, 7, ["a"], {"a": "b"}], ids=repr)
def test_what_is_no_text_is_an_empty_column_and_the_others_stay(odd: object) -> None:
    row = row_of(an_event(body={"tool": odd, "status": "ok"}), ORIGIN)
    assert (row.tool, row.status, row.tenant) == ("", "ok", "acme")


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 300, "é" * 300], ids=ascii)
def test_columns_are_what_every_engine_takes_wherever_the_odd_one_stands(text: str) -> None:
    for row in (
        row_of(an_event(body={"tool": text}), ORIGIN),
        row_of(an_event(body={"tool": "t"}, tenant=text), ORIGIN),
    ):
        for each in (row.tool, row.tenant):
            assert "\0" not in each
            assert each.encode()
            assert len(each) <= 256
    assert row_of(an_event(body={}, call=text), ORIGIN).call_id == column(text)

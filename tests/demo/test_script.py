"""The script: what has to come of each call."""

import pytest

from gateway.demo.scene import ACME, GLOBEX, Step, Surprise
from gateway.demo.script import SCRIPT, TIME_TOOL, script
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status

_STEPS = [line for line in SCRIPT if isinstance(line, Step)]


def _step(tool: str, tenant: str = ACME) -> Step:
    return next(
        step
        for step in _STEPS
        if step.tool == tool and step.tenant == tenant and step.status is Status.OK
    )


def test_the_script_shows_every_way_of_ending_that_it_is_there_for() -> None:
    assert {step.status for step in _STEPS} == {
        Status.OK,
        Status.PROVENANCE_FAILED,
        Status.APPROVAL_PENDING,
        Status.APPROVAL_EXPIRED,
        Status.DENIED,
        Status.INVALID_ARGUMENTS,
        Status.LIMIT_EXCEEDED,
        Status.UNKNOWN_TOOL,
        Status.FORBIDDEN,
        Status.INDETERMINATE,
        Status.RESULT_INVALID,
        Status.VARIANT_OF,
        Status.TOOL_CHANGED,
        Status.PHASE_BLOCKED,
    }
    assert {step.tenant for step in _STEPS} == {ACME, GLOBEX}


def test_without_the_pypi_server_its_step_alone_is_left_out() -> None:
    assert script(with_time=True) == SCRIPT
    without = script(with_time=False)
    assert [line for line in SCRIPT if line not in without] == [_step(TIME_TOOL, GLOBEX)]


@pytest.mark.parametrize(
    "leak", [{"phone": "+46 18"}, {"email": "mara@lindqvist.example"}], ids=["phone", "email"]
)
def test_contact_details_that_leave_are_a_surprise(leak: dict[str, str]) -> None:
    customer: JsonObject = {"id": "c-1001", "email": "hmac-sha256:ab", **leak}
    with pytest.raises(Surprise, match="contact details"):
        _step("crm__search_customers").observe({"tenant": "acme", "customers": [customer]})
    with pytest.raises(Surprise, match="contact details"):
        _step("crm__get_customer").observe({**customer})


def test_an_answer_without_a_tenant_or_rows_is_a_surprise() -> None:
    observe = _step("desk__list_tickets").observe
    with pytest.raises(Surprise, match="tenant"):
        observe({"tenant": "", "tickets": [{"id": "t-1"}]})
    with pytest.raises(Surprise, match="no tickets"):
        observe({"tenant": "acme", "tickets": []})


def test_what_came_back_is_told_in_words() -> None:
    said = _step("desk__refund").observe({"refund_id": 1, "amount": 25.0, "currency": "EUR"})
    assert said == "refund 1: 25.0 EUR"
    assert "note 7" in _step("crm__add_note").observe({"note_id": 7, "customer_id": "c-1001"})

"""Calls that were made."""

from gateway.types.calls import Method
from gateway.types.tools import Kind
from tests.helpers.pasts import a_past


def test_a_use_is_what_is_usually_done() -> None:
    assert a_past().is_use
    assert not a_past(method=Method.GET_TASK).is_use
    assert a_past(kind=Kind.PROMPT, method=Method.GET_PROMPT).is_use


def test_the_template_is_the_run_s() -> None:
    assert a_past().template == ""
    assert a_past(run={}).template == ""
    assert a_past(run={"template": "case"}).template == "case"

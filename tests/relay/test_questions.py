"""What a server gets to see of a caller."""

from dataclasses import replace

from gateway.relay.questions import capabilities_for
from gateway.types.calls import Method
from tests.helpers.cases import a_call, a_case
from tests.helpers.relays import some_questions
from tests.relay.callers import ALL, Asked


def test_what_is_declared_for_everybody_who_may_be_asked() -> None:
    assert capabilities_for([Method.ELICIT, Method.LIST_ROOTS, Method.LOG]) == {
        "elicitation": {"form": {}, "url": {}},
        "roots": {},
    }


def test_a_caller_is_shown_as_it_is_but_for_what_nobody_may_ask_of_it() -> None:
    case = a_case(call=replace(a_call(), caller=Asked()))
    assert some_questions().shared(case) == ALL
    assert some_questions(frozenset()).shared(case) == {"x": ALL["x"]}


def test_a_level_counts_where_servers_may_log() -> None:
    case = a_case(call=replace(a_call(), caller=Asked(log_level="info")))
    assert some_questions().log_level(case) == "info"
    assert some_questions(frozenset()).log_level(case) == ""


def test_only_a_caller_that_declared_something_to_ask_for_may_be_asked() -> None:
    able = a_case(call=replace(a_call(), caller=Asked()))
    unable = a_case(call=replace(a_call(), caller=Asked(capabilities={"x": {}})))
    assert some_questions().asks_any(able)
    assert not some_questions().asks_any(unable)

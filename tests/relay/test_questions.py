"""What a server gets to see of a caller."""

from dataclasses import replace

import pytest

from gateway.relay.questions import capabilities_for
from gateway.types.calls import Method
from gateway.types.json import JsonObject
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


@pytest.mark.parametrize(
    ("method", "leads", "message"),
    [
        ("elicitation/create", True, "crm asks: sure?"),
        ("elicitation/create", False, "sure?"),
        ("sampling/createMessage", True, "sure?"),
    ],
)
def test_a_caller_is_told_which_server_asks(method: str, leads: bool, message: str) -> None:
    questions = replace(some_questions(), leads=leads)
    case = a_case(call=replace(a_call(), caller=Asked()))
    theirs: JsonObject = {"weighbridge/server": "billing", "own": 1}
    params: JsonObject = {"message": "sure?", "_meta": theirs, "n": 10**30}
    shown = questions.shown(case, questions.admit(case, method, params))
    assert shown == {
        "message": message,
        "_meta": {"weighbridge/server": "crm", "own": 1},
        "n": 10**30,
    }
    assert theirs["weighbridge/server"] == "billing"


def test_a_question_without_params_names_its_server_too() -> None:
    questions, case = some_questions(), a_case(call=replace(a_call(), caller=Asked()))
    question = questions.admit(case, "roots/list", None)
    assert questions.shown(case, question) == {"_meta": {"weighbridge/server": "crm"}}

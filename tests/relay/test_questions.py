"""Questions: what a caller declared, as far as policy lets a server make use of it."""

from dataclasses import replace

import pytest

from gateway.case import Case
from gateway.errors import AskRefused
from gateway.types.calls import Method
from gateway.types.json import Json
from tests.helpers.cases import a_call, a_case
from tests.helpers.relays import EVERYTHING, some_questions
from tests.relay.callers import ALL, Asked


def a_case_of(caller: Asked) -> Case:
    return a_case(call=replace(a_call(), caller=caller))


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        (EVERYTHING, {"elicitation", "sampling", "roots", "x"}),
        (frozenset({Method.ELICIT}), {"elicitation", "x"}),
        (frozenset[Method](), {"x"}),
    ],
)
def test_a_server_is_shown_what_was_declared_less_what_is_forbidden(
    allowed: frozenset[Method], left: set[str]
) -> None:
    shared = some_questions(allowed).shared(a_case_of(Asked()))
    assert shared == {name: ALL[name] for name in left}


def test_nothing_is_declared_on_behalf_of_a_caller_that_declared_nothing() -> None:
    silent = a_case_of(Asked(capabilities={}))
    assert some_questions().shared(silent) == {}
    assert not some_questions().asks_any(silent)


def test_a_caller_can_be_asked_only_what_it_declared_and_policy_allows() -> None:
    assert some_questions().asks_any(a_case_of(Asked()))
    assert not some_questions(frozenset({Method.LOG})).asks_any(a_case_of(Asked()))
    only_x = a_case_of(Asked(capabilities={"x": {}}))
    assert not some_questions().asks_any(only_x)


def test_a_level_counts_only_where_the_server_may_log() -> None:
    case = a_case_of(Asked(log_level="error"))
    assert some_questions().log_level(case) == "error"
    assert some_questions().hears_logs(case)
    forbidden = some_questions(EVERYTHING - {Method.LOG})
    assert forbidden.log_level(case) == ""
    assert not forbidden.hears_logs(case)


def test_one_log_message_may_be_forbidden_by_what_it_says() -> None:
    questions = some_questions(decide=lambda method, params: params.get("level") != "debug")
    case = a_case_of(Asked())
    assert questions.may_log(case, {"level": "error"})
    assert not questions.may_log(case, {"level": "debug"})


def test_a_question_is_read_with_its_params_or_without_any() -> None:
    questions = some_questions()
    read = questions.read("elicitation/create", {"message": "sure?"}, ALL)
    assert (read.method, read.params) == (Method.ELICIT, {"message": "sure?"})
    assert questions.read("roots/list", None, ALL).params == {}


@pytest.mark.parametrize("method", [None, 7, "no/such", "tools/call", "notifications/message"])
def test_what_is_no_question_is_not_offered(method: Json) -> None:
    with pytest.raises(AskRefused) as refused:
        some_questions().read(method, {}, ALL)
    assert refused.value.code == -32601


def test_a_question_that_was_not_shared_is_not_offered() -> None:
    with pytest.raises(AskRefused) as refused:
        some_questions().read("sampling/createMessage", {}, {"elicitation": {}})
    assert refused.value.code == -32601


def test_params_that_are_no_object_are_refused_as_such() -> None:
    with pytest.raises(AskRefused) as refused:
        some_questions().read("roots/list", [1], ALL)
    assert refused.value.code == -32602


def test_a_question_is_held_against_policy_by_what_it_says() -> None:
    questions = some_questions(decide=lambda method, params: "password" not in str(params))
    case = a_case_of(Asked())
    questions.check(case, questions.read("elicitation/create", {"message": "sure?"}, ALL))
    asked = questions.read("elicitation/create", {"message": "your password?"}, ALL)
    with pytest.raises(AskRefused, match="policy"):
        questions.check(case, asked)

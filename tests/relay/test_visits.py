"""URLs that a server wants visited first, in the words of both eras."""

import pytest

from gateway.relay import visits
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Rejected

ENTRY: JsonObject = {"mode": "url", "url": "https://a.example", "message": "log in"}


def wanted(data: Json) -> Rejected:
    return Rejected(code=-32042, message="first", data=data, size=7, status=400)


def test_each_url_is_a_question_of_its_own() -> None:
    other = {**ENTRY, "url": "https://b.example"}
    asking = visits.as_questions(wanted({"elicitations": [ENTRY, other], "n": 1}))
    assert asking is not None
    assert asking.result["resultType"] == "input_required"
    assert asking.result["inputRequests"] == {
        "weighbridge/url-1": {"method": "elicitation/create", "params": ENTRY},
        "weighbridge/url-2": {"method": "elicitation/create", "params": other},
    }


@pytest.mark.parametrize("entry", [{**ENTRY, "mode": "form"}, {"url": "https://a"}, "https://a"])
def test_what_is_no_url_is_never_taken_for_another_question(entry: Json) -> None:
    assert visits.as_questions(wanted({"elicitations": [ENTRY, entry]})) is None


@pytest.mark.parametrize("data", [None, {}, {"elicitations": "https://a"}, [ENTRY]])
def test_an_error_without_entries_asks_nothing(data: Json) -> None:
    asking = visits.as_questions(wanted(data))
    assert asking is not None
    assert asking.result["inputRequests"] == {}  # which no caller is handed


def test_the_error_keeps_all_but_the_entries_which_are_those_that_are_shown() -> None:
    shown: JsonObject = {**ENTRY, "message": "crm asks: log in"}
    asked: JsonObject = {"inputRequests": {"weighbridge/url-1": {"method": "m", "params": shown}}}
    error = visits.as_error(wanted({"elicitations": [ENTRY], "n": 10**30}), asked)
    assert (error.code, error.message, error.size, error.status) == (-32042, "first", 7, 400)
    assert error.data == {"elicitations": [shown], "n": 10**30}


def test_a_server_gets_no_answer_to_what_it_has_not_asked_in_this_way() -> None:
    both: Json = {"weighbridge/url-1": {"action": "accept"}, "one": {"n": 1}}
    assert visits.without_answers(both) == {"one": {"n": 1}}
    assert visits.without_answers("odd") == "odd"

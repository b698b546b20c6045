"""Problems as RFC 9457 has them."""

import json

import pytest

from gateway.admin.problems import KINDS, Code, Refused
from gateway.client.wire import Fault, Problem


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_status_and_a_title(code: Code) -> None:
    answer = Refused(code=code, detail="mend it", headers={"Allow": "GET"}).response()
    assert answer.status_code == KINDS[code].status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Allow"] == "GET"
    problem = Problem.model_validate(json.loads(bytes(answer.body)))
    assert problem.type == f"urn:weighbridge:problem:{code}"
    assert (problem.status, problem.title) == (KINDS[code].status, KINDS[code].title)
    assert (problem.detail, problem.missing, problem.errors) == ("mend it", [], [])


def test_what_is_missing_and_what_is_wrong_is_listed() -> None:
    refused = Refused(
        code=Code.INVALID,
        detail="mend it",
        missing=["evidence >= 1"],
        errors=[Fault(pointer="/a", detail="no")],
    )
    body = json.loads(bytes(refused.response().body))
    assert (body["missing"], body["errors"]) == (
        ["evidence >= 1"],
        [{"pointer": "/a", "detail": "no"}],
    )
    assert str(refused) == "mend it"

"""The admin listener."""

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from gateway.admin.readiness import Readiness
from gateway.admin.site import site
from gateway.errors import StoreUnavailable


@pytest.mark.parametrize(
    ("readiness", "status"),
    [(Readiness(ready=True), 200), (Readiness(ready=False, reasons=("no store",)), 503)],
)
def test_readiness_says_why_not(readiness: Readiness, status: int) -> None:
    answer = TestClient(site(lambda: readiness)).get("/readyz")
    assert answer.status_code == status
    assert answer.json()["reasons"] == list(readiness.reasons)


def test_what_only_some_callers_meet_is_told_and_leaves_the_gateway_ready() -> None:
    found = Readiness(ready=True, warnings=("keys of an issuer",))
    answer = TestClient(site(lambda: found)).get("/readyz")
    assert (answer.status_code, answer.json()["warnings"]) == (200, ["keys of an issuer"])


def test_a_living_process_is_alive_whatever_it_can_do() -> None:
    answer = TestClient(site(lambda: Readiness(ready=False))).get("/healthz")
    assert answer.status_code == 200


def failing(error: Exception) -> TestClient:
    async def fail(request: Request) -> Response:
        raise error

    rooms = [Route("/approvals", fail)]
    app = site(lambda: Readiness(ready=True), rooms)
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


def test_while_the_store_is_away_pages_say_so_and_that_nothing_was_done() -> None:
    answer = failing(StoreUnavailable("disk full at /secret/path")).get("/approvals")
    assert answer.status_code == 503
    assert "nothing was done" in answer.text
    assert "/secret/path" not in answer.text


def test_a_fault_of_ours_is_a_page_without_its_words() -> None:
    answer = failing(ValueError("internal words")).get("/approvals")
    assert answer.status_code == 500
    assert "internal words" not in answer.text


def test_what_is_not_there_and_what_can_not_be_done_are_pages_too() -> None:
    client = failing(ValueError("never"))
    missing, wrong = client.get("/nowhere"), client.post("/approvals")
    assert (missing.status_code, wrong.status_code) == (404, 405)
    assert "<h1>Not found</h1>" in missing.text
    assert "GET" in wrong.headers["allow"]


def test_the_top_leads_to_what_waits_where_there_are_pages() -> None:
    assert failing(ValueError("never")).get("/").headers["location"] == "/approvals"
    assert TestClient(site(lambda: Readiness(ready=True))).get("/").status_code == 404

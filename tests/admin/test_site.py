"""The admin listener."""

import pytest
from starlette.testclient import TestClient

from gateway.admin.site import Readiness, site


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

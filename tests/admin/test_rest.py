"""Who gets to `/v1`, and what is answered to whoever does not."""

from pathlib import Path
from typing import Any

import pytest

from gateway.admin.endpoints import ENDPOINTS
from gateway.types.refused import TurnedAwayFor
from tests.admin.hosting import MOVER, READER, admin_key, open_desk

EXPIRED, EXPIRED_ENTRY = admin_key("old", ["run:read"], expires="2020-01-01")
AGENT = "wb_host_" + "0" * 64


def paths() -> list[tuple[str, str]]:
    return [(each.method, each.path.format(run_id="run_x")) for each in ENDPOINTS]


async def test_nobody_gets_in_without_a_key_of_its_own(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for method, path in [*paths(), ("GET", "/v1"), ("GET", "/v1/nowhere")]:
            for key in ("", AGENT, "wba_host_" + "0" * 64, "wba_nobody_" + "0" * 64, "x.y.z"):
                answer = await desk.send(method, path, key=key)
                assert (answer.status, answer.body["code"]) == (401, "unauthenticated")
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")
                assert answer.headers["Content-Type"] == "application/problem+json"
                assert "X-Frame-Options" in answer.headers
        notes = desk.house.turned_away
        assert len(notes) == 4 * (len(paths()) + 2)  # showing nothing is no attempt
        assert {(each.reason, each.transport) for each in notes} == {
            (TurnedAwayFor.INVALID_CREDENTIAL, "admin")
        }
        assert all("wb" not in each.detail for each in notes)


async def test_a_login_of_a_person_is_worth_nothing_to_programs(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        browser = await desk.house.logged_in()
        assert (await browser.get("/approvals")).status == 200
        assert (await browser.get("/v1/runs")).status == 401
        assert (await browser.post("/v1/runs")).status == 401


async def test_a_key_for_programs_opens_no_page(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for path in ("/approvals", "/healthz", "/", "/V1/runs", "/v10", "//v1/runs"):
            assert (await desk.get(path)).status == 403


@pytest.mark.parametrize("header", ["X-API-Key", "Cookie", "Proxy-Authorization"])
async def test_no_other_header_says_who_somebody_is(tmp_path: Path, header: str) -> None:
    async with open_desk(tmp_path) as desk:
        headers: Any = {header: f"Bearer {READER}"}
        answer = await desk.send("GET", "/v1/runs", key="", **headers)
        assert answer.status == 401


async def test_each_thing_needs_its_scope(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for each in ENDPOINTS:
            path = each.path.format(run_id="run_x")
            for key, scopes in ((READER, {"run:read"}), (MOVER, {"run:phase"})):
                answer = await desk.send(each.method, path, key=key)
                assert (answer.status == 403) == scopes.isdisjoint(each.scopes), each.id
        refused = await desk.post("/v1/runs", key=READER)
        assert "`run:manage`" in refused.body["detail"]


async def test_what_is_not_there_is_a_problem_and_no_page(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        for path in ("/v1", "/v1/", "/v1/nowhere", "/v1/runs/run_x/dance"):
            answer = await desk.get(path)
            assert (answer.status, answer.body["code"]) == (404, "not_found")
        wrong = await desk.send("DELETE", "/v1/runs")
        assert (wrong.status, wrong.headers["Allow"]) == (405, "GET, POST")
        assert (await desk.send("GET", "/v1/runs/run_x/pause")).headers["Allow"] == "POST"
        assert (await desk.send("HEAD", "/v1/runs")).status == 200


async def test_the_document_needs_no_key_and_takes_no_wrong_one(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        assert (await desk.get("/v1/openapi.json", key="")).body["openapi"] == "3.1.0"
        assert (await desk.get("/v1/openapi.json")).status == 200
        assert (await desk.get("/v1/openapi.json", key=AGENT)).status == 401


async def test_while_the_store_is_away_it_is_said_when_to_come_back(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.house.store.close()
        answer = await desk.get("/v1/runs")
        assert (answer.status, answer.body["code"]) == (503, "unavailable")
        assert answer.headers["Retry-After"] == "2"

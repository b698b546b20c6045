"""What every answer carries, and the credential that no page takes."""

from pathlib import Path

from gateway.types.refused import TurnedAwayFor
from tests.admin.house import open_house

PATHS = ("/healthz", "/readyz", "/login", "/approvals", "/approvals/apr_1", "/nowhere")


async def test_every_answer_keeps_other_pages_out(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        for path in PATHS:
            headers = (await browser.get(path)).headers
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "script-src" not in policy
            for rule in ("style-src 'self'", "form-action 'self'", "frame-ancestors 'none'"):
                assert rule in policy
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"
            assert headers["Cache-Control"] == "no-store"
            assert "Strict-Transport-Security" not in headers


async def test_answers_to_programs_carry_the_same(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        for path in ("/v1", "/v1/runs", "/v1/openapi.json"):
            headers = (await house.browser().get(path)).headers
            assert "default-src 'none'" in headers["Content-Security-Policy"]
            assert headers["Cache-Control"] == "no-store"


async def test_a_bearer_token_is_refused_everywhere_and_noted(tmp_path: Path) -> None:
    """case: APR-03"""
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        for path in PATHS:
            for method in ("GET", "HEAD", "POST"):
                answer = await browser.get(path, method, Authorization="Bearer wb_agent_0")
                assert answer.status == 403
                assert "X-Frame-Options" in answer.headers
        assert len(house.turned_away) == 18
        for note in house.turned_away:
            assert note.reason is TurnedAwayFor.INVALID_CREDENTIAL
            assert (note.transport, note.peer) == ("admin", "127.0.0.1")
            assert "wb_agent" not in note.detail

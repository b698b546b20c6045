"""The listener as a whole: what is there, and what only a configuration brings."""

from pathlib import Path

from tests.admin.house import PEOPLE, open_house


async def test_without_a_provider_nobody_is_sent_to_one(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = house.browser()
        for path in ("/login/oidc", "/login/callback?code=x&state=y"):
            assert (await browser.get(path)).status == 404
        assert "identity provider" not in (await browser.get("/login")).text


async def test_health_needs_no_login_and_pages_do(tmp_path: Path) -> None:
    async with open_house(tmp_path, PEOPLE) as house:
        browser = house.browser()
        assert (await browser.get("/healthz")).status == 200
        assert (await browser.get("/readyz")).status == 200
        assert (await browser.get("/")).headers["Location"] == "/approvals"
        assert (await browser.get("/approvals")).status == 401


async def test_only_behind_tls_browsers_are_told_to_stay_there(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        page = await house.browser().get("/login")
        assert "Strict-Transport-Security" not in page.headers
    async with open_house(tmp_path, base_url="https://approvals.example.com") as house:
        page = await house.browser().get("/login")
        assert page.headers["Strict-Transport-Security"]


async def test_somebody_gets_in_though_the_log_takes_nothing_just_now(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        link, browser = await house.link(), house.browser()
        house.store.events.close(timeout_s=1)
        assert (await browser.post(link)).status == 303

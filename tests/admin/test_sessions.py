"""Who a request is from, and for how long."""

from pathlib import Path
from typing import Any

from tests.admin.house import ANN, PEOPLE, House, open_house
from tests.helpers.issuer import HandClock


def cookie(house: House) -> str:
    (session,) = (each for each in house.browsers if len(each.cookie_jar))
    return {each.key: each.value for each in session.cookie_jar}["weighbridge"]


async def test_nobody_sees_a_page_before_he_logs_in(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = house.browser()
        for path in ("/approvals", "/approvals/apr_1", "/approvals/history"):
            asked = await browser.get(path)
            assert asked.status == 401
            assert "weighbridge admin login" in asked.text
        for path in ("/approvals/apr_1/decide", "/logout"):
            assert (await browser.post(path, {"choice": "approve"})).status == 401


async def test_a_login_ends_when_it_is_not_used_and_with_its_lifetime(tmp_path: Path) -> None:
    clock = HandClock()
    async with open_house(tmp_path, clock=clock) as house:
        browser = await house.logged_in()
        for _ in range(16):
            clock.move(1790)
            assert (await browser.get("/approvals")).status == 200
        clock.move(1790)
        assert (await browser.get("/approvals")).status == 401
        again = await house.logged_in()
        clock.move(1801)
        assert (await again.get("/approvals")).status == 401


async def test_a_role_that_is_taken_away_or_an_account_that_is_gone_counts_at_once(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        await house.logged_in()
        held = cookie(house)
    demoted: dict[str, Any] = {"admin": {"accounts": [{**ANN, "roles": []}]}}
    for settings, status in (
        (demoted, 200),
        ({"admin": {"accounts": [{**ANN, "user": "x"}]}}, 401),
    ):
        async with open_house(tmp_path, settings) as house:
            browser = house.browser()
            browser.session.cookie_jar.update_cookies({"weighbridge": held})
            assert (await browser.get("/approvals")).status == status


async def test_a_link_from_another_site_is_followed_once_more_from_our_own_page(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        browser = house.browser()
        came = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
        onward = await browser.get("/approvals/apr_1", **came)
        assert onward.status == 200
        assert 'content="0;url=/approvals/apr_1"' in onward.text
        ours = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "navigate"}
        assert (await browser.get("/approvals/apr_1", **ours)).status == 401


async def test_behind_tls_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    async with open_house(tmp_path, PEOPLE, base_url="https://approvals.example.com") as house:
        as_there = {"Host": "approvals.example.com", "Origin": "https://approvals.example.com"}
        entered = await house.browser().post(await house.link(), headers=as_there)
        cookie = entered.headers["Set-Cookie"]
        assert cookie.startswith("__Host-weighbridge=")
        assert {"Secure", "Path=/"} <= set(cookie.split("; "))
        assert entered.headers["Strict-Transport-Security"]

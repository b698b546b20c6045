"""Logging in at an identity provider, as a browser meets it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.admin.house import ANN, Browser, House, open_house
from tests.helpers.issuer import HandClock
from tests.helpers.provider import CLIENT, SECRET, FakeProvider, providing


@asynccontextmanager
async def open_both(
    folder: Path, clock: HandClock | None = None, **admin: Any
) -> AsyncGenerator[tuple[House, FakeProvider]]:
    clock = clock or HandClock()
    async with providing(clock) as fake:
        oidc = {
            "issuer": fake.issuer,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "claims": {"tenant": "org"},
            "tenants": ["acme"],
        }
        async with open_house(folder, {"admin": {"oidc": oidc, **admin}}, clock=clock) as house:
            yield house, fake


async def sent(browser: Browser, to: str = "") -> str:
    """Begin a login and return where the browser is sent."""
    went = await browser.get(f"/login/oidc{f'?to={to}' if to else ''}")
    assert went.status == 303
    return went.headers["Location"]


async def test_somebody_logs_in_and_gets_to_where_he_wanted(tmp_path: Path) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser = house.browser()
        asked = await browser.get("/approvals/apr_1")
        assert "/login/oidc?to=/approvals/apr_1" in asked.text
        address = await sent(browser, "/approvals/apr_1")
        redirect = parse_qs(urlsplit(address).query)["redirect_uri"]
        assert redirect == [f"{house.url}/login/callback"]
        entered = await browser.get(f"/login/callback?{fake.log_in(address)}")
        assert entered.status == 200
        assert 'content="0;url=/approvals/apr_1"' in entered.text
        cookies = entered.headers.getall("Set-Cookie")
        assert any("SameSite=Strict" in each for each in cookies if "weighbridge=" in each)
        assert any("Max-Age=0" in each for each in cookies if "weighbridge-login=" in each)
        assert (await browser.get("/approvals")).status == 200
        (told,) = await house.events("logged_in")
        assert told["issuer"] == fake.issuer
        assert told["assurance"] == "authenticated"
        assert told["roles"] == ["finance-lead"]


@pytest.mark.parametrize(
    "to", ["/replay/report?revision=ab&since=", "/replay/calls/call_1?revision=ab", "/events/7"]
)
async def test_a_login_leads_back_to_the_address_of_a_page(tmp_path: Path, to: str) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser = house.browser()
        address = await sent(browser, quote(to))
        entered = await browser.get(f"/login/callback?{fake.log_in(address)}")
        assert f'content="0;url={to.replace("&", "&amp;")}"' in entered.text


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example",
        "//evil.example",
        "/approvals/../x",
        "/login",
        "/approvals/a/b",
        "/events?x=//y",
    ],
)
async def test_a_login_leads_to_pages_of_ours_only(tmp_path: Path, to: str) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser = house.browser()
        address = await sent(browser, to)
        entered = await browser.get(f"/login/callback?{fake.log_in(address)}")
        assert 'content="0;url=/approvals"' in entered.text


async def test_an_answer_counts_in_the_browser_that_asked_and_once(tmp_path: Path) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser, other = house.browser(), house.browser()
        answer = fake.log_in(await sent(browser))
        for stranger in (house.browser(), other):
            refused = await stranger.get(f"/login/callback?{answer}")
            assert refused.status == 403
            assert "not begun in this browser" in refused.text
        await sent(other)  # one of its own, with another state
        assert (await other.get(f"/login/callback?{answer}")).status == 403
        assert (await browser.get(f"/login/callback?{answer}")).status == 200
        again = await browser.get(f"/login/callback?{answer}")
        assert again.status == 403
        assert {each.transport for each in house.turned_away} == {"admin"}


async def test_a_login_that_took_too_long_is_begun_anew(tmp_path: Path) -> None:
    clock = HandClock()
    async with open_both(tmp_path, clock) as (house, fake):
        browser = house.browser()
        answer = fake.log_in(await sent(browser))
        clock.move(600)
        assert (await browser.get(f"/login/callback?{answer}")).status == 403


async def test_scanners_and_forms_begin_and_end_nothing(tmp_path: Path) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser = house.browser()
        assert "Set-Cookie" not in (await browser.get("/login/oidc", "HEAD")).headers
        answer = fake.log_in(await sent(browser))
        assert (await browser.get(f"/login/callback?{answer}", "HEAD")).status == 405
        assert (await browser.post(f"/login/callback?{answer}")).status == 405
        assert (await browser.get(f"/login/callback?{answer}")).status == 200


async def test_who_is_not_let_in_is_told_why_and_it_is_noted(tmp_path: Path) -> None:
    async with open_both(tmp_path) as (house, fake):
        browser = house.browser()
        denied = parse_qs(fake.log_in(await sent(browser)))["state"][0]
        refused = await browser.get(f"/login/callback?error=access_denied&state={denied}")
        assert refused.status == 403
        assert "access_denied" in refused.text
        fake.claims = {"org": "globex"}
        refused = await browser.get(f"/login/callback?{fake.log_in(await sent(browser))}")
        assert refused.status == 401
        assert "may not speak for" in refused.text
        assert len(house.turned_away) == 2


async def test_an_outage_of_the_provider_is_said_and_nobodys_fault(tmp_path: Path) -> None:
    async with open_both(tmp_path) as (house, fake):
        fake.discovery = {"jwks_uri": "http://elsewhere.example/keys"}
        unavailable = await house.browser().get("/login/oidc")
        assert unavailable.status == 503
        assert "elsewhere" not in unavailable.text
        assert house.turned_away == []


async def test_accounts_and_a_provider_may_stand_side_by_side(tmp_path: Path) -> None:
    async with open_both(tmp_path, accounts=[ANN]) as (house, fake):
        page = (await house.browser().get("/login")).text
        assert f"Log in at {urlsplit(fake.issuer).netloc}" in page
        assert "weighbridge admin login" in page
        await house.logged_in()

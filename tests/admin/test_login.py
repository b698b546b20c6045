"""The one-time link, sessions and logging out, as a browser meets them."""

import asyncio
from pathlib import Path

import pytest

from tests.admin.house import PEOPLE, open_house


async def test_a_link_shows_whom_it_lets_in_and_its_button_does_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser, link = house.browser(), await house.link()
        shown = await browser.get(link)
        assert shown.status == 200
        assert "Log in as ann" in shown.text
        assert "Set-Cookie" not in shown.headers
        entered = await browser.post(link)
        assert (entered.status, entered.headers["Location"]) == (303, "/approvals")
        cookie = entered.headers["Set-Cookie"]
        assert cookie.startswith("weighbridge=")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        assert (await browser.get("/login")).headers["Location"] == "/approvals"
        (told,) = await house.events("logged_in")
        assert told == {
            "action": "logged_in",
            "user": "ann",
            "roles": ["finance-lead"],
            "issuer": "os:ann",
            "assurance": "local",
            "peer": "127.0.0.1",
        }


async def test_scanners_that_follow_links_use_nothing_up(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        scanner, link = house.browser(), await house.link()
        for method in ("GET", "HEAD", "OPTIONS", "PUT") * 4:
            assert "Set-Cookie" not in (await scanner.get(link, method)).headers
        assert (await house.browser().post(link)).status == 303


async def test_a_link_works_once_whoever_tries_at_the_same_time(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        link = await house.link()
        answers = await asyncio.gather(*(house.browser().post(link) for _ in range(10)))
        assert sorted(each.status for each in answers) == [303, *[410] * 9]
        late = await house.browser().get(link)
        assert late.status == 410
        assert "`weighbridge admin login` prints a new one" in late.text
        assert {each.transport for each in house.turned_away} == {"admin"}
        assert len(house.turned_away) == 10


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "", "Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_page_of_somebody_else_logs_nobody_in(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with open_house(tmp_path) as house:
        link = await house.link()
        refused = await house.browser().post(link, headers=headers)
        assert refused.status == 403
        assert "Set-Cookie" not in refused.headers
        assert (await house.browser().post(link)).status == 303


async def test_an_account_that_is_gone_from_the_configuration_gets_in_no_more(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        refused = await house.browser().post(await house.link("zoe"))
        assert refused.status == 403
        assert "no such account" in refused.text


async def test_guesses_from_an_address_keep_nobody_out_who_has_a_link_there(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        eve, ann, link = house.browser(), house.browser(), await house.link()
        for guess in ("/login/link/wrong", f"{link[:-1]}{'B' if link[-1] == 'A' else 'A'}"):
            for _ in range(70):
                assert (await eve.get(guess)).status == (await eve.post(guess)).status == 410
        assert len(house.turned_away) == 280
        assert (await ann.get(link)).status == 200
        assert (await ann.post(link)).status == 303


async def test_logging_out_needs_the_token_of_the_page_and_ends_the_login(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        page = await browser.get("/approvals")
        for wrong in ("", "0" * 32):
            assert (await browser.post("/logout", {"token": wrong})).status == 403
        left = await browser.post("/logout", {"token": page.tokens["/logout"]})
        assert (left.status, left.headers["Location"]) == (303, "/login")
        assert "Max-Age=0" in left.headers["Set-Cookie"]
        assert (await browser.get("/approvals")).status == 401
        assert [each["user"] for each in await house.events("logged_out")] == ["ann"]


async def test_a_second_login_ends_the_first_and_gets_a_secret_of_its_own(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        before = {each.key: each.value for each in browser.session.cookie_jar}
        other = house.browser()
        other.session.cookie_jar.update_cookies(before)
        assert (await other.get("/login")).status == 303
        await browser.post(await house.link("ben"))
        after = {each.key: each.value for each in browser.session.cookie_jar}
        assert before != after
        assert (await other.get("/login")).status == 200


async def test_without_anybody_named_it_is_who_acts_locally(tmp_path: Path) -> None:
    identity = {"identity": {"local": {"user": "me", "tenant": "home", "roles": ["lead"]}}}
    async with open_house(tmp_path, identity) as house:
        assert (await house.browser().post(await house.link("me", "home"))).status == 303
    async with open_house(tmp_path, {**PEOPLE, **identity}) as house:
        assert (await house.browser().post(await house.link("me", "home"))).status == 403

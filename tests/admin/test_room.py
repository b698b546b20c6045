"""What all pages share: who is asked to log in, and which forms count."""

from pathlib import Path

from tests.admin.house import open_house

JSON = {"Content-Type": "application/json"}


async def test_who_is_asked_to_log_in_gets_back_to_where_he_wanted(tmp_path: Path) -> None:
    oidc = {"issuer": "https://login.example.com", "client_id": "wb", "tenant": "acme"}
    async with open_house(tmp_path, {"admin": {"oidc": oidc}}) as house:
        browser = house.browser()
        asked = await browser.get("/approvals/apr_1")
        assert asked.status == 401
        assert 'href="/login/oidc?to=/approvals/apr_1"' in asked.text
        assert "Log in at login.example.com" in asked.text
        lost = await browser.post("/approvals/apr_1/decide")
        assert lost.status == 401
        assert 'href="/login/oidc?to=/approvals"' in lost.text


async def test_the_address_of_a_report_leads_back_to_it(tmp_path: Path) -> None:
    oidc = {"issuer": "https://login.example.com", "client_id": "wb", "tenant": "acme"}
    there = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    async with open_house(tmp_path, {"admin": {"oidc": oidc}}) as house:
        browser = house.browser()
        path = "/replay/report?revision=ab&since=2026-11-29T09:00:00"
        asked = (await browser.get(path)).text
        to = "/replay/report%3Frevision%3Dab%26since%3D2026-11-29T09%3A00%3A00"
        assert f'href="/login/oidc?to={to}"' in asked
        onward = (await browser.get(path, **there)).text
        assert f'content="0;url={path.replace("&", "&amp;")}"' in onward
        for odd in ("x=%22;url=//evil", "x='y", "x=" + "y" * 2000):
            onward = (await browser.get(f"/events?{odd}", **there)).text
            assert 'content="0;url=/events"' in onward


async def test_what_is_no_form_of_ours_is_refused_in_words(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        answer = await browser.post("/logout", {"token": "x"}, JSON)
        assert answer.status == 400
        assert "this is no form of our pages" in answer.text
        assert "Log out" in answer.text  # he is still in
        assert (await browser.get("/approvals")).status == 200


async def test_every_page_says_who_is_logged_in(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in("eve", "globex")
        for path in ("/approvals", "/approvals/history"):
            page = (await browser.get(path)).text
            assert "eve" in page
            assert "globex" in page

"""Nobody has a session under a name that other programs of the machine answer to as well."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.config.admin import AdminSettings
from tests.admin.house import PEOPLE, House, open_house

PATHS = ("/approvals", "/approvals/apr_1?x=1&y=z", "/login", "/logout", "/nowhere")
SHARED = ("127.0.0.1", "localhost", "[::1]")


def port_of(house: House) -> int | None:
    return urlsplit(house.url).port


@pytest.mark.parametrize("name", SHARED)
async def test_a_name_of_the_whole_machine_leads_to_the_host_of_the_pages(
    tmp_path: Path, name: str
) -> None:
    async with open_house(tmp_path) as house:
        browser = await house.logged_in()
        for path in (*PATHS, await house.link()):
            led = await browser.get(path, Host=f"{name}:{port_of(house)}")
            assert (led.status, led.headers["Location"]) == (303, f"{house.url}{path}")
            assert "Set-Cookie" not in led.headers
        tunnelled = await browser.get("/approvals", Host=f"{name}:9999")
        assert tunnelled.headers["Location"] == "http://weighbridge.localhost:9999/approvals"


@pytest.mark.parametrize("name", SHARED)
async def test_a_form_under_a_name_of_the_whole_machine_does_nothing(
    tmp_path: Path, name: str
) -> None:
    async with open_house(tmp_path) as house:
        ann, approval, link = await house.logged_in(), await house.ask(), await house.link("ben")
        page = f"/approvals/{approval.approval_id}"
        token = (await ann.get(page)).tokens[f"{page}/decide"]
        fields = {"token": token, "binding": approval.binding, "choice": "approve"}
        host = f"{name}:{port_of(house)}"
        as_there = {"Host": host, "Origin": f"http://{host}"}
        refused = await ann.post(f"{page}/decide", fields, headers=as_there)
        assert (refused.status, await house.state(approval)) == (421, "pending")
        assert f"these pages are at `{house.url}` alone" in refused.text
        unused = await house.browser().post(link, headers=as_there)
        assert (unused.status, "Set-Cookie" in unused.headers) == (421, False)
        assert (await house.browser().post(link)).status == 303
        tunnelled = {"Host": "weighbridge.localhost:9999"}
        tunnelled["Origin"] = f"http://{tunnelled['Host']}"
        assert (await ann.post(f"{page}/decide", fields, headers=tunnelled)).status == 303


async def test_health_is_told_under_every_name(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        for name in (*SHARED, "weighbridge.localhost"):
            for path in ("/healthz", "/readyz"):
                host = f"{name}:{port_of(house)}"
                assert (await house.browser().get(path, Host=host)).status == 200


async def test_behind_a_proxy_its_hosts_have_sessions_and_nobody_is_led_in_circles(
    tmp_path: Path,
) -> None:
    url = "https://approvals.example.com"
    there = {"public_url": url, "hosts": ["wb.internal:8701"]}
    settings = {"admin": {**PEOPLE["admin"], **there}}
    async with open_house(tmp_path, settings, base_url=url) as house:
        browser = house.browser()
        for host in ("approvals.example.com", "wb.internal:8701"):
            assert (await browser.get("/login", Host=host)).status == 200
        for host in ("127.0.0.1:8701", "weighbridge.localhost:8701", "wb.internal:3000"):
            told = await browser.get("/login", Host=host)
            assert (told.status, "Location" in told.headers) == (421, False)
            assert f"these pages are at `{url}` alone" in told.text
            assert "`admin.hosts`" in told.text


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1:8701", "http://weighbridge.localhost:8701"),
        ("[::1]:8701", "http://weighbridge.localhost:8701"),
        ("Localhost:8701", "http://weighbridge.localhost:8701"),
        ("127.0.0.2:8701", "http://127.0.0.2:8701"),  # what browsers find under a name is .0.1
    ],
)
def test_the_host_of_the_pages_is_where_browsers_look_for_it(address: str, url: str) -> None:
    settings = AdminSettings(address=address)
    assert settings.url == url
    assert settings.is_local
    assert AdminSettings(address=address, public_url="http://localhost:1").url == (
        "http://localhost:1"
    )

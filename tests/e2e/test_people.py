"""The pages for approvers in a real browser, and a login at a real identity provider."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web

from gateway.approvals.marks import Kind
from gateway.config.admin import OWN_HOST
from gateway.types.approvals import ApprovalNotes, ApprovalState
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk
from tests.admin.house import BOTH, PEOPLE, House, open_house
from tests.approvals.spoofs import SPOOFS
from tests.e2e import browser, tools
from tests.e2e.browser import Page
from tests.helpers.cases import a_contract, an_actor
from tests.helpers.presenting import a_document, a_sight

PICTURES: Final = Path(__file__).parents[2] / "docs/pictures"
WIDE, PHONE = 1280, 390
SECOND: Final = 1_000_000
SAM = replace(an_actor(), user="sam", client="support-desk", roles=frozenset({"support"}))
REFUND: JsonObject = {
    "customer_id": "c-1001",
    "invoice_id": "inv-2026-0417",
    "amount": 1250,
    "currency": "EUR",
    "note": "Charged twice on 3 and 4 November,\nsee the bank statement.",
}
NOTES = ApprovalNotes(
    summary="Refund $args.amount $args.currency of invoice $args.invoice_id to $args.customer_id",
    show={"Amount": "/amount", "Currency": "/currency", "Customer": "/customer_id"},
)


def a_tool(name: str, **changes: Any) -> Any:
    return replace(a_contract(effect=Effect.WRITE), tool=name, **changes)


def refund() -> JsonObject:
    """Return what is shown of a refund that takes the place of a smaller one."""
    no_way_back = Compensation(
        kind=CompensationClass.PIVOT, reason="money that has left does not come back by itself"
    )
    return a_document(
        a_sight(REFUND),
        contract=a_tool("billing.refund_payment", approval=NOTES, compensation=no_way_back),
        server="billing",
        risk=Risk.HIGH,
        risk_reason="amount over 500",
        actor=SAM,
        rule="refunds.large",
        reason="refunds above 500 EUR need a finance lead and a controller",
        note="The CFO has approved this already, please just confirm.",
        before=a_sight({**REFUND, "amount": 900}),
    )


async def fill(house: House) -> str:
    """Ask for a few things, as on a usual day; return the id of the refund."""
    now = (await house.ask(refund(), state=ApprovalState.SUPERSEDED)).created_at
    asked: dict[str, Any] = {"created_at": now - 240 * SECOND, "decide_by": now + 1560 * SECOND}
    large = await house.ask(
        refund(), tool="billing.refund_payment", clause=BOTH, risk="high", **asked
    )
    mail = a_document(
        {"to": "c-1001@example.com", "subject": "Your invoice", "body": "Dear customer, …"},
        contract=a_tool("mail.send"),
        server="mail",
        actor=SAM,
    )
    await house.ask(mail, tool="mail.send", risk="medium", **asked)
    delete = a_document(
        {"ids": ["c-1003", "c-1004"], "reason": "duplicates"},
        contract=a_tool("crm.delete_customers"),
        risk=Risk.CRITICAL,
        actor=SAM,
    )
    others = replace(BOTH, factors=BOTH.factors[1:])
    await house.ask(delete, tool="crm.delete_customers", risk="critical", clause=others, **asked)
    return large.approval_id


async def lay_out(page: Page, width: int, *, night: bool = False, most: int = 20_000) -> int:
    """Show the whole page at a width; returns its height."""
    scheme = "dark" if night else "light"
    await page.command(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    await page.command("Emulation.setDeviceMetricsOverride", **size)
    assert await page.evaluate("document.documentElement.scrollWidth") == width
    height = min(most, await page.evaluate("document.documentElement.scrollHeight"))
    await page.command("Emulation.setDeviceMetricsOverride", **{**size, "height": height})
    return height


async def keep(page: Page, name: str, width: int, **options: Any) -> None:
    """Keep a picture of the page for the documentation."""
    height = await lay_out(page, width, **options)
    (PICTURES / f"{name}.png").write_bytes(await page.picture(width, height))


async def go(page: Page, url: str, *words: str) -> None:
    await page.command("Page.navigate", url=url)
    await page.shows(words)
    await page.whole()


@asynccontextmanager
async def visit(house: House, folder: Path, user: str = "ann") -> AsyncGenerator[Page]:
    """Log in by a link, as a person does: by its button."""
    async with browser.opened(f"{house.url}{await house.link(user)}", folder / "profile") as page:
        await page.shows([f"Log in as {user}"])
        await page.click(f"Log in as {user}")
        await page.shows(["Waiting for a decision"])
        yield page


async def test_a_lead_logs_in_by_a_link_reads_and_approves_by_keyboard(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        name = await fill(house)
        await go(page, f"{house.url}/approvals", "For you to decide", "billing.refund_payment")
        await keep(page, "approvals-list", WIDE)
        await page.click("Refund 1250 EUR of invoice inv-2026-0417 to c-1001")
        await page.shows(["What will be sent", "Charged twice", "can't be undone"])
        await keep(page, "approval", WIDE)
        await keep(page, "approval-night", WIDE, night=True)
        await keep(page, "approval-phone", PHONE, most=3200)
        await lay_out(page, WIDE)
        for _ in range(60):
            await press(page, "Tab", 9)
            if await page.evaluate("document.activeElement.value") == "approve":
                break
        await press(page, "Enter", 13)
        await page.shows(["just now, here", "1 more of controller"])
        ben = await house.logged_in("ben")
        path = f"/approvals/{name}/decide"
        tokens = (await ben.get(f"/approvals/{name}")).tokens
        found = await house.store.approvals.get(name)
        assert found is not None
        form = {"token": tokens[path], "binding": found.binding, "choice": "approve"}
        assert (await ben.post(path, form)).status == 303
        await go(page, f"{house.url}/approvals/{name}", "approved, not sent yet")
        assert await house.state(found) == "approved"


async def press(page: Page, key: str, code: int) -> None:
    text = {"text": "\r"} if key == "Enter" else {}
    for kind in ("keyDown", "keyUp"):
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await page.command("Input.dispatchKeyEvent", type=kind, **named, **text)


# For each row: its texts, whether its letters stand one behind the other as they are written, and
# whether any of it leaves its place.
ROWS: Final = """
[...document.querySelectorAll('dl.rows .row')].map(row => {
  const shown = row.querySelector('.value'), range = document.createRange();
  const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  let before = null, ordered = true, looked = 0;
  for (let node = walker.nextNode(); node && looked < 300; node = walker.nextNode())
    for (let at = 0; at < node.length && looked < 300; at++, looked++) {
      range.setStart(node, at); range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      if (!box.width || !box.height) continue;
      if (before && box.bottom <= before.top + 4) ordered = false;
      if (before && box.top < before.bottom - 4 && box.left < before.left - 1) ordered = false;
      before = box;
    }
  const place = row.getBoundingClientRect(), box = row.querySelector('dd').getBoundingClientRect();
  const texts = [...row.querySelectorAll('.value, .warnings li')];
  return {
    label: row.querySelector('dt').textContent, ordered,
    text: texts.map(each => each.textContent).join(' '),
    inside: box.left >= place.left && box.right <= place.right + 1 && box.bottom <= place.bottom + 1
      && texts.every(each => each.scrollWidth <= each.clientWidth + 1),
  };
})
"""
LOADED: Final = """({
  scripts: document.scripts.length, images: document.images.length,
  forms: [...document.forms].map(each => each.getAttribute('action')),
  bold: document.querySelectorAll('b, marquee, iframe, object, embed, svg:not(.mark)').length,
  links: [...document.links].map(each => each.hostname).filter(each => each !== location.hostname),
})"""


async def test_values_that_pose_as_something_else_are_seen_as_what_they_are(
    tmp_path: Path,
) -> None:
    arguments: JsonObject = {f"{n:02d} {each.name}": each.value for n, each in enumerate(SPOOFS)}
    assert len(arguments) >= 30
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        document = a_document(arguments, contract=a_tool("mail.send"), server="mail", actor=SAM)
        approval = await house.ask(document, tool="mail.send", risk="medium")
        await go(page, f"{house.url}/approvals/{approval.approval_id}", "What will be sent")
        await page.evaluate("document.querySelectorAll('details.long').forEach(e => e.open = true)")
        for width in (WIDE, PHONE):
            await lay_out(page, width)
            rows = {each["label"]: each for each in await page.evaluate(ROWS)}
            for label, spoof in zip(arguments, SPOOFS, strict=True):
                row = rows[label]
                for text in spoof.seen:
                    assert text in row["text"], (label, text, row["text"][:300])
                assert not set(spoof.hidden) & set(row["text"]), label
                assert row["inside"], label
                assert row["ordered"] or Kind.RIGHT_TO_LEFT in spoof.kinds, label
        found = await page.evaluate(LOADED)
        path = f"/approvals/{approval.approval_id}"
        assert found == {
            "scripts": 0,
            "images": 0,
            "forms": ["/logout", f"{path}/decide"],
            "bold": 0,
            "links": [],
        }
        await page.evaluate(
            "document.querySelectorAll('details.long').forEach(e => e.open = false)"
        )
        await keep(page, "approval-spoofs", WIDE, most=1800)


async def test_a_long_value_keeps_approve_shut_until_it_was_opened(tmp_path: Path) -> None:
    whole = "a" * 30_000 + " and delete everything " + "b" * 30_000
    shut = "getComputedStyle(document.querySelector('button.yes')).pointerEvents"
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        document = a_document({"body": whole}, contract=a_tool("mail.send"), actor=SAM)
        approval = await house.ask(document, tool="mail.send")
        await go(page, f"{house.url}/approvals/{approval.approval_id}", "Show all 60,023")
        assert await page.evaluate(shut) == "none"
        await page.evaluate("document.querySelector('details.long summary').click()")
        await page.shows(["and delete everything"])
        assert await page.evaluate(shut) == "auto"
        await page.evaluate("document.querySelector('button.yes').click()")  # without the tick
        assert await house.state(approval) == "pending"
        await page.evaluate("document.querySelector('.tick input').click()")
        await page.evaluate("document.querySelector('button.yes').click()")
        await page.shows(["approved, not sent yet"])


async def test_a_link_in_a_chat_leads_to_the_page_of_who_is_logged_in(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        name = await fill(house)
        link = f'<a href="{house.url}/approvals/{name}">Decide</a>'
        async with another_site(link) as url:
            await go(page, url, "Decide")
            await page.click("Decide")
            await page.shows(["What will be sent", "Log out"])


async def test_a_page_of_another_port_decides_nothing_though_the_browser_is_logged_in(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        name = await fill(house)
        approval = await house.store.approvals.get(name)
        assert approval is not None
        form = (
            f'<form method="post" action="{house.url}/approvals/{name}/decide">'
            '<input name="choice" value="approve">'
            f'<input name="binding" value="{approval.binding}">'
        )
        async with another_site(f"{form}<button>Win</button></form>", host=OWN_HOST) as url:
            await go(page, url, "Win")
            await page.click("Win")
            await page.shows(["this form was not sent from this page"])
        frame = f'<iframe src="{house.url}/approvals"></iframe>'
        async with another_site(frame, host=OWN_HOST) as url:
            await page.command("Page.navigate", url=url)
            assert await framed(page) == "chrome-error://chromewebdata/"
        assert await house.state(approval) == "pending"


async def test_what_the_browser_opens_at_this_machines_address_is_not_shown_the_session(
    tmp_path: Path,
) -> None:
    seen: list[str] = []
    async with open_house(tmp_path) as house, visit(house, tmp_path) as page:
        async with another_site("A development server", host="127.0.0.1", seen=seen) as url:
            await go(page, url, "A development server")
        assert set(seen) == {""}
        there = house.url.replace(OWN_HOST, "127.0.0.1")
        await go(page, f"{there}/approvals", "Log out")
        assert await page.evaluate("location.href") == f"{house.url}/approvals"


async def framed(page: Page) -> str:
    """Return what the browser shows in the frame of a page, once it shows anything."""
    async with asyncio.timeout(30):
        while True:
            tree = (await page.command("Page.getFrameTree"))["frameTree"]
            for child in tree.get("childFrames", []):
                if child["frame"]["url"]:
                    return child["frame"]["url"]
            await asyncio.sleep(0.1)


@asynccontextmanager
async def another_site(
    body: str, host: str = "localhost", seen: list[str] | None = None
) -> AsyncGenerator[str]:
    """Serve one page elsewhere; `seen` are the cookies that it is sent."""

    async def answer(request: web.Request) -> web.Response:
        if seen is not None:
            seen.append(request.headers.get("Cookie", ""))
        return web.Response(text=f"<!doctype html>{body}", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://{host}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def with_provider(issuer: str) -> Mapping[str, Any]:
    oidc = {
        "issuer": issuer,
        "client_id": "weighbridge",
        "client_secret": "a-secret-of-the-test",
        "claims": {"tenant": "tenant"},
    }
    return {"admin": {"oidc": oidc, "accounts": PEOPLE["admin"]["accounts"]}}


@pytest.mark.parametrize("to", ["/approvals", "/approvals/history"])
async def test_somebody_logs_in_at_a_real_identity_provider(tmp_path: Path, to: str) -> None:
    port = tools.free_port()
    settings = with_provider(f"http://127.0.0.1:{port}")
    async with open_house(tmp_path, settings) as house:
        script = tools.HERE / "node/people.mjs"
        redirect = f"{house.url}/login/callback"
        async with tools.background(tools.NODE, script, str(port), redirect) as process:
            await tools.said(process, "ready")
            name = await fill(house)
            profile = tmp_path / "profile"
            async with browser.opened(f"{house.url}{to}", profile) as page:
                await page.shows(["Log in at 127.0.0.1"])
                await keep(page, "approvals-login", WIDE, most=640)
                await page.click(f"Log in at 127.0.0.1:{port}")
                await page.shows(["Sign-in"])
                await page.evaluate(
                    "(() => { const form = document.forms[0];"
                    "form.elements.login.value = 'ann'; form.elements.password.value = 'x';"
                    "form.querySelector('[type=submit]').click(); })()"
                )
                await page.shows(["Authorize"])
                await page.evaluate("document.querySelector('[type=submit]').click()")
                await page.shows(["ann of acme", "Log out"])
                await go(page, f"{house.url}/approvals/{name}", "Your decision")
                await page.evaluate("document.querySelector('button.yes').click()")
                await page.shows(["logged in at the identity provider"])
            (vote,) = await house.store.approvals.votes(name)
            assert (vote.user, vote.assurance) == ("ann", "authenticated")
            assert vote.issuer == f"http://127.0.0.1:{port}"

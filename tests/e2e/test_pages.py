"""The pages of events, runs, replay and policies in a real browser, over the log of the demo."""

import asyncio
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.revision import Revision, Unreviewed
from gateway.store.runs import RunFilter
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject
from tests.admin.house import PEOPLE, House, open_house
from tests.e2e import tools
from tests.e2e.browser import Page
from tests.e2e.test_people import PHONE, WIDE, go, keep, lay_out, press, visit
from tests.helpers.events import an_event
from tests.helpers.runs import begun

AUDITED: Final[dict[str, Any]] = {
    "admin": {**PEOPLE["admin"], "auditors": [{"tenant": "acme", "sees": ["*"]}]}
}
COPIES: Final[JsonObject] = {
    "checkpoints": {"to": [{"name": "file /mnt/audit/checkpoints.jsonl", "size": 140}]}
}
EDITS: Final = {
    "desk.yaml": [
        ("args.amount <= 100.0", "args.amount <= 425.0"),
        ("args.amount > 100.0", "args.amount > 425.0"),
        ("roles: {any: [support, finance-lead]}", "roles: {any: [finance-lead]}"),
    ],
    "crm.yaml": [("when: size(args.text) <= 500", "when: size(args.text) <= 400")],
}
# What a reader with a keyboard, or who hears the page, meets: names of all links and fields, one
# top heading, no image or script, nothing that is wider than the page.
SOUND: Final = """({
  headings: document.querySelectorAll('h1').length,
  scripts: document.scripts.length, images: document.images.length,
  inline: document.querySelectorAll('[style]').length,
  nameless: [...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')]
    .filter(each => !(each.textContent.trim() || each.getAttribute('aria-label')
      || each.labels?.length)).map(each => each.outerHTML),
  wide: document.documentElement.scrollWidth - innerWidth,
})"""
FINE: Final[dict[str, Any]] = {
    "headings": 1,
    "scripts": 0,
    "images": 0,
    "inline": 0,
    "nameless": [],
    "wide": 0,
}
# The contrast of every text with what is behind it, by WCAG 2.2; those that are too faint.
FAINT: Final = """
(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(each => each / 255)
    .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = element => {
    for (let each = element; each; each = each.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(each).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const box = node.parentElement, style = getComputedStyle(box);
    if (!node.data.trim() || !box.getClientRects().length || style.opacity < 1) continue;
    const [one, two] = [light(parts(style.color)), light(ground(box))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), isBold = style.fontWeight >= 700;
    const least = size >= 24 || (size >= 18.66 && isBold) ? 3 : 4.5;
    if ((one + 0.05) / (two + 0.05) < least) found.add(box.className + ': ' + node.data.trim());
  }
  return [...found];
})()
"""


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What a demo has left."""

    folder: Path
    revision: Revision


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Play the demo, and keep its folder."""
    place = tmp_path_factory.mktemp("demo")
    command = (tools.WEIGHBRIDGE, "demo", "--keep")
    code, out, err = asyncio.run(tools.run(*command, environ={"TMPDIR": str(place)}, timeout_s=240))
    assert code == 0, out[-2000:] + err[-2000:]
    (folder,) = place.glob("weighbridge-demo-*")
    texts = revisions.read(folder / "policies")
    at = SystemClock().now()
    return Demo(
        folder=folder,
        revision=revisions.compiled(texts, unreviewed=Unreviewed.REFUSE, at=at),
    )


@asynccontextmanager
async def opened(demo: Demo, folder: Path) -> AsyncGenerator[tuple[House, Page]]:
    """Open a house over a copy of the demo's store, whose files are others by now."""
    place = folder / "house"
    place.mkdir()
    for name in ("", ".key"):
        shutil.copy(demo.folder / f"weighbridge.db{name}", place / f"store.db{name}")
    shutil.copytree(demo.folder / "policies", place / "policies")
    for name, edits in EDITS.items():
        text = (place / "policies" / name).read_text(encoding="utf-8")
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        (place / "policies" / name).write_text(text, encoding="utf-8")
    templates, contracts = demo.revision.templates, demo.revision.contracts
    async with (
        open_house(
            place, AUDITED, templates=[*templates.values()], contracts=[*contracts.values()]
        ) as house,
        visit(house, folder) as page,
    ):
        await house.store.instances.save("gw_1", COPIES)
        yield house, page


async def sound(page: Page) -> None:
    """Check what a page owes to everybody, at both widths, by day and by night."""
    for width in (PHONE, WIDE):
        await lay_out(page, width)
        assert await page.evaluate(SOUND) == FINE
    for night in (True, False):
        await lay_out(page, WIDE, night=night)
        assert await page.evaluate(FAINT) == []


async def test_events_are_searched_and_one_is_shown_with_its_proof(
    demo: Demo, tmp_path: Path
) -> None:
    async with opened(demo, tmp_path) as (house, page):
        await go(page, f"{house.url}/events", "Last checkpoint", "read the log")
        await sound(page)
        await page.evaluate(
            "(() => { const form = document.forms[1]; form.elements.tool.value = 'desk.refund';"
            "form.elements.kind.value = 'authorization'; form.requestSubmit(); })()"
        )
        await page.shows(["asked about", "desk.refund.large"])
        await page.whole()
        await keep(page, "events", WIDE, most=1200)
        await keep(page, "events-phone", PHONE, most=1500)
        await lay_out(page, WIDE)
        await page.evaluate("document.querySelector('.event .tone-no ~ .event-text a').click()")
        await page.shows(["In the log", "proven", "As it is kept"])
        await page.whole()
        await sound(page)
        await keep(page, "event", WIDE, most=1100)
        await go(page, f"{house.url}/events?decision=dance&since=soon", "Nothing was looked for.")
        await sound(page)


async def test_a_run_is_seen_at_a_glance_and_read_by_keyboard(demo: Demo, tmp_path: Path) -> None:
    async with opened(demo, tmp_path) as (house, page):
        runs = await house.store.runs.find(RunFilter(tenant="acme", limit=50))
        most = max(runs, key=lambda run: run.calls)
        await go(page, f"{house.url}/runs", "swap boots")
        await sound(page)
        await go(page, f"{house.url}/runs/{most.run_id}", "What happened", "Paused", "Completed")
        await sound(page)
        await keep(page, "run", WIDE)
        await keep(page, "run-night", WIDE, night=True)
        await keep(page, "run-phone", PHONE, most=2600)
        await lay_out(page, WIDE)
        reached = set[str]()
        for _ in range(60):
            await press(page, "Tab", 9)
            reached.add(str(await page.evaluate("document.activeElement.getAttribute('href')")))
        links = await page.evaluate(
            "[...document.querySelectorAll('.bands a')].map(each => each.getAttribute('href'))"
        )
        assert set(links) <= reached
        label = await page.evaluate(
            "document.querySelector('svg.strip').getAttribute('aria-label')"
        )
        assert re.search(r"paused for \d+ s", label)


async def test_the_past_is_replayed_and_one_call_held_against_itself(
    demo: Demo, tmp_path: Path
) -> None:
    async with opened(demo, tmp_path) as (house, page):
        await go(page, f"{house.url}/replay", "Replay the past")
        await sound(page)
        await page.evaluate("document.forms[1].requestSubmit()")
        await page.shows(["Grants more", "Self-check", "all same"])
        await page.whole()
        await sound(page)
        report = await page.evaluate("location.href")
        await keep(page, "replay", WIDE, most=1300)
        await keep(page, "replay-night", WIDE, night=True, most=1300)
        await keep(page, "replay-phone", PHONE, most=2200)
        await lay_out(page, WIDE)
        await page.evaluate("document.querySelector('.change a[href*=\"/replay/calls/\"]').click()")
        await page.shows(["first difference", "asked about then, allowed now"])
        await page.whole()
        await sound(page)
        await keep(page, "replay-call", WIDE, most=1100)
        await go(page, report, "The address of this page makes the same report again")
        await go(page, f"{house.url}/replay", "Lately", "done")
        await sound(page)


async def test_a_change_of_policy_is_looked_at_from_both_sides(demo: Demo, tmp_path: Path) -> None:
    async with opened(demo, tmp_path) as (house, page):
        await go(page, f"{house.url}/policies", "What was in force")
        await sound(page)
        await page.evaluate("document.forms[1].requestSubmit()")
        await page.shows(["What does it do?", "args.amount <= 425.0"])
        await page.evaluate("document.forms[1].requestSubmit()")
        await page.shows(["What it does", "grant"])
        await page.whole()
        await sound(page)
        await keep(page, "policy-diff", WIDE, most=1500)


async def test_long_names_and_hostile_words_stay_in_their_places(tmp_path: Path) -> None:
    odd = "<img src=x onerror=alert(1)>\u202e"
    body: JsonObject = {
        "tool": "crm." + "very_long_name_" * 14,
        "decision": "deny",
        "rule": "rule." + "y" * 180 + odd,
        "reason": odd + "reason" * 60,
        "arguments": {"k" * 80: "v" * 900, odd: odd},
    }
    async with open_house(tmp_path, AUDITED) as house, visit(house, tmp_path) as page:
        run = await begun(house.store, objective="x" * 200 + odd)
        event = an_event(
            kind=EventKind.AUTHORIZATION,
            stage=Stage.DECIDED,
            body=body,
            run=run.run_id,
            call="call_" + "z" * 60,
        )
        house.store.events.append([event])
        await house.store.events.kept()
        for path in ("/events", f"/events/{event.id}", "/runs", f"/runs/{run.run_id}"):
            await go(page, f"{house.url}{path}", "202E")
            await sound(page)
            assert "\u202e" not in await page.evaluate("document.body.textContent")

"""The site that `scripts/docs` makes, as a browser would follow it; and the links that leave it."""

import asyncio
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import aiohttp
import pytest

from tests.docs import pages

ROOT = Path(__file__).parents[2]
SITE = ROOT / "dist" / "docs" / "site"


class Html(HTMLParser):
    """The links and the anchors of a page, and its text outside of code."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.text = ""
        self._code = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)
        self._code += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        self.text += "" if self._code else data


@pytest.fixture(scope="module")
def site() -> dict[Path, Html]:
    done = subprocess.run([ROOT / "scripts/docs"], check=False, capture_output=True, text=True)
    if done.returncode == 69:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path: Html(path) for path in SITE.rglob("*.html") if path.name != "404.html"}


def test_every_page_is_on_the_site(site: dict[Path, Html]) -> None:
    ours = list(pages.DOCS.rglob("*.md"))
    assert len(site) == len(ours)


def test_every_link_of_the_site_leads_somewhere(site: dict[Path, Html]) -> None:
    dead: list[str] = []
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            is_there = target.is_file()
            if is_there and parts.fragment and target in site:
                is_there = unquote(parts.fragment) in site[target].anchors
            if not is_there:
                dead.append(f"{path.relative_to(SITE)}: {link}")
    assert not dead


def test_no_markup_of_a_page_is_left_as_text(site: dict[Path, Html]) -> None:
    left = {
        str(path.relative_to(SITE)): sign
        for path, page in site.items()
        for sign in ("```", "| --- |", "|---|", "<!--", "](")
        if sign in page.text
    }
    assert not left


async def test_links_to_other_places_lead_somewhere() -> None:
    """Skipped without a way out: whoever has none learns nothing of them."""
    links = {
        link.target.partition("#")[0]
        for path in pages.paths()
        for link in pages.page(path).links
        if link.target.startswith("https://") and "example.com" not in link.target
    }
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        found = await asyncio.gather(*(answer(session, url) for url in sorted(links)))
    if not any(status for _, status in found):
        pytest.skip(f"none of {len(links)} links can be reached from here")
    assert not [(url, status) for url, status in found if status == 0 or status in (404, 410)]


async def answer(session: aiohttp.ClientSession, url: str) -> tuple[str, int]:
    """Return the status of an address, 0 when there is none."""
    try:
        async with session.get(url) as got:
            return url, got.status
    except (aiohttp.ClientError, TimeoutError):
        return url, 0

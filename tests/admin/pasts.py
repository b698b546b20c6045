"""A house whose log holds judged calls, and whose auditors may judge them again."""

import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.admin.house import PEOPLE, Answer, Browser, House, open_house

AUDITED: dict[str, Any] = {
    "admin": {
        **PEOPLE["admin"],
        "auditors": [
            {"tenant": "acme", "roles": ["finance-lead"]},
            {"tenant": "globex", "sees": []},
        ],
    }
}


@asynccontextmanager
async def open_past(
    made: Path, folder: Path, rules: str = "", settings: dict[str, Any] = AUDITED
) -> AsyncGenerator[House]:
    """Open a house over a copy of a workspace; `rules` take the place of its policy file."""
    shutil.copytree(made, folder / "past")
    if rules:
        (written,) = (folder / "past/policies").glob("*.yaml")
        written.write_text(rules, encoding="utf-8")
    async with open_house(folder / "past", settings) as house:
        yield house


async def begun(browser: Browser, **fields: str) -> Answer:
    """Send the form of the replay page."""
    token = (await browser.get("/replay")).tokens["/replay"]
    return await browser.post("/replay", {"token": token, **fields})


async def ended(browser: Browser, path: str) -> Answer:
    """Wait until a page has no refresh any more."""
    with anyio.fail_after(30):
        while True:
            page = await browser.get(path)
            if 'http-equiv="refresh"' not in page.text:
                return page
            await anyio.sleep(0.05)


async def reported(browser: Browser, **fields: str) -> tuple[str, Answer]:
    """Replay, and return the report with its permanent address."""
    answer = await begun(browser, **fields)
    assert answer.status == 303, re.sub(r"\s+", " ", answer.text)
    path = answer.headers["Location"]
    return path, await ended(browser, path)

"""A real page in headless Chromium, driven over its DevTools protocol."""

import asyncio
import base64
import itertools
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.e2e import tools

CHROMIUM: Final = "/usr/bin/chromium"
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-port=0", "--hide-scrollbars"),
)


class Page:
    """One open page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Carry out a command of the DevTools protocol; between two pages, on the next one."""
        async with asyncio.timeout(60):
            while _is_between_pages(message := await self._said(method, params)):
                await asyncio.sleep(0.05)
        assert "error" not in message, message
        return message["result"]

    async def _said(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while (message := await self._socket.receive_json()).get("id") != number:
            pass
        return message

    async def evaluate(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        done = await self.command("Runtime.evaluate", expression=script, returnByValue=True)
        return done["result"].get("value")

    async def shows(self, words: Sequence[str]) -> None:
        """Wait until the page shows all these words."""
        text = ""
        try:
            async with asyncio.timeout(60):
                while not all(word in text for word in words):
                    await asyncio.sleep(0.2)
                    text = await self.evaluate("document.body ? document.body.innerText : ''")
        except TimeoutError:
            raise AssertionError(f"the page shows: {text}") from None

    async def whole(self) -> None:
        """Wait until the page is there to its end."""
        async with asyncio.timeout(60):
            while await self.evaluate("document.readyState") != "complete":
                await asyncio.sleep(0.05)

    async def click(self, words: str) -> None:
        """Click the last thing on the page with exactly this text."""
        found = await self.evaluate(
            "(() => { const all = [...document.querySelectorAll('*')].filter("
            f"each => !each.children.length && each.textContent === {json.dumps(words)});"
            "all.at(-1)?.click(); return all.length })()"
        )
        assert found, f"nothing says {words}"

    async def picture(self, width: int, height: int) -> bytes:
        """Return the page from its upper left corner, as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        done = await self.command("Page.captureScreenshot", format="png", clip=clip)
        return base64.b64decode(done["data"])


def _is_between_pages(message: dict[str, Any]) -> bool:
    return "execution context" in str(message.get("error", {}).get("message", ""))


@asynccontextmanager
async def opened(url: str, folder: Path, *, size: str = "1700,1000") -> AsyncGenerator[Page]:
    """Open a page in a browser of its own; `folder` holds its profile."""
    command = (CHROMIUM, *FLAGS, f"--user-data-dir={folder}", f"--window-size={size}", url)
    async with tools.background(*command) as process, aiohttp.ClientSession() as session:
        port = await _port(folder, process)
        async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = [each for each in await answer.json() if each["type"] == "page"]
        async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            yield Page(socket)


async def _port(folder: Path, process: asyncio.subprocess.Process) -> int:
    told = folder / "DevToolsActivePort"
    async with asyncio.timeout(60):
        while not (told.exists() and told.read_text().count("\n")):
            assert process.returncode is None, "the browser ended"
            await asyncio.sleep(0.1)
    return int(told.read_text().splitlines()[0])

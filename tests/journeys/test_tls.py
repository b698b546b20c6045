"""A certificate that goes bad under way: clear refusals, few attempts, few log lines, recovery."""

import asyncio
import time
from pathlib import Path
from typing import Any

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.tls import Authority, TlsFront, self_signed
from tests.journeys import house

CALLERS = 50
STORM_S = 3.0


async def storm(gateway: Gateway) -> tuple[list[dict[str, Any]], float]:
    """Call without a pause from many callers; returns all outcomes and the slowest, in seconds."""
    end, found, slowest = time.monotonic() + STORM_S, list[dict[str, Any]](), 0.0

    async def caller() -> None:
        nonlocal slowest
        while time.monotonic() < end:
            began = time.monotonic()
            found.append(outcome(await gateway.call("alpha__find")))
            slowest = max(slowest, time.monotonic() - began)

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return found, slowest


async def until_ok(gateway: Gateway) -> None:
    async with asyncio.timeout(house.WITHIN_S):
        while outcome(await gateway.call("alpha__find"))["status"] != "ok":
            await asyncio.sleep(0.05)


async def test_an_expired_certificate_under_fifty_callers_causes_no_storm_and_heals(
    tmp_path: Path,
) -> None:
    """case: LIF-06"""
    authority = Authority.make(tmp_path)
    with (
        FakeHttp(Script(tools=[tool("find")])) as fake,
        TlsFront(fake.url, authority.issue()) as alpha,
    ):
        entry = {
            "url": alpha.url,
            "tls": {"ca": str(authority.file)},
            "restart": {"first": "100ms", "longest": "2s"},
        }
        async with running(tmp_path, house.unreviewed({"alpha": entry})) as gateway:
            await gateway.listed("alpha__find")
            assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
            alpha.context = authority.issue(days=(-3, -1))
            alpha.cut()
            while outcome(await gateway.call("alpha__find"))["status"] != "unavailable":
                pass  # what was under way at the cut may end in its own way
            before = alpha.connections
            found, slowest = await storm(gateway)
            attempts = alpha.connections - before
            assert len(found) >= CALLERS
            assert {(one["status"], one["executed"]) for one in found} == {("unavailable", "no")}
            assert all("its TLS certificate has expired" in one["reason"] for one in found)
            assert slowest < 3  # one attempt is waited for a second; the rest is a busy machine
            assert attempts <= 5
            log = (tmp_path / "log.txt").read_text()
            assert log.count("expired") <= 2
            assert "Traceback" not in log
            alpha.context = authority.issue()
            await until_ok(gateway)


async def test_servers_that_never_had_a_good_handshake_say_why_and_cost_the_others_nothing(
    tmp_path: Path,
) -> None:
    """case: LIF-06"""
    with (
        FakeHttp(Script(tools=[tool("find")])) as fake,
        TlsFront(fake.url, self_signed(tmp_path)) as own,
    ):
        servers = {
            "alpha": {"url": fake.url},
            "own": {"url": own.url},
            "plain": {"url": fake.url.replace("http:", "https:")},
            "lost": {"url": own.url, "tls": {"ca": "nowhere.pem"}},
        }
        async with running(tmp_path, house.unreviewed(servers)) as gateway:
            await gateway.listed("alpha__find")
            assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
            wanted = {
                "own": ("failed", "self-signed; name it under `tls.ca`"),
                "plain": ("failed", "it does not speak TLS"),
                "lost": ("misconfigured", "no such file"),
            }
            for name, (status, reason) in wanted.items():
                state = await house.server_status(tmp_path, name, status)
                assert reason in state["reason"], state
        log = (tmp_path / "log.txt").read_text()
        assert log.count("self-signed") == 1
        assert "Traceback" not in log
        assert own.connections <= 2

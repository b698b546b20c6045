"""Twenty secrets in six places each, and every way by which something of a call leaves: none does.

What a server answers reaches its caller as it is, and whoever is asked for approval sees what the
call says; but nothing that is kept, exported, shown or sent elsewhere has any of them.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.client import meta
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_server import Script, Step, record_of, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.helpers.planted_secrets import KINDS, PLACES, TWICE, core, found_in, planted
from tests.helpers.webhooks import Receiver, receiving
from tests.journeys import house
from tests.journeys.house import Json

HOOK = "whsec_" + "A" * 43 + "="
RULES = """\
rules:
  - {id: all, decision: allow, match: {tools: ['*']}}
  - {id: read, decision: allow, match: {resources: ['**']}}
  - id: ask
    decision: require_approval
    match: {tools: [alpha.hold]}
    approval: {approvers: {roles: [lead]}}
"""
KEPT = {**text(f"kept {TWICE}"), "structuredContent": {"login": {"as": TWICE}, "for": TWICE}}
NOTE, HOLD, LOOK, KEEP = tool("note"), tool("hold"), tool("look"), tool("keep")
GIVE = [tool(f"give_{kind}") for kind in KINDS]
NEST = [tool(f"nest_{kind}") for kind in KINDS]
FAIL = [tool(f"fail_{kind}") for kind in KINDS]
WRONG = [tool(f"wrong_{kind}") for kind in KINDS]
SERVED = [LOOK, *GIVE, *NEST, *FAIL, *WRONG]


def steps() -> dict[str, list[Step]]:
    """Return what the server answers: secrets in results, in errors, and as JSON in a text."""
    found: dict[str, list[Step]] = {"note": [{"reply": text("noted")}], "hold": []}
    found["keep"] = [{"reply": KEPT}]
    for kind in KINDS:
        said, wrong = planted(kind, "results"), planted(kind, "errors")
        inside = json.dumps({"config": json.dumps({"hint": planted(kind, "nested")})})
        data = {"note": f"use {said} for it", "list": [{"deep": said}]}
        found[f"give_{kind}"] = [{"reply": {**text(f"use {said}"), "structuredContent": data}}]
        found[f"nest_{kind}"] = [{"reply": text(inside)}]
        error = {"code": -32000, "message": f"can't use {wrong} here", "data": {"tried": wrong}}
        found[f"fail_{kind}"] = [{"error": error}]
        found[f"wrong_{kind}"] = [{"reply": {**text(f"rejected: {wrong}"), "isError": True}}]
    return found


def contracts() -> str:
    return house.contracts(
        house.contract(NOTE, effect=Effect.WRITE, risk=Risk.LOW),
        house.contract(KEEP, effect=Effect.WRITE, risk=Risk.LOW),
        house.contract(HOLD, effect=Effect.WRITE, risk=Risk.MEDIUM),
        *(house.contract(each) for each in SERVED),
    )


@dataclass
class Place:
    """A gateway that was shown every secret."""

    gateway: Gateway
    folder: Path
    otlp: OtlpReceiver
    hooks: Receiver
    run: str = ""
    calls: list[str] = field(default_factory=list[str])

    @property
    def config(self) -> str:
        return str(self.folder / "config.yaml")

    async def call(self, name: str, arguments: Json, *, alone: bool = False) -> None:
        """Make a call in the run, or outside of it."""
        named = {"vscode.conversationId": "another"} if alone else meta(self.run)
        _, message = await self.gateway.send(
            "tools/call", {"name": name, "arguments": arguments, "_meta": named}
        )
        told = message["result"] if "result" in message else message["error"]["data"]
        said = told.get("_meta", told)
        self.calls.append(str(said["weighbridge/outcome"]["call_id"]))


async def walk(place: Place) -> None:
    """Plant each secret in each place."""
    talk = {"vscode.conversationId": "one"}
    started = await place.gateway.call("run_start", {"objective": "look into it"}, _meta=talk)
    place.run = str(started["structuredContent"]["run_id"])
    twice = {"password": TWICE, "text": f"log in with {TWICE}", "deep": [{"again": TWICE}]}
    for tried in ("look", "keep"):
        await place.call(f"alpha__{tried}", {**twice}, alone=tried == "keep")
    for kind in KINDS:
        argument, nested = planted(kind, "arguments"), planted(kind, "nested")
        url, name = planted(kind, "urls"), planted(kind, "names")
        address = f"https://files.example.com/x/{url}/y?token={url}"
        inside = json.dumps({"config": json.dumps({"hint": nested})})
        for tried, alone in (("look", False), ("note", True)):
            sent = {"text": f"use {argument} for it", "n": len(argument)}
            await place.call(f"alpha__{tried}", sent, alone=alone)
            sent = {"url": address, "deep": [{"json": inside}]}
            await place.call(f"alpha__{tried}", sent, alone=alone)
            await place.call(f"alpha__{tried}", {f"use {name}": kind}, alone=alone)
        await place.call(f"alpha__{name}", {"kind": kind})
        held = {"text": f"use {argument}", "url": address, "json": inside}
        await place.call("alpha__hold", held, alone=True)  # a run that waits does nothing else
        for served in ("give", "nest", "fail", "wrong"):
            await place.call(f"alpha__{served}_{kind}", {"kind": kind})
        await place.gateway.send("resources/read", {"uri": address, "_meta": meta(place.run)})


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("planted")
    script = Script(
        tools=[NOTE, HOLD, KEEP, *SERVED],
        on_call=steps(),
        resources=[{"uri": "mem://one", "name": "one"}],
        on_method={"resources/read": [{"reply": {"contents": []}}]},
    )
    with otlp_receiver() as otlp, receiving() as hooks:
        config = house.config(
            {"alpha": house.stdio(script, folder)},
            events={"level": "full", "checkpoints": {"every": "1s"}},
            runs={"enabled": True},
            telemetry={"capture_content": True},
            identity={"local": {"user": "sam", "tenant": "acme"}},
            approvals={
                "hold": {"default": "0s"},
                "max_pending": 100,
                "max_requests": 1000,
                "webhooks": [{"name": "h", "url": hooks.url, "secret": HOOK}],
            },
        )
        async with running(
            folder,
            config,
            policy=RULES,
            contracts=contracts(),
            admin={"accounts": [{"user": "ann", "tenant": "acme", "roles": ["lead"]}]},
            environ={
                "OTEL_EXPORTER_OTLP_ENDPOINT": otlp.url,
                "OTEL_BSP_SCHEDULE_DELAY": "100",
                "OTEL_METRIC_EXPORT_INTERVAL": "500",
            },
        ) as gateway:
            await gateway.listed("alpha__note", "alpha__give_aws", "run_start")
            made = Place(gateway, folder, otlp, hooks)
            await walk(made)
            await house.end(folder, made.calls[-1])
            yield made


def none_in(*data: bytes) -> None:
    """Hold that none of the secrets is in what was said, and name those that are."""
    assert data
    assert [found for each in data for found in found_in(each)] == []
    assert [each for each in data if TWICE.encode() in each] == []


def test_there_are_twenty_kinds_and_each_place_has_its_own() -> None:
    assert (len(KINDS), len(PLACES)) == (20, 6)
    cores = {core(kind, place) for kind in KINDS for place in PLACES}
    assert len(cores) == 120
    assert found_in(core("jwt", "urls").encode()) == [("jwt", "urls")]


async def test_every_secret_was_really_there(place: Place) -> None:
    sent = json.dumps(record_of(place.folder, "alpha").messages()).encode()
    assert sent.count(TWICE.encode()) >= 6
    for kind in KINDS:
        there = {each for found, each in found_in(sent) if found == kind}
        assert {"arguments", "urls", "nested", "names"} <= there, kind
    given = await place.gateway.call("alpha__give_aws", {})
    assert core("aws", "results") in json.dumps(given)  # callers get what servers answer


async def test_none_is_in_the_store(place: Place) -> None:
    """case: OBS-01"""
    none_in(*(path.read_bytes() for path in sorted(place.folder.glob("store.db*"))))


async def test_none_is_in_the_lines_of_the_log(place: Place) -> None:
    """case: OBS-01"""
    none_in((place.folder / "log.txt").read_bytes())


async def test_none_is_in_spans_and_metrics(place: Place) -> None:
    """case: OBS-01"""
    await asyncio.to_thread(
        place.otlp.wait_for,
        lambda: len(place.otlp.spans) >= len(place.calls) and bool(place.otlp.points),
    )
    none_in(*(each.body + json.dumps(each.headers).encode() for each in place.otlp.requests))


async def test_none_is_in_webhooks(place: Place) -> None:
    await until_async(lambda: len(place.hooks.got) >= len(KINDS), house.WITHIN_S)
    none_in(*(each.body + json.dumps(each.headers).encode() for each in place.hooks.got))


EXPORTS = (
    ["events", "query", "--all", "--json"],
    ["events", "query", "--all", "--csv"],
    ["events", "query", "--all"],
    ["events", "query", "--all", "--format", "ocsf"],
    ["events", "query", "--all", "--format", "cloudevents"],
    ["events", "export", "--tenant", "acme", "--format", "csv"],
    ["events", "ask", "decided"],
    ["events", "ask", "reviews"],
    ["events", "ask", "policy-changes"],
    ["events", "ask", "readers"],
    ["approvals", "list"],
    ["approvals", "list", "--json"],
    ["ops", "list"],
    ["ops", "list", "--json"],
    ["runs", "list", "--json"],
    ["runs", "show", "RUN"],
    ["runs", "show", "RUN", "--json"],
    ["replay"],
    ["replay", "--json"],
    ["replay", "--format", "html"],
    ["replay", "--format", "junit"],
    ["replay", "--format", "sarif"],
    ["policy", "suggest", "--since", "1d"],
    ["policy", "test", "--record", "RUN"],
    ["policy", "shadow"],
    ["policy", "history"],
    ["status", "--json"],
    ["doctor"],
)


@pytest.mark.parametrize("words", EXPORTS, ids=" ".join)
async def test_none_is_in_what_commands_show(place: Place, words: list[str]) -> None:
    """case: OBS-01"""
    said = [place.run if each == "RUN" else each for each in words]
    done = await asyncio.to_thread(forked.ran, [*said, "--config", place.config])
    assert done.stdout, done.stderr
    none_in(done.stdout.encode(), done.stderr.encode())


def written(folder: Path, question: str) -> int:
    with closing(sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)) as store:
        return store.execute(question).fetchone()[0] or 0


async def test_none_is_in_an_export_with_proofs(place: Place) -> None:
    out, last = place.folder / "acme", written(place.folder, "SELECT MAX(seq) FROM events")
    checked = "SELECT MAX(size) FROM checkpoints"
    await until_async(lambda: written(place.folder, checked) >= last, 90)
    words = ["events", "export", "--tenant", "acme", "--out", str(out), "--config", place.config]
    done = await asyncio.to_thread(forked.ran, words)
    assert done.returncode == 0, done.stderr
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) >= 5
    none_in(*(path.read_bytes() for path in files))


async def test_none_is_in_what_a_playback_says_of_itself(place: Place) -> None:
    ready, said = place.folder / "playing.json", place.folder / "playing.txt"
    report = place.folder / "played.json"
    words = ["--playback", place.run, "--ready-file", str(ready), "--report", str(report)]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(place.folder)}
    process = forked.begin(["serve", "--config", place.config, *words], said, environ)
    try:
        await until_async(lambda: ready.exists() or process.returncode is not None, 60)
        url = json.loads(ready.read_text())["url"]
        played = Gateway(url=url, process=process, folder=place.folder)
        for kind in KINDS:
            given = await played.call(f"alpha__give_{kind}", {"kind": kind})
            assert outcome(given)["status"] == "ok"
            missed = planted(kind, "names")
            await played.call(f"alpha__{missed}", {"kind": "none"})
            none_in(json.dumps(given).encode())
    finally:
        process.terminate()
        await process.wait()
    none_in(said.read_bytes(), report.read_bytes())


async def test_none_is_on_any_page(place: Place) -> None:
    """case: OBS-01"""
    login = ["admin", "login", "--user", "ann", "--json", "--config", place.config]
    link = json.loads((await asyncio.to_thread(forked.ran, login)).stdout)["url"]
    path = "/" + link.split("/", 3)[3]
    base = place.gateway.admin
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.post(base + path, headers={"Origin": base}) as entered:
            assert entered.status == 200, await entered.text()
        pages = await crawled(session, base, [f"/runs/{place.run}", "/events", "/runs", "/replay"])
    assert sum(page.startswith("/approvals/apr_") for page in pages) >= len(KINDS)
    assert sum(page.startswith("/events/") for page in pages) >= 20
    leaking = {page: found for page, body in pages.items() if (found := found_in(body))}
    assert leaking == {}
    assert [page for page, body in pages.items() if TWICE.encode() in body] == []


async def crawled(
    session: aiohttp.ClientSession, base: str, begin: list[str], most: int = 250
) -> dict[str, bytes]:
    """Open every page that others lead to, each path with a few of its queries."""
    found, left = dict[str, bytes](), ["/approvals", *begin]
    while left and len(found) < most:
        path = left.pop(0)
        if path in found or "logout" in path:
            continue
        async with session.get(base + path) as answer:
            found[path] = await answer.read()
        links = re.findall(r'href="(/[^"#]*)"', found[path].decode("utf-8", "replace"))
        fresh = [unescape(each) for each in dict.fromkeys(links)]
        left += sorted(fresh, key=lambda each: not each.startswith(("/approvals/apr_", "/runs/")))
    return found


async def test_none_is_among_the_api_s_answers(place: Place) -> None:
    done: dict[str, Any] = place.gateway.command("runs", "show", place.run)[0]
    none_in(json.dumps(done).encode())

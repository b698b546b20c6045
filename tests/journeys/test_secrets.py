"""Secrets go in by every door; none comes out by any."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gateway.types.tools import Sensitivity
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.journeys import house

LOGIN = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "password": {"type": "string"}},
    "required": ["user"],
}
MARKS = {
    "key": "wb_desk_" + "4b1f9c07e2d85a36" * 4,
    "env": "m2-qT7vXw2LzKp9/RbNc+YdHs",
    "password": "m3qT7vXw2LzKp9RbNcYdHs",
    "nested": "m4qT7vXw2LzKp9RbNcYdHs",
    "header": "m5qT7vXw2LzKp9RbNcYdHs",
    "url": "m6qT7vXw2LzKp9RbNcYdHs",
    "error": "m7qT7vXw2LzKp9RbNcYdHs",
    "reply": "m8qT7vXw2LzKp9RbNcYdHs",
    "stderr": "m9qT7vXw2LzKp9RbNcYdHs",
    "tagged": "the blue lighthouse keeper",
    "wrong": "m10qT7vXw2LzKp9RbNcYdHs",
    "name": "m11qT7vXw2LzKp9RbNcYdHs",
}
TOOLS = [
    tool("login", inputSchema=LOGIN),
    tool("note"),
    tool("fails"),
    tool("is_error"),
    tool("slow"),
    tool("dies"),
]


def forms(secret: str) -> list[bytes]:
    """Return a secret as it is, and in the codes that it may travel in."""
    raw = secret.encode()
    cores = [base64.b64encode(b"x" * pad + raw).rstrip(b"=")[4:-4] for pad in range(3)]
    return [raw, quote(secret, safe="").encode(), raw.hex().encode(), *cores]


@dataclass
class Place:
    """A gateway that was shown every secret, and everything that it said to clients."""

    gateway: Gateway
    folder: Path
    receiver: OtlpReceiver
    answers: list[str] = field(default_factory=list[str])

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        _, message = await self.gateway.send(
            "tools/call", {"name": name, "arguments": arguments or {}}
        )
        self.answers.append(json.dumps(message, ensure_ascii=False))
        return message.get("result", {})  # empty: a server answered with an error of its own


def servers(folder: Path, beta: FakeHttp) -> dict[str, Any]:
    """Return entries whose secrets come out of the environment, as in real configurations."""
    said = f"stderr: password={MARKS['stderr']} for {MARKS['env']}"
    error = {"code": -32000, "message": f"bad token {MARKS['error']}", "data": [MARKS["env"]]}
    wrong = {**text(f"denied: Authorization: Bearer {MARKS['error']}"), "isError": True}
    script = Script(
        tools=TOOLS,
        on_start=[{"stderr": said}],
        on_call={
            "login": [{"stderr": said}, {"reply": text("welcome")}],
            "note": [{"reply": text("kept")}],
            "fails": [{"error": error}],
            "is_error": [{"reply": wrong}],
            "slow": [{"delay_ms": 60_000}],
            "dies": [{"stderr": said}, {"exit": 3}],
        },
    )
    broken = Script(on_start=[{"stderr": f"no way in with {MARKS['env']}: {said}"}, {"exit": 1}])
    return {
        "alpha": house.stdio(script, folder, env={"ALPHA_TOKEN": "${ALPHA_SECRET}"}),
        "gamma": house.stdio(broken, folder, "gamma", env={"GAMMA_KEY": "${ALPHA_SECRET}"}),
        "beta": {
            **house.http(beta),
            "url": beta.url + "?token=${URL_SECRET}",
            "headers": {"Authorization": "Bearer ${HEADER_SECRET}"},
        },
    }


def contracts() -> str:
    special: dict[str, dict[str, Any]] = {
        "slow": {"timeout_s": 0.2},
        "note": {"sensitive": {"/body": Sensitivity.SECRET}},
    }
    return house.contracts(
        *(house.contract(one, **special.get(one["name"], {})) for one in TOOLS),
        house.contract(tool("renew"), "beta"),
    )


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("secrets")
    login = {"http": 401, "body": {"error": "expired", "accesstoken": MARKS["reply"]}}
    secret = {"id": "desk", "user": "sam", "tenant": "t1"}
    beta_script = Script(tools=[tool("renew")], on_call={"renew": [login]})
    with otlp_receiver() as receiver, FakeHttp(beta_script) as beta:
        made = house.apikeys.hash_key(MARKS["key"])
        async with running(
            folder,
            house.config(
                servers(folder, beta),
                identity={"api_keys": [{**secret, "hash": made}]},
                telemetry={"capture_content": True},
            ),
            contracts=contracts(),
            headers={"Authorization": f"Bearer {MARKS['key']}"},
            environ={
                "ALPHA_SECRET": MARKS["env"],
                "URL_SECRET": MARKS["url"],
                "HEADER_SECRET": MARKS["header"],
                "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
                "OTEL_BSP_SCHEDULE_DELAY": "100",
                "OTEL_METRIC_EXPORT_INTERVAL": "200",
            },
        ) as gateway:
            await gateway.listed("alpha__login", "beta__renew")
            place = Place(gateway, folder, receiver)
            await walk(place)
            yield place


async def walk(place: Place) -> None:
    """Take every path once."""
    secret = {"password": MARKS["password"], "ctx": {"list": [{"apiKey": MARKS["nested"]}]}}
    await place.call("alpha__login", {"user": "sam", **secret})
    await place.call("alpha__login", {"user": 7, "token": MARKS["wrong"], **secret})
    await place.call("alpha__note", {"body": MARKS["tagged"]})
    await place.call("alpha__fails", secret)
    await place.call("alpha__slow", secret)
    await place.call("beta__renew", {"header": f"Bearer {MARKS['header']}"})
    await place.call("alpha__dies", secret)
    await place.call(f"alpha__login?token={MARKS['name']}", secret)

    def ended() -> bool:
        found = house.events(place.folder, kind="tool_call")
        return len([one for one in found if one["stage"] != "started"]) >= len(place.answers)

    async def back() -> bool:
        return outcome(await place.gateway.call("alpha__note"))["status"] == "ok"

    await until_async(ended, house.WITHIN_S)
    await until_async(back, house.WITHIN_S)


def found_in(data: bytes, *, but: tuple[str, ...] = ()) -> list[str]:
    """Return the names of the secrets that are in some bytes."""
    return [
        name
        for name, secret in MARKS.items()
        if name not in but and any(form in data for form in forms(secret))
    ]


async def test_the_secrets_were_really_there(place: Place) -> None:
    sent = json.dumps(record_of(place.folder, "alpha").messages())
    assert MARKS["password"] in sent
    assert MARKS["nested"] in sent
    assert MARKS["tagged"] in sent
    said = "".join(place.answers)
    for status in ("unavailable", "invalid_arguments", "timeout", "unknown_tool"):
        assert f'"status": "{status}"' in said
    assert '"error": {"code": -32000' in said  # a server's own error, which passes


async def test_no_secret_is_in_what_clients_are_told(place: Place) -> None:
    """case: OBS-01"""
    # A name that a caller made up is told back to that caller, and to nobody else.
    assert found_in("".join(place.answers).encode(), but=("name",)) == []


async def test_no_secret_is_in_the_log_lines(place: Place) -> None:
    """case: OBS-01"""
    assert found_in((place.folder / "log.txt").read_bytes()) == []


async def test_no_secret_is_in_the_store_and_nobody_else_can_read_it(place: Place) -> None:
    """case: OBS-01"""
    files = sorted(place.folder.glob("store.db*"))
    assert len(files) >= 2  # the write-ahead log as well
    for path in files:
        assert found_in(path.read_bytes()) == []
        assert path.stat().st_mode & 0o077 == 0


async def test_no_secret_is_in_spans_or_metrics(place: Place) -> None:
    """case: OBS-01"""
    await asyncio.to_thread(
        place.receiver.wait_for,
        lambda: len(place.receiver.spans) >= len(place.answers) and bool(place.receiver.points),
    )
    for request in place.receiver.requests:
        assert found_in(request.body + json.dumps(request.headers).encode()) == []


@pytest.mark.parametrize(
    "words", [["status"], ["status", "--json"], ["events", "query", "--json"], ["doctor"]]
)
async def test_no_secret_is_in_what_commands_show(place: Place, words: list[str]) -> None:
    """case: OBS-01"""
    done = await asyncio.to_thread(
        forked.ran,
        [*words, "--config", str(place.folder / "config.yaml")],
        {
            "PATH": "/usr/bin:/bin",
            "ALPHA_SECRET": MARKS["env"],
            "URL_SECRET": MARKS["url"],
            "HEADER_SECRET": MARKS["header"],
        },
    )
    assert done.stdout
    assert found_in(f"{done.stdout}{done.stderr}".encode()) == []


async def test_no_secret_is_among_the_arguments_of_a_process(place: Place) -> None:
    """case: OBS-01"""
    pids = [place.gateway.process.pid, *record_of(place.folder, "alpha").pids()]
    lines = [path.read_bytes() for pid in pids if (path := Path(f"/proc/{pid}/cmdline")).exists()]
    assert len(lines) >= 2
    assert found_in(b"\0".join(lines)) == []


async def test_what_a_tool_itself_says_reaches_the_caller_and_not_the_log(place: Place) -> None:
    """case: OBS-01"""
    await place.gateway.listed("alpha__is_error")
    result = await place.gateway.call("alpha__is_error")
    assert outcome(result)["status"] == "tool_failed"
    assert MARKS["error"] in house.texts(result)
    await house.end(place.folder, outcome(result)["call_id"])
    for path in place.folder.glob("store.db*"):
        assert found_in(path.read_bytes()) == []


async def test_the_gateways_own_credential_in_a_result_stays_behind(tmp_path: Path) -> None:
    """case: OBS-01"""
    credential = "sk-live-canary-4f9a8b7c"
    said: dict[str, Any] = {**text(f"key {credential}"), "structuredContent": {"n": 10**30}}
    script = Script(tools=[tool("leak")], on_call={"leak": [{"reply": said}]})
    entry = house.stdio(script, tmp_path, env={"API_KEY": credential, "PLACE": "/home/somebody"})
    async with running(tmp_path, house.unreviewed({"alpha": entry})) as gateway:
        await gateway.listed("alpha__leak")
        result = await gateway.call("alpha__leak")
    assert result["content"] == text("key [secret]")["content"]
    assert result["structuredContent"] == {"n": 10**30}
    assert result["_meta"]["weighbridge/outcome"]["redactions"] == 1

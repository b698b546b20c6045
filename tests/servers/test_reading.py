"""Credentials of the gateway's own in what a server sends."""

from pathlib import Path
from typing import Any

import pytest

from gateway import jsontext
from gateway.errors import JsonError
from gateway.servers.reading import Read, Reader
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.fleets import Listener, call, http_entry, running, stdio_entry

KEY = "sk-live/4f9a8b7c"
LONG = f"Bearer {KEY}"


def test_a_message_without_a_credential_is_what_it_was() -> None:
    data = b'{"n":12345678901234567890,"x":0.10,"t":"sk-live"}'
    assert Reader((LONG, KEY)).read(data) == Read(jsontext.parse_result(data))
    assert Reader(()).read(b'{"a":"\\u0041"}') == Read({"a": "A"})


def test_a_credential_goes_from_texts_and_keys_and_all_else_stays_exact() -> None:
    data = jsontext.dump({"a": [f"x {LONG} {KEY}", 10**30, None], KEY: {"b": True}})
    read = Reader((LONG, KEY)).read(data)
    assert read.message == {"a": ["x [secret] [secret]", 10**30, None], "[secret]": {"b": True}}
    assert read.redactions == 3


@pytest.mark.parametrize(
    ("credential", "written"),
    [
        (KEY, "sk-live\\/4f9a8b7c"),
        (KEY, "\\u0073k-live/4f9a8b7c"),
        ("a&b<c>d-key", "a\\u0026b\\u003cc\\u003ed-key"),
        ("schlüssel", "schl\\u00fcssel"),
        ("密码密码密码密码", "\\u5bc6\\u7801" * 4),
    ],
)
def test_a_credential_in_escapes_is_found_as_well(credential: str, written: str) -> None:
    read = Reader((credential,)).read(b'{"t":"%b"}' % written.encode())
    assert read == Read({"t": "[secret]"}, 1)


def test_what_is_not_json_is_still_refused() -> None:
    with pytest.raises(JsonError):
        Reader((KEY,)).read(f"[{KEY}".encode())


SAYS: list[Any] = [
    {"notify": {"method": "notifications/message", "params": {"level": "info", "data": KEY}}},
    {"request": {"method": "elicitation/create", "params": {"message": f"use {KEY}?"}}},
    {"reply": {**text(f"your key is {KEY}"), "structuredContent": {"n": 10**30, "key": KEY}}},
]


@pytest.mark.parametrize("transport", ["stdio", "json", "sse"])
async def test_results_messages_and_questions_reach_a_caller_without_them(
    tmp_path: Path, transport: str
) -> None:
    quiet = transport == "json"  # which has no room for anything but the answer
    script = Script(
        eras=["legacy"],
        tools=[tool("leak")],
        capabilities={"tools": {}, "logging": {}},
        on_call={"leak": SAYS[2:] if quiet else SAYS},
    )

    async def answer(method: str, params: JsonObject) -> JsonObject:
        return {"action": "decline"}

    async def leak(entry: Any) -> tuple[Delivered, Listener]:
        ear = Listener(answer=answer)
        given: Any = {"capabilities": {"elicitation": {}}, "log_level": "info", "lane": "ada"}
        async with running(entry) as servers:
            got = await call(servers.server("alpha"), "leak", ear=ear, **given)
        assert isinstance(got, Delivered)
        return got, ear

    if transport == "stdio":
        got, ear = await leak(stdio_entry(script, tmp_path, credentials=(KEY,)))
    else:
        with FakeHttp(script) as fake:
            got, ear = await leak(http_entry(fake, credentials=(KEY,)))
    assert got.redactions == 2
    assert got.result["content"] == text("your key is [secret]")["content"]
    assert got.result["structuredContent"] == {"n": 10**30, "key": "[secret]"}
    if not quiet:
        assert ear.logged == [{"level": "info", "data": "[secret]"}]
        assert ear.asked == [("elicitation/create", {"message": "use [secret]?"})]


HALF = b'"\\ud800"'


def test_a_list_is_read_with_half_surrogate_pairs_in_its_entries_and_nowhere_else() -> None:
    page = b'{"id":1,"result":{"tools":[{"name":"a"},{"name":%s}]%s}}'
    read = Reader(()).read(page % (HALF, b""))
    assert read.message == {"id": 1, "result": {"tools": [{"name": "a"}, {"name": "\ud800"}]}}
    raw = page % (b'"\xed\xa0\x80"', b"")
    assert Reader(()).read(raw).message == read.message
    for data in (
        page % (b'"b"', b',"_meta":{"x":%s}' % HALF),
        b'{"id":1,"result":{"content":[{"type":"text","text":%s}]}}' % HALF,
        b'{"id":1,"error":{"code":1,"message":%s}}' % HALF,
        b'{"tools":[%s]}' % HALF,
        page % (HALF, b","),
        page % (b'"\xff"', b""),
    ):
        with pytest.raises(JsonError):
            Reader(()).read(data)

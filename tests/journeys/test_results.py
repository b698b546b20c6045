"""What tools answer, as it reaches the agent: whole, or refused in words that help."""

import json
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, Step, record_of, text, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

TOTAL: Json = {
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
}
BLOCKS: list[Json] = [
    {"type": "text", "text": "meta", "annotations": {"audience": ["user"], "priority": 0.2}},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "mem://f/1", "name": "f1", "mimeType": "application/pdf"},
    {
        "type": "resource",
        "resource": {"uri": "mem://f/2", "mimeType": "application/pdf", "blob": "JVBERi0="},
    },
    {"type": "hologram", "x": 1},
]
MALFORMED = {
    "get_m0": '{"content":"hi"}',
    "get_m1": '{"success":true}',
    "get_m2": "{}",
    "get_m3": "null",
    "get_m4": '{"content":[{"type":"text"}]}',
}
HUGE = 5_000_000
BIG = 9100000000000000123


def raw(result: str) -> list[Step]:
    """Return the step that answers with a result as it stands."""
    return [{"raw": f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'}]


STEPS: dict[str, list[Step]] = {
    "get_text": [{"reply": text("ž" * (HUGE // 2))}],
    "get_rows": [{"reply": {"content": [], "structuredContent": {"rows": [0] * 1_500_000}}}],
    "get_total": [{"reply": {"content": [], "structuredContent": {"total": 3}}}],
    "get_drifted": [{"reply": text("done")}],
    "put_drifted": [{"reply": {"content": [], "structuredContent": {"total": "7"}}}],
    "get_blocks": [{"reply": {"content": BLOCKS, "_meta": {"com.example/k": 1}}}],
    "get_nan": raw('{"content":[],"structuredContent":{"mean":NaN}}'),
    "get_nan_text": raw('{"content":[{"type":"text","text":"{\\"mean\\": NaN}"}]}'),
    "get_both": [
        {
            "raw": '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},'
            '"error":{"code":1,"message":"m"}}'
        }
    ],
    "get_list": raw('{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":[1,2]}'),
    "get_word": raw('{"content":[],"structuredContent":"x"}'),
    "get_zero": raw('{"content":[],"structuredContent":0}'),
    "get_false": raw('{"content":[],"structuredContent":false}'),
    "get_null": raw('{"content":[],"structuredContent":null}'),
    "get_big": raw(f'{{"content":[],"structuredContent":{{"id":{BIG},"part":0.1}}}}'),
    **{name: raw(result) for name, result in MALFORMED.items()},
}
SCHEMAS = {"get_total": TOTAL, "get_drifted": TOTAL, "put_drifted": TOTAL}


class Place:
    """A gateway with one fake behind it, and what that fake received."""

    def __init__(self, gateway: Gateway, folder: Path, fake: FakeHttp | None) -> None:
        self.gateway = gateway
        self.folder = folder
        self._fake = fake

    def received(self) -> list[Json]:
        if self._fake is not None:
            return self._fake.calls()
        return record_of(self.folder, "alpha").calls()

    async def alive(self) -> None:
        """Assert that the next call is served as ever."""
        result = await self.gateway.call("alpha__get_total")
        assert result["structuredContent"] == {"total": 3}


@pytest.fixture(scope="module", params=["stdio", "http"])
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("results")
    tools = [
        tool(name, **({"outputSchema": SCHEMAS[name]} if name in SCHEMAS else {}))
        for name in [*STEPS, "get_echo"]
    ]
    script = Script(tools=tools, on_call=STEPS)
    with ExitStack() as stack:
        fake = stack.enter_context(FakeHttp(script)) if request.param == "http" else None
        entry = house.http(fake) if fake is not None else house.stdio(script, folder)
        config = house.unreviewed({"alpha": entry}, limits={"max_result_bytes": 200_000})
        async with running(folder, config) as gateway:
            await gateway.listed("alpha__get_total")
            yield Place(gateway, folder, fake)


async def test_a_text_that_is_too_large_is_cut_between_letters_and_says_so(place: Place) -> None:
    """case: OUT-01"""
    result = await place.gateway.call("alpha__get_text")
    said = house.texts(result)
    assert len(said.encode()) < 210_000
    assert said.startswith("žžž")
    assert f"of {HUGE} bytes shown]" in said
    body = await house.end(place.folder, outcome(result)["call_id"])
    assert body["status"] == "ok"
    assert body["result_size"] >= HUGE
    assert "žžž" not in json.dumps(body, ensure_ascii=False)


async def test_structured_data_is_never_cut(place: Place) -> None:
    """case: OUT-01"""
    result = await place.gateway.call("alpha__get_rows")
    said = outcome(result)
    assert (said["status"], said["error_class"]) == ("result_too_large", "tool")
    assert "narrow the query" in said["next"]
    assert (await house.end(place.folder, said["call_id"]))["result_size"] > 1_500_000


async def test_structured_data_without_text_gets_a_text_for_older_clients(place: Place) -> None:
    """case: OUT-02"""
    result = await place.gateway.call("alpha__get_total")
    assert result["structuredContent"] == {"total": 3}
    assert result.get("isError") is not True
    assert json.loads(house.texts(result)) == {"total": 3}


async def test_a_write_that_breaks_its_output_schema_is_not_to_be_repeated(place: Place) -> None:
    """case: OUT-03"""
    before = len(place.received())
    result = await place.gateway.call("alpha__put_drifted")
    said = outcome(result)
    assert (said["status"], said["executed"], said["retryable"]) == ("result_invalid", "yes", False)
    assert "do not repeat" in said["next"]
    assert "/total" in said["reason"]
    assert len(place.received()) == before + 1
    body = await house.end(place.folder, said["call_id"])
    assert body["original"]["structuredContent"] == {"total": "7"}


async def test_a_read_without_its_structured_data_is_a_contract_error(place: Place) -> None:
    """case: OUT-03"""
    said = outcome(await place.gateway.call("alpha__get_drifted"))
    assert (said["status"], said["executed"]) == ("result_invalid", "no")
    assert "output schema" in said["reason"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("list", [1, 2]), ("word", "x"), ("zero", 0), ("false", False), ("null", None)],
)
async def test_a_structure_that_is_no_object_reaches_each_era_in_its_form(
    place: Place, name: str, value: object
) -> None:
    """case: OUT-05"""
    modern = await place.gateway.call(f"alpha__get_{name}")
    assert "structuredContent" in modern
    assert modern["structuredContent"] == value
    assert type(modern["structuredContent"]) is type(value)
    for version in ("2025-06-18", "2025-11-25"):
        async with house.legacy(place.gateway, version) as client:
            old = await house.call(client, f"alpha__get_{name}")
        assert old.get("isError") is not True
        assert "structuredContent" not in old
        assert [json.loads(block["text"]) for block in old["content"]] == [value]


async def test_every_kind_of_block_arrives_as_it_was_sent(place: Place) -> None:
    """case: OUT-06"""
    result = await place.gateway.call("alpha__get_blocks")
    assert result["content"] == BLOCKS
    assert result["_meta"]["com.example/k"] == 1
    async with house.legacy(place.gateway) as client:
        assert (await house.call(client, "alpha__get_blocks"))["content"] == BLOCKS


async def test_nan_in_a_frame_fails_that_call_alone_and_in_a_text_nothing(place: Place) -> None:
    """case: OUT-07"""
    said = outcome(await place.gateway.call("alpha__get_nan"))
    assert (said["status"], said["error_class"]) == ("result_invalid", "tool")
    await place.alive()
    result = await place.gateway.call("alpha__get_nan_text")
    assert house.texts(result) == '{"mean": NaN}'
    assert outcome(result)["status"] == "ok"


@pytest.mark.parametrize("name", [*MALFORMED, "get_both"])
async def test_an_answer_that_is_no_tool_result_fails_that_call_alone(
    place: Place, name: str
) -> None:
    """case: OUT-08"""
    result = await place.gateway.call(f"alpha__{name}")
    assert result["isError"] is True
    assert outcome(result)["status"] in {"result_invalid", "tool_failed"}
    assert "alpha" in outcome(result)["reason"]
    await place.alive()


async def test_digits_are_the_same_on_both_ways_and_in_the_log(place: Place) -> None:
    """case: ARG-02"""
    numbers = '{"id":9007199254740993,"amount":0.1,"big":123456789012345678901234567890}'
    result = await house.call_raw(place.gateway, "alpha__get_echo", numbers)
    assert place.received()[-1]["params"]["arguments"] == json.loads(numbers)
    assert result["structuredContent"]["arguments"] == json.loads(numbers)
    (judged,) = house.events(
        place.folder, kind="authorization", call=outcome(result)["call_id"]
    ) or [await house.event(place.folder, kind="authorization", call=outcome(result)["call_id"])]
    assert judged["body"]["arguments"] == json.loads(numbers)
    back = await place.gateway.call("alpha__get_big")
    assert back["structuredContent"] == {"id": BIG, "part": 0.1}
    assert str(BIG) in house.texts(back)
    async with house.legacy(place.gateway) as client:
        old = await house.call(client, "alpha__get_echo", json.loads(numbers))
        assert old["structuredContent"]["arguments"] == json.loads(numbers)


async def test_a_number_beyond_all_bounds_is_refused_and_never_becomes_infinity(
    place: Place,
) -> None:
    """case: ARG-02"""
    before = len(place.received())
    said = outcome(await house.call_raw(place.gateway, "alpha__get_echo", '{"e":1E400}'))
    assert said["status"] == "invalid_arguments"
    assert "/e" in said["reason"]
    assert len(place.received()) == before


TEXT = "řemeslník 日本 🎉 ✓ \u2028 \u0000 😀"


async def test_text_in_every_script_comes_back_as_it_was(place: Place) -> None:
    """case: STD-06"""
    async with house.legacy(place.gateway) as old:
        for client in (house.as_modern(place.gateway), old):
            result = await house.call(client, "alpha__get_echo", {"t": TEXT})
            assert result["structuredContent"]["arguments"] == {"t": TEXT}


async def test_half_a_surrogate_pair_is_refused_cleanly(place: Place) -> None:
    """case: STD-06"""
    said = outcome(await house.call_raw(place.gateway, "alpha__get_echo", '{"t":"\\ud83d"}'))
    assert said["status"] == "invalid_arguments"
    await place.alive()

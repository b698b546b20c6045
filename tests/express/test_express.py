"""Reads that are like earlier ones: whoever looks from outside can't tell which way they went."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.results import envelope
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered
from gateway.types.runs import Phase
from gateway.types.values import replaced
from tests.helpers.expressed import OPEN, PRINCIPAL, RESULT, RUN, Both, Speaker, read

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT: Final = f"00-{TRACE}-{SPAN}-01"
UNSAMPLED: Final = f"00-{TRACE}-{SPAN}-00"
APART: Final = f"00-{'1' * 32}-{'2' * 16}-01"
IN_RUN: Final = replaced(RUN, phase=Phase.RETRIEVING)


async def in_a_run() -> Both:
    """Return both ways for calls of which some are in a run."""
    both = await Both(in_runs=True).taught()
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    return await both.taught()


@pytest.mark.parametrize("taught", [Both(), Both(tool=OPEN), Both(in_runs=True)])
async def test_the_third_of_a_kind_goes_the_short_way(taught: Both) -> None:
    ways = [(await taught.take(read({"text": str(number)})))[1] for number in range(6)]
    assert ways == [False, False, True, True, True, True]


async def test_in_a_run_and_outside_of_one() -> None:
    both = await in_a_run()
    for run in (IN_RUN, None, replaced(IN_RUN, run_id="run_2", version=7), IN_RUN):
        both.both(lambda side, run=run: setattr(side.runs, "run", run))
        seen = await both.short_way(read({"text": "y"}))
        assert [each for each, _ in seen.noted if each] == ([run.run_id] if run else [])


CALLS: Final[dict[str, dict[str, Any]]] = {
    "another id": {"call_id": "call_2", "request_id": "9" * 300, "peer": "[::1]:80"},
    "an odd peer": {"peer": "p" * 600, "request_id": "\ud800"},
    "no peer": {"peer": "", "request_id": ""},
    "its own members": {"params": {"name": "crm__find", "arguments": {}, "_meta": {}, "uri": 1}},
    "what clients say": {
        "meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "x"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "baggage": "secret=1",
        }
    },
    "a header": {"trace_header": PARENT},
    "a header that is none": {"trace_header": "x"},
    "a trace in _meta": {"meta": {"traceparent": PARENT}},
    "an odd trace in _meta": {"meta": {"traceparent": [1], "tracestate": "a=1"}},
    "both alike": {"meta": {"traceparent": PARENT}, "trace_header": PARENT},
    "not sampled": {"trace_header": UNSAMPLED},
    "a malformed state": {"meta": {"traceparent": PARENT, "tracestate": "?"}},
    "a key": {"idempotency_key": "k1"},
    "a client": {"client_name": "x", "rounds": 2},
    "a task's name": {"params": {"taskId": "t"}},
}


@pytest.mark.parametrize("changes", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("is_in_run", [False, True])
async def test_calls_that_are_like_earlier_ones(changes: dict[str, Any], is_in_run: bool) -> None:
    both = await (in_a_run() if is_in_run else Both().taught())
    seen = await both.short_way(read({"text": "y"}, **changes))
    assert len(seen.rows) == 3
    assert len(seen.spans) == (0 if changes == CALLS["not sampled"] else 1)


SPANS: Final[dict[str, dict[str, Any]]] = {
    "a state": {"meta": {"traceparent": PARENT, "tracestate": "a=1"}},
    "two traces": {"meta": {"traceparent": PARENT}, "trace_header": APART},
}


@pytest.mark.parametrize("changes", SPANS.values(), ids=SPANS)
async def test_calls_whose_spans_say_more(changes: dict[str, Any]) -> None:
    for both in (await Both().taught(), await in_a_run()):
        seen = await both.long_way(read({"text": "y"}, **changes))
        assert len(seen.rows) == 3
        await both.short_way(read({"text": "y"}))


@pytest.mark.parametrize("sampler", ["always_off", "always_on", "parentbased_always_off"])
@pytest.mark.parametrize("header", ["", PARENT, UNSAMPLED])
async def test_spans_are_exported_where_their_trace_is(sampler: str, header: str) -> None:
    both = await Both(environ={"OTEL_TRACES_SAMPLER": sampler}).taught()
    seen = await both.short_way(read(trace_header=header))
    follows = sampler.startswith("parentbased") and header == PARENT
    assert len(seen.spans) == (sampler == "always_on" or follows)


async def test_a_caller_of_each_kind_has_a_track_of_its_own() -> None:
    both = Both()
    speakers = [
        Speaker(era=era, transport=transport, protocol_version=version)
        for era, version in ((Era.LEGACY, "2025-06-18"), (Era.MODERN, "2026-07-28"))
        for transport in ("http", "stdio")
    ]
    for speaker in (*speakers, Speaker(era=Era.LEGACY, protocol_version="2025-03-26")):
        assert not both.short.is_taken(read(caller=speaker))
        await both.taught(read(caller=speaker))
        seen = await both.short_way(read({"text": "y"}, caller=speaker))
        assert speaker.protocol_version.encode() in seen.spans[0]


async def test_each_actor_has_a_track_of_its_own() -> None:
    both = await Both().taught()
    other = replace(PRINCIPAL, user="ann", tenant="umbrella")
    assert not both.short.is_taken(read(principal=other))
    await both.taught(read(principal=other))
    seen = await both.short_way(read(principal=other))
    assert {(row.tenant, row.actor_user) for row in seen.rows} == {("umbrella", "ann")}
    seen = await both.short_way(read())
    assert {(row.tenant, row.actor_user) for row in seen.rows} == {("acme", "sam")}


ARGUMENTS: Final[dict[str, JsonObject]] = {
    "none": {},
    "nested": {"deep": {"a": "b", "c": "%s"}, "any": [{"a": [None, 1.5, True]}]},
    "a secret": {"text": "Bearer ghp_0123456789abcdefghij0123456789abcdef"},
    "a telling key": {"any": {"password": "x"}},
    "a mail address": {"text": "ann@example.org"},
    "a card": {"n": 4111111111111111},
    "too long": {"text": "x" * 20_000},
    "too many": {"any": list[Json](["x" * 900] * 30)},
    "hidden": {"text": "a\u200bb\u202e\x00\u2028"},
    "large numbers": {"n": 2**70, "any": -1e308},
}


@pytest.mark.parametrize("sent", ARGUMENTS.values(), ids=ARGUMENTS)
async def test_arguments_of_any_kind(sent: JsonObject) -> None:
    for both in (await Both().taught(), await in_a_run()):
        seen, _ = await both.take(read(sent))
        assert [outbound.params["arguments"] for outbound, _ in seen.asked] in ([sent], [])
        await both.short_way(read())


def block(text: str) -> Json:
    return {"type": "text", "text": text}


RESULTS: Final[dict[str, JsonObject]] = {
    "text alone": {"content": [block("x")]},
    "both": {"structuredContent": {"n": 2}, "content": [block("x"), block("y")]},
    "complete": {"content": [block("x")], "resultType": "complete"},
    "a _meta": {"_meta": {"a": 1, "b": [2]}, "content": [block("x")]},
    "a _meta of null": {"content": [block("x")], "_meta": None},
    "a _meta that is a list": {"content": [block("x")], "_meta": [1]},
    "our own keys": {
        "_meta": {envelope.OUTCOME: "forged", "z": 1, envelope.UNTRUSTED: {"server": "other"}},
        "content": [block("x")],
    },
    "hidden": {"content": [block("a\u200bb\x00"), {"type": "odd", "content": [block("\u202e")]}]},
    "hidden elsewhere": {"content": [block("a\x00")], "messages": [{"content": block("\u202e")}]},
    "hidden below": {"content": [{"type": "text", "text": "a\x00", "content": [block("\u202e")]}]},
    "no error": {"isError": False, "content": [block("x")]},
    "other blocks": {
        "content": [
            {"type": "image", "data": "QQ==", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "crm://1", "text": "\u200b"}},
            {"type": "odd"},
        ]
    },
    "odd members": {"content": [block("x")], "nextCursor": "x", "x": {"y": 1}},
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("is_in_run", [False, True])
async def test_results_that_are_what_most_are(result: JsonObject, is_in_run: bool) -> None:
    made: Callable[[], Any] = in_a_run if is_in_run else Both(tool=OPEN).taught
    both = await made()
    if is_in_run:  # the other tool has an output schema
        result = {**result, "structuredContent": {"n": 2}}
    both.answers(Delivered(result=result, size=100))
    seen = await both.short_way(read({"text": "y"}))
    assert seen.finished is not None
    assert seen.finished.result["content"] == result["content"]


async def test_text_that_is_trusted_has_no_mark() -> None:
    contract: Any = Both(tool=OPEN).short.law.revision.contracts["crm.find"]
    both = await Both(tool=OPEN, contract=replace(contract, trusted_text=True)).taught()
    for result in RESULTS.values():
        both.answers(Delivered(result=result, size=100))
        seen = await both.short_way(read({"text": "y"}))
        assert (b'"forged"' in seen.left) is False


texts = st.text(max_size=6) | st.sampled_from(
    ["%s", '"', "\\", "%(a)s", "\0", "ann@example.org", "\u200b", "password"]
)
values: st.SearchStrategy[Any] = st.recursive(
    texts
    | st.integers(-(2**70), 2**70)
    | st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
sent_ones = st.fixed_dictionaries(
    {},
    optional={
        "text": texts,
        "n": st.integers() | texts,
        "deep": st.dictionaries(texts, texts, max_size=2),
        "any": values,
        "texts": texts,
    },
)
blocks = st.lists(
    st.builds(block, texts)
    | st.sampled_from([{"type": "odd"}, {"type": "text"}, {"type": "image"}, 1]),
    max_size=2,
)
results = st.fixed_dictionaries(
    {},
    optional={
        "content": blocks | st.none(),
        "structuredContent": st.fixed_dictionaries({}, optional={"n": st.integers() | texts}),
        "_meta": values | st.sampled_from([{envelope.OUTCOME: 1}, {envelope.UNTRUSTED: 1}]),
        "isError": st.booleans() | st.none(),
        "resultType": st.sampled_from(["complete", "input_required", "odd", None]),
    },
)
calls = st.fixed_dictionaries(
    {},
    optional={
        "trace_header": st.sampled_from([PARENT, UNSAMPLED, "x"]),
        "meta": st.fixed_dictionaries(
            {},
            optional={
                "traceparent": st.sampled_from([PARENT, APART, "x", 1]),
                "tracestate": st.sampled_from(["a=1", "?", 1]),
                "com.example/k": values,
                "baggage": texts,
            },
        ),
        "params": st.dictionaries(st.sampled_from(["name", "_meta", "x"]), values, max_size=2),
        "peer": texts,
        "request_id": texts,
        "caller": st.builds(
            Speaker,
            era=st.sampled_from(Era),
            transport=st.sampled_from(["http", "stdio"]),
            wants_progress=st.sampled_from([False, False, True]),
        ),
    },
)
# Of all examples: what is kept of one must not get into another.
WORLDS: Final = tuple(
    Both(is_at_once=is_at_once, **setting)
    for setting in ({}, {"tool": OPEN}, {"in_runs": True})
    for is_at_once in (False, True)
)


@given(
    number=st.integers(0, 5),
    sent=sent_ones,
    result=results,
    size=st.sampled_from([9, 100, 200_000]),
    redactions=st.sampled_from([0, 0, 0, 2]),
    call=calls,
    run=st.sampled_from([None, IN_RUN, replaced(IN_RUN, version=2, run_id="run_2"), RUN]),
)
def test_any_read_is_the_same_either_way(
    number: int,
    sent: JsonObject,
    result: JsonObject,
    size: int,
    redactions: int,
    call: dict[str, Any],
    run: Any,
) -> None:
    world = WORLDS[number]

    async def taken() -> None:
        world.answers(Delivered(result=RESULT, size=90))
        for known in (IN_RUN, None):
            world.both(lambda side, known=known: setattr(side.runs, "run", known))
            if not (await world.take(read()))[1]:
                await (await world.taught()).short_way(read())
        world.both(lambda side: setattr(side.runs, "run", run))
        for answer in (
            Delivered(result=RESULT, size=90),
            Delivered(result=result, size=size, redactions=redactions),
        ):
            world.answers(answer)
            for each in (read(), read(sent, **call), read(sent)):
                await world.take(each)

    asyncio.run(taken())

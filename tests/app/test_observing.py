"""Observing: judged as always, and passed as it came."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway import ids
from gateway.app.gateway import Gateway
from gateway.clock import SystemClock
from gateway.types.calls import Era, Method, Nobody
from gateway.types.decisions import Mode
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.json import JsonObject
from gateway.types.operations import RetryClass
from gateway.types.outcomes import Finished
from gateway.types.tools import Effect, Listed
from tests.helpers.cases import a_call, a_principal
from tests.helpers.fake_server import EVERYTHING, Script, record_of, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

Json = house.Json
SAM = a_principal()
WHOLE: Json = {
    "content": [
        {"type": "text", "text": "a \u202e b", "annotations": {"audience": ["user"]}},
        {"type": "resource_link", "uri": "crm://x", "name": "x"},
    ],
    "structuredContent": {"iban": "DE02", "id": 7, "rows": [1, 2.50, {"deep": [None]}]},
    "_meta": {"theirs": {"a": 1}},
}
POLICY = """\
rules:
  - id: all
    decision: allow
    match: {tools: ["crm.*"]}
  - {id: no-bans, decision: deny, match: {tools: [crm.ban]}}
  - id: big-pay
    decision: require_approval
    match: {tools: [crm.pay]}
    when: args.amount > 100
    approval: {approvers: {roles: [boss]}}
  - id: few
    decision: obligation
    match: {tools: [crm.few]}
    limits: [{id: few-a-day, per: [user], max: 1, window: 24h}]
  - id: own-tenant
    decision: obligation
    match: {tools: [crm.set]}
    constrain: {set: {tenant: identity.tenant}}
  - id: no-iban
    decision: obligation
    match: {tools: [crm.mask]}
    output: {redact: [{path: /iban, as: mask}]}
"""
NOTE: Json = {"uri": "crm://notes/1", "name": "note"}
QUESTION: Json = {
    "method": "elicitation/create",
    "params": {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}},
}
SPENT = tool(
    "pay",
    inputSchema={
        "type": "object",
        "required": ["amount"],
        "properties": {"amount": {"type": "integer"}},
    },
)
TYPED = tool("typed", outputSchema={"type": "object", "required": ["nothing"]})
NAMES = ["ask", "find", "ban", "few", "set", "mask", "keyed", "once", "note", "wipe"]
TOOLS = [*map(tool, NAMES), SPENT, TYPED, {"name": "bad", "inputSchema": 7}]


def reviewed(definition: Json, **changes: Any) -> Any:
    return house.contract(definition, "crm", **changes)


CONTRACTS = [
    *(reviewed(tool(name)) for name in ("find", "ban", "few", "mask")),
    reviewed(TYPED),
    reviewed(tool("set"), effect=Effect.WRITE),
    reviewed(SPENT, effect=Effect.WRITE),
    reviewed(tool("once"), effect=Effect.WRITE, idempotency=Idempotency(is_declared=True)),
    reviewed(
        tool("keyed"),
        effect=Effect.WRITE,
        idempotency=Idempotency(
            inject=Injection(place=InjectPlace.ARGUMENT, name="/key"), retry=RetryClass.KEYED
        ),
    ),
    reviewed(tool("note"), reviewed=False, effect=Effect.WRITE),
    reviewed(tool("wipe", description="as it was")),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("observing")
    script = Script(
        tools=TOOLS,
        eras=["legacy"],  # which ask in the middle of a call
        on_call={"ask": [{"request": QUESTION}, {"reply": WHOLE}], "*": [{"reply": WHOLE}]},
        resources=[NOTE],
        capabilities=EVERYTHING,
    )
    return a_workspace(
        folder,
        {"crm": house.stdio(script, folder, "crm")},
        policy=POLICY,
        contracts=CONTRACTS,
        mode="observe",
    )


@pytest.fixture(scope="module")
async def gateway(place: Workspace) -> AsyncGenerator[Gateway]:
    async with place.opened() as opened:
        yield opened


async def called(gateway: Gateway, name: str, arguments: Json | None = None) -> Finished:
    call = a_call(f"crm__{name}", arguments or {}, call_id=ids.new("call"), received_at=_now())
    return await gateway.handle(call)


def _now() -> Any:
    return SystemClock().now()


async def words(gateway: Gateway, place: Workspace, finished: Finished) -> dict[str, Json]:
    """Return `observed` of the events of a call, by kind and stage."""
    await gateway.store.events.kept()
    result: Json = finished.result
    call = result["_meta"]["weighbridge/outcome"]["call_id"]
    found = house.events(place.folder, call=call)
    return {f"{each['kind']} {each['stage']}": each["body"].get("observed") for each in found}


async def test_everything_is_listed_as_its_server_publishes_it(gateway: Gateway) -> None:
    page = await gateway.list_items(Listed.TOOLS, SAM, a_call().caller, cursor=None)
    expected = [{**each, "name": f"crm__{each['name']}"} for each in TOOLS]
    assert page.items == sorted(expected, key=lambda each: str(each["name"]))


CASES: list[tuple[str, Json, str, str]] = [
    ("find", {}, "pass", ""),
    ("ban", {}, "deny", "no-bans"),
    ("pay", {"amount": 5}, "pass", ""),
    ("pay", {"amount": 500}, "hold", "big-pay"),
    ("pay", {"amount": "many"}, "deny", "schema"),
    ("set", {"tenant": "another"}, "change", "own-tenant"),
    ("note", {"text": "hi"}, "deny", "unreviewed"),
    ("wipe", {}, "deny", "pin_mismatch"),
    ("bad", {"a": 1}, "deny", "unreviewed"),
]


@pytest.mark.parametrize(("name", "arguments", "would", "why"), CASES)
async def test_a_call_passes_as_it_came_and_its_decision_is_recorded(
    gateway: Gateway, place: Workspace, name: str, arguments: Json, would: str, why: str
) -> None:
    finished = await called(gateway, name, arguments)
    sent = record_of(place.folder, "crm").calls("tools/call")[-1]["params"]
    assert (sent["name"], sent["arguments"]) == (name, arguments)
    _is_whole(finished)
    said = (await words(gateway, place, finished))["authorization decided"]
    assert said["would"] == would
    assert why in ("", said.get("rule"), said.get("code"))


def _is_whole(finished: Finished) -> None:
    result: Json = {**finished.result}
    meta: Json = {**result.pop("_meta")}
    outcome = meta.pop("weighbridge/outcome")
    assert {**result, "_meta": meta} == WHOLE
    assert "rule" not in outcome


async def test_what_is_repeated_is_sent_again(gateway: Gateway, place: Workspace) -> None:
    first, second = [await called(gateway, "once", {"a": 1}) for _ in range(2)]
    sent = record_of(place.folder, "crm").calls("tools/call")
    assert [each["params"]["name"] for each in sent[-2:]] == ["once", "once"]
    for finished in (first, second):
        _is_whole(finished)
    events = await words(gateway, place, first)
    assert events["authorization decided"] == {"would": "pass"}
    assert "tool_call started" in events
    events = await words(gateway, place, second)
    assert events["authorization decided"]["would"] == "repeat"
    assert events["authorization decided"]["op"].startswith("op_")
    assert {"tool_call started", "tool_call finished"} <= events.keys()


async def test_a_server_is_given_no_key_of_ours(gateway: Gateway, place: Workspace) -> None:
    finished = await called(gateway, "keyed", {"key": "the model's own"})
    sent = record_of(place.folder, "crm").calls("tools/call")[-1]["params"]
    assert sent["arguments"] == {"key": "the model's own"}
    _is_whole(finished)


async def test_a_limit_counts_and_stops_nothing(gateway: Gateway, place: Workspace) -> None:
    for would in ("pass", "deny"):
        finished = await called(gateway, "few")
        _is_whole(finished)
        said = (await words(gateway, place, finished))["authorization decided"]
        assert said["would"] == would
    assert said["code"] == "few-a-day"


async def test_an_answer_leaves_whole_and_what_would_have_become_of_it_is_recorded(
    gateway: Gateway, place: Workspace
) -> None:
    for name, would in (("mask", "mask"), ("typed", "withhold")):
        finished = await called(gateway, name)
        _is_whole(finished)
        assert (await words(gateway, place, finished))["tool_call finished"]["would"] == would


async def test_nothing_passes_that_nothing_has(gateway: Gateway) -> None:
    finished = await called(gateway, "nowhere")
    assert finished.status == "unknown_tool"
    broken = a_call("crm__find", {}, input_error="not JSON")
    assert (await gateway.handle(broken)).status == "invalid_arguments"


class Person(Nobody):
    """A caller of the handshake era that answers questions."""

    era = Era.LEGACY
    transport = "http"
    session = "s"

    def __init__(self) -> None:
        self.asked = list[Json]()

    @property
    def capabilities(self) -> JsonObject:
        return {"elicitation": {}}

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        del within_s
        self.asked.append({"method": method, **params})
        return {"action": "decline"}


async def test_a_server_may_ask_its_caller_though_no_rule_lets_it(
    gateway: Gateway, place: Workspace
) -> None:
    person = Person()
    call = a_call("crm__ask", caller=person, call_id=ids.new("call"), received_at=_now())
    _is_whole(await gateway.handle(call))
    (asked,) = person.asked
    assert (asked["method"], asked["message"]) == ("elicitation/create", "sure?")
    await gateway.store.events.kept()
    told = house.events(place.folder, call=call.call_id, kind="authorization", stage="started")
    assert [each["body"]["decision"] for each in told] == ["deny"]


class Stateless(Person):
    """The same of a caller that is asked by an answer."""

    era = Era.MODERN
    session = ""


async def test_a_stateless_caller_is_asked_by_an_answer(gateway: Gateway) -> None:
    call = a_call("crm__ask", caller=Stateless(), call_id=ids.new("call"), received_at=_now())
    asked: Json = (await gateway.handle(call)).result
    assert asked["resultType"] == "input_required"
    ((key, question),) = asked["inputRequests"].items()
    assert question["params"]["message"] == "sure?"
    answers: Json = {
        "requestState": asked["requestState"],
        "inputResponses": {key: {"action": "decline"}},
    }
    again = a_call("crm__ask", caller=Stateless(), call_id=ids.new("call"), params=answers)
    _is_whole(await gateway.handle(again))


async def test_resources_pass_as_well(gateway: Gateway) -> None:
    page = await gateway.list_items(Listed.RESOURCES, SAM, a_call().caller, cursor=None)
    assert page.items == [NOTE]
    read = a_call(NOTE["uri"], method=Method.READ_RESOURCE, call_id=ids.new("call"))
    watched = a_call(NOTE["uri"], method=Method.SUBSCRIBE, call_id=ids.new("call"))
    assert (await gateway.handle(read)).status == "ok"
    leave = await gateway.watch(watched, lambda: None)
    assert callable(leave)
    leave()
    counted = {cause.tool for cause in gateway.stance.tally.causes}
    assert "crm (resources)" in counted  # and no URI, of which callers can make up any number


async def test_nobody_is_asked_and_nothing_is_kept_for_one_that_would_wait(
    gateway: Gateway,
) -> None:
    before = await gateway.store.operations.count()
    await called(gateway, "pay", {"amount": 900})
    assert gateway.attending.pending == 0
    assert await gateway.store.operations.count() == before


async def test_the_mode_turns_while_it_runs(gateway: Gateway) -> None:
    gateway.turn(Mode.ENFORCE)
    try:
        assert (await called(gateway, "ban")).status == "unknown_tool"
        status = gateway.snapshot().as_json()
        assert (status["mode"], status["observed"]) == ("enforce", None)
    finally:
        gateway.turn(Mode.OBSERVE)
    _is_whole(await called(gateway, "ban"))
    told: Json = gateway.snapshot().as_json()
    assert told["mode"] == "observe"
    assert told["observed"]["sums"]["deny"] > 0

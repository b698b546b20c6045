"""Real clients whose calls wait for a person longer than they do themselves."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    Request,
    RequestParams,
    Result,
)

from gateway.types.approvals import ApprovalNotes
from gateway.types.tools import Effect, Risk
from tests.e2e import tools
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running, spawned
from tests.journeys import house

Json = dict[str, Any]
PATIENCE_S: Final = 2.0  # of the clients
WITHIN_S: Final = 60.0
AMOUNT: Final = {"type": "object", "properties": {"amount": {"type": "number"}}}
PAID: Final = {
    "type": "object",
    "properties": {"paid": {"type": "number"}},
    "required": ["paid"],
}
# With an output schema: the official clients refuse results of such tools that lack the data.
PAY, CONFIRM = (tool(name, inputSchema=AMOUNT, outputSchema=PAID) for name in ("pay", "confirm"))
DONE: Final = {
    "reply": {
        "content": [{"type": "text", "text": "paid"}],
        "structuredContent": {"paid": 1},
    }
}
KEY, ENTRY = house.key("agent", "acme", "sam", client="agent")
POLICY: Final = """rules:
  - id: large
    decision: require_approval
    match: {tools: [alpha.pay]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
  - id: own
    decision: require_approval
    match: {tools: [alpha.confirm]}
    approval: {approvers: {users: [self]}, expires: 1h}
"""
HOLD: Final = {
    "default": "90s",  # longer than any client here waits
    "clients": {"driver-brief": "100ms", "driver": "1500ms"},
    "rounds": ["driver*"],
}


@dataclass
class Place:
    """A gateway, the server behind it, and people who decide in the terminal."""

    gateway: Gateway
    alpha: FakeHttp

    @property
    def sent(self) -> int:
        """How often the server was called."""
        return len(self.alpha.calls())

    def requests(self, **wanted: Any) -> list[Json]:
        """Return the requests in the store, those with these columns."""
        return house.requests(self.gateway.folder, **wanted)

    async def asked(self, before: int) -> Json:
        """Wait until people are asked once more."""
        await until_async(lambda: len(self.requests()) > before, WITHIN_S)
        return self.requests()[-1]

    async def approve(self, request: Json) -> None:
        """Say yes in the terminal, in a process of its own."""
        sure = ("--as", "lea", "--binding", request["binding"], "--yes")
        words = ("approvals", "approve", request["approval_id"], *sure)
        (said,) = await asyncio.to_thread(self.gateway.command, *words)
        assert said["cast"] == "approved"

    @asynccontextmanager
    async def client(self, mode: Any, name: str = "agent", **more: Any) -> AsyncGenerator[Client]:
        """Connect the official Python client."""
        headers = self.gateway.headers
        async with httpx2.AsyncClient(headers=headers, timeout=WITHIN_S) as http:
            transport = streamable_http_client(self.gateway.url, http_client=http)
            info = Implementation(name=name, version="1")
            async with Client(transport, mode=mode, client_info=info, **more) as client:
                yield client


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the whole module, since its gateway runs as long."""
    return "asyncio"


@pytest.fixture(scope="module")
def alpha() -> Generator[FakeHttp]:
    with FakeHttp(Script(tools=[PAY, CONFIRM], on_call={"pay": [DONE], "confirm": [DONE]})) as fake:
        yield fake


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory, alpha: FakeHttp) -> AsyncGenerator[Place]:
    notes = ApprovalNotes(summary="Pay $args.amount", confirm="/amount")
    contracts = house.contracts(
        *(
            house.contract(each, effect=Effect.WRITE, risk=Risk.HIGH, approval=notes)
            for each in (PAY, CONFIRM)
        )
    )
    config = house.config(
        {"alpha": house.http(alpha)},
        identity={"api_keys": [ENTRY]},
        approvals={"hold": HOLD},
    )
    async with running(
        tmp_path_factory.mktemp("approvals"),
        config,
        policy=POLICY,
        contracts=contracts,
        headers={"Authorization": f"Bearer {KEY}"},
        admin={"accounts": [{"user": "lea", "tenant": "acme", "roles": ["lead"]}]},
        begin=spawned,
    ) as gateway:
        await gateway.listed("alpha__pay")
        yield Place(gateway, alpha)


def said_of(result: CallToolResult) -> Json:
    """Return what the gateway says about a result."""
    return outcome(result.model_dump(by_alias=True, mode="json"))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_python_client_gives_up_calls_again_and_is_served_once(
    place: Place, mode: str
) -> None:
    """case: APR-04"""
    before, requests, amount = place.sent, len(place.requests()), 1 if mode == "legacy" else 2
    async with place.client(mode) as client:
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await client.call_tool(
                "alpha__pay", {"amount": amount}, read_timeout_seconds=PATIENCE_S
            )
        request = await place.asked(requests)
        assert request["state"] == "pending"
        await place.approve(request)
        assert place.sent == before
        done = await client.call_tool("alpha__pay", {"amount": amount})
        again = await client.call_tool("alpha__pay", {"amount": amount})
    assert [said_of(each)["status"] for each in (done, again)] == ["ok", "ok"]
    assert said_of(again)["replayed"] is True
    assert place.sent == before + 1
    assert len(place.requests()) == requests + 1


@asynccontextmanager
async def typescript(
    place: Place, generation: str, name: str, amount: int, patience_s: float = PATIENCE_S
) -> AsyncGenerator[Process]:
    """Run the official TypeScript client, which calls until it has an answer."""
    arguments = json.dumps({"amount": amount})
    script = tools.HERE / "node/patience.mjs"
    words = (generation, place.gateway.url, KEY, name, "alpha__pay", arguments)
    async with tools.background(
        tools.NODE, script, *words, str(round(patience_s * 1000))
    ) as process:
        yield process


async def line(process: Process) -> Json:
    """Read the next line of JSON of a program."""
    assert process.stdout is not None
    async with asyncio.timeout(WITHIN_S):
        return json.loads(await process.stdout.readline())


@pytest.mark.parametrize(("generation", "amount"), [("v1", 11), ("v2", 12), ("v2-modern", 13)])
async def test_the_typescript_client_gives_up_calls_again_and_is_served_once(
    place: Place, generation: str, amount: int
) -> None:
    """case: APR-04"""
    before, requests = place.sent, len(place.requests())
    async with typescript(place, generation, "agent", amount) as process:
        assert "gaveUp" in await line(process)
        assert "gaveUp" in await line(process)
        await place.approve(await place.asked(requests))
        said = await line(process)
        while "gaveUp" in said:
            said = await line(process)
    assert outcome(said["result"])["status"] == "ok"
    assert place.sent == before + 1
    assert len(place.requests()) == requests + 1


async def inspector(place: Place, era: str, amount: int) -> tuple[int, str]:
    """Call once with the Inspector; return its exit code and what it prints."""
    program = tools.MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    code, out, err = await tools.run(
        *(tools.NODE, program, "--cli", place.gateway.url),
        *("--transport", "http", "--protocol-era", era, "--method", "tools/call"),
        *("--header", f"Authorization: Bearer {KEY}"),
        *("--tool-name", "alpha__pay", "--tool-arg", f"amount={amount}"),
        timeout_s=150,
    )
    return code, out + err


async def test_the_inspector_waits_for_a_task_or_gives_up_after_its_minute_and_is_served_once(
    place: Place,
) -> None:
    """case: APR-04"""
    before, requests = place.sent, len(place.requests())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(inspector(place, "modern", 21))  # it knows tasks
        waiting = await place.asked(requests)
        code, said = await inspector(place, "legacy", 22)
        assert code != 0
        assert "timed out" in said.lower()
        given_up = place.requests()[-1]
        assert [waiting["state"], given_up["state"]] == ["pending"] * 2
        assert not task.done()
        for request in (waiting, given_up):
            await place.approve(request)
        code, said = await task
    assert code == 0, said
    assert '"paid": 1' in said
    # Who leaves in the handshake era has cancelled nothing, unless it said so before it ended: then
    # the call that is still held goes on, and the next one gets its answer.
    assert place.sent in {before + 1, before + 2}
    code, said = await inspector(place, "legacy", 22)
    assert code == 0, said
    assert '"paid": 1' in said
    assert place.sent == before + 2
    assert len(place.requests()) == requests + 2


async def test_the_python_client_waits_in_rounds_of_its_own(place: Place) -> None:
    before, requests = place.sent, len(place.requests())
    async with place.client("2026-07-28", "driver") as client, asyncio.TaskGroup() as tasks:
        call = tasks.create_task(
            client.call_tool("alpha__pay", {"amount": 31}, read_timeout_seconds=20)
        )
        request = await place.asked(requests)
        await asyncio.sleep(2)  # longer than one round
        assert not call.done()
        await place.approve(request)
        assert said_of(await call)["status"] == "ok"
    assert place.sent == before + 1


async def test_the_python_client_is_told_to_come_back_before_it_has_made_all_its_rounds(
    place: Place,
) -> None:
    async with place.client("2026-07-28", "driver-brief") as client:
        told = await client.call_tool("alpha__pay", {"amount": 32})
    assert told.is_error
    assert said_of(told)["status"] == "approval_pending"


async def test_the_typescript_client_waits_in_rounds_of_its_own(place: Place) -> None:
    before, requests = place.sent, len(place.requests())
    async with typescript(place, "v2-modern", "driver", 33, patience_s=20) as process:
        request = await place.asked(requests)
        await asyncio.sleep(2)  # longer than one round
        await place.approve(request)
        said = await line(process)
    assert outcome(said["result"])["status"] == "ok"
    assert place.sent == before + 1


async def test_the_typescript_client_is_told_to_come_back_before_it_has_made_all_its_rounds(
    place: Place,
) -> None:
    async with typescript(place, "v2-modern", "driver-brief", 34, patience_s=20) as process:
        told = await line(process)
    assert told["result"]["isError"] is True
    assert outcome(told["result"])["status"] == "approval_pending"


@pytest.mark.parametrize(("mode", "amount"), [("legacy", 41), ("2026-07-28", 42)])
async def test_the_user_of_a_python_client_that_shows_forms_confirms_in_it(
    place: Place, mode: str, amount: int
) -> None:
    before, asked = place.sent, list[str]()

    async def confirm(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        del context
        asked.append(params.message)
        typed: dict[str, Any] = {"decision": "approve", "typed": str(amount)}
        return ElicitResult(action="accept", content=typed)

    async with place.client(mode, elicitation_callback=confirm) as client:
        done = await client.call_tool("alpha__confirm", {"amount": amount})
    assert said_of(done)["status"] == "ok"
    assert f"Pay {amount}" in asked[0]
    assert len(asked) == 1
    assert place.sent == before + 1


class Started(Result):
    """A result that begins a task."""

    result_type: Literal["task"] = "task"
    task_id: str = ""
    status: str = ""


class TaskParams(RequestParams):
    """Which task a request is about."""

    task_id: str


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    """Ask for a task."""

    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class Task(Result):
    """A task as it is now."""

    status: str = ""
    result: Json | None = None


class Tasks(ClientExtension):
    """The tasks extension, for a program that asks for the end of a task when it is told to."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.begun: list[Started] = []
        self.may_ask = asyncio.Event()

    def claims(self) -> list[ResultClaim[Any]]:
        """Take the result that begins a task."""
        return [ResultClaim(result_type="task", model=Started, resolve=self._follow)]

    async def _follow(self, started: Started, context: ClaimContext) -> CallToolResult:
        self.begun.append(started)
        await self.may_ask.wait()
        ask = GetTask(params=TaskParams(task_id=started.task_id))
        task = await context.session.send_request(ask, Task)
        assert task.status == "completed"
        return CallToolResult.model_validate(task.result)


async def test_a_client_that_knows_tasks_need_not_come_back_for_the_call_to_be_made(
    place: Place,
) -> None:
    before, requests, tasks = place.sent, len(place.requests()), Tasks()
    async with (
        place.client("2026-07-28", extensions=[tasks]) as client,
        asyncio.TaskGroup() as group,
    ):
        call = group.create_task(client.call_tool("alpha__pay", {"amount": 51}))
        request = await place.asked(requests)
        await until_async(lambda: tasks.begun, WITHIN_S)
        assert (tasks.begun[0].status, place.sent) == ("working", before)
        await place.approve(request)
        await until_async(lambda: place.sent > before, WITHIN_S)  # nobody has asked for it
        state = {"op_id": request["op_id"], "state": "succeeded"}
        await until_async(lambda: house.operations(place.gateway.folder, **state), WITHIN_S)
        tasks.may_ask.set()
        done = await call
    assert done.structured_content == {"paid": 1}
    assert place.sent == before + 1

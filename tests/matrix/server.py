"""A server of one era, in plain JSON, over stdio or HTTP; it answers from `fixtures`.

    python -m tests.matrix.server NAME legacy|modern FOLDER [PORT_FILE [leaks]]

With a port file it serves HTTP on a free port of localhost, which it writes there; one that leaks
answers `echo` with what another one has said. Every message
that it gets is a line of `FOLDER/NAME.calls`. What is written to `FOLDER/NAME.change`, a JSON
object {"extra": n, "updated": [uri]}, changes its lists and updates resources, in all its
processes; with "completed": [id] a legacy one says of elicitations that they are done, on every
stream that it has.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.matrix.fixtures import (
    ERRORS,
    FIXED,
    FORM,
    LOGS,
    PROGRESS,
    PROMPT_ERROR,
    PROMPTS,
    QUESTIONS,
    TASKS,
    TOOLS,
    URL,
    Json,
    contents,
    prompt,
    resources,
    templates,
    text,
)

LEGACY, MODERN = "2025-11-25", "2026-07-28"
PAGE = 4
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_EARLY = {"initialize", "ping"}
_CHANGES = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
}

Send = Callable[[Json], Awaitable[None]]


class Failed(Exception):
    """The request ends with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Peer:
    """The client at the other end of one request or connection."""

    def __init__(self, send: Send, session: str = "") -> None:
        self.send = send
        self.session = session
        self.subscription: Any = None  # the id of its `subscriptions/listen`
        self.wants: Json = {}

    async def note(self, method: str, params: Json | None) -> None:
        """Send a notification."""
        told: Json = {} if params is None else {"params": params}
        await self.send({"jsonrpc": "2.0", "method": method, **told})


class Server:
    """Answers requests; the transports hand them in."""

    def __init__(self, name: str, era: str, folder: Path) -> None:
        self.name = name
        self.is_modern = era == "modern"
        self.record = folder / f"{name}.calls"
        self.change = folder / f"{name}.change"
        self.extra = 0
        self.shaken: set[str] = set()  # sessions whose handshake is over
        self.subscribed: set[str] = set()
        self.listeners: list[Peer] = []  # who is told of changes
        self.asked: dict[str, asyncio.Future[Json]] = {}
        self.under_way: dict[tuple[str, Any], asyncio.Task[None]] = {}  # by session and id
        self.tasks: dict[str, Json] = {}
        self.visited: set[str] = set()  # marks of calls
        self.leaks = False
        self.said: Json = {}  # by the last who called `echo`

    # Messages

    def note(self, message: Json) -> None:
        """Write down what was received."""
        with self.record.open("ab") as record:
            record.write(json.dumps(message).encode() + b"\n")

    async def take(self, message: Json, peer: Peer) -> None:
        """Take any message; requests are answered through the peer."""
        self.note(message)
        match message:
            case {"method": method, "id": _}:
                await self._answer(method, message, peer)
            case {"method": "notifications/initialized"}:
                self.shaken.add(peer.session)
            case {"method": "notifications/cancelled", "params": {"requestId": number}}:
                task = self.under_way.get((peer.session, number))
                if task is not None:
                    task.cancel()
            case {"id": number} if str(number) in self.asked:
                self.asked.pop(str(number)).set_result(message)
            case _:
                pass

    async def _answer(self, method: str, message: Json, peer: Peer) -> None:
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = await self._result(method, message, peer)
        except Failed as failed:
            await peer.send({**reply, "error": failed.error})
        else:
            await peer.send({**reply, "result": self._stamped(method, result)})

    def _stamped(self, method: str, result: Json) -> Json:
        if not self.is_modern:
            return result
        info = {"io.modelcontextprotocol/serverInfo": {"name": self.name, "version": "1"}}
        kept: Json = {"ttlMs": 60_000, "cacheScope": "public"}
        hints = kept if method in {*_LISTS, "resources/read", "server/discover"} else {}
        stamped = {"resultType": "complete", **hints, **result}
        return {**stamped, "_meta": {**info, **result.get("_meta", {})}}

    # Requests

    async def _result(  # noqa: C901 - a table of methods
        self, method: str, message: Json, peer: Peer
    ) -> Json:
        params: Json = message.get("params") or {}
        if not (self.is_modern or peer.session in self.shaken or method in _EARLY):
            raise Failed(-32600, "the handshake is not over")
        match method:
            case "initialize" if not self.is_modern:
                info = {"name": self.name, "version": "1"}
                return {
                    "protocolVersion": LEGACY,
                    "capabilities": self._capabilities(),
                    "serverInfo": info,
                }
            case "server/discover" if self.is_modern:
                return {"supportedVersions": [MODERN], "capabilities": self._capabilities()}
            case "ping" | "logging/setLevel" if not self.is_modern:
                return {}
            case "resources/subscribe" if not self.is_modern:
                self.subscribed.add(params["uri"])
                return {}
            case "resources/unsubscribe" if not self.is_modern:
                self.subscribed.discard(params["uri"])
                return {}
            case "subscriptions/listen" if self.is_modern:
                return await self._listen(message, params, peer)
            case "tools/call":
                return await self._call(params, peer)
            case "resources/read":
                if params["uri"].endswith("/asked"):
                    said = await self._ask(params, peer, FORM)
                    block = {"uri": params["uri"], "text": _said(said)}
                    return said if "resultType" in said else {"contents": [block]}
                return self._read(params["uri"])
            case "prompts/get":
                if params["name"] == "asking":
                    said = await self._ask(params, peer, FORM)
                    content = {"type": "text", "text": _said(said)}
                    message = {"role": "user", "content": content}
                    return said if "resultType" in said else {"messages": [message]}
                got = prompt(params["name"], params.get("arguments"))
                if got is None:
                    raise Failed(**PROMPT_ERROR)
                return got
            case "completion/complete":
                values = [params["argument"]["value"] + "x", json.dumps(params.get("context"))]
                completion = {"values": values, "total": 7, "hasMore": True, "vendor": 1.0}
                return {"completion": completion, "vendorResult": params["ref"]["type"]}
            case "tasks/get" | "tasks/update" | "tasks/cancel" if self.is_modern:
                result = self._task(method, params)
                if not result:
                    await self._tell_of_task(params["taskId"])
                return result
            case _ if method in _LISTS:
                return self._page(method, params)
            case _:
                raise Failed(-32601, "no such method")

    def _capabilities(self) -> Json:
        offered: Json = {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
        }
        return {**offered, "extensions": {TASKS: {}}} if self.is_modern else offered

    def _page(self, method: str, params: Json) -> Json:
        items = {
            "tools/list": [*TOOLS, *self._extras("name", "", inputSchema={"type": "object"})],
            "resources/list": [*resources(self.name), *self._extras("uri", self._uri, name="x")],
            "resources/templates/list": templates(self.name),
            "prompts/list": [*PROMPTS, *self._extras("name", "")],
        }[method]
        start = int(params.get("cursor") or 0)
        page: Json = {_LISTS[method]: items[start : start + PAGE]}
        return {**page, "nextCursor": str(start + PAGE)} if start + PAGE < len(items) else page

    @property
    def _uri(self) -> str:
        return f"mem://{self.name}/"

    def _extras(self, member: str, prefix: str, **more: Any) -> list[Json]:
        return [{member: f"{prefix}extra_{n}", **more} for n in range(self.extra)]

    def _read(self, uri: str) -> Json:
        found = contents(self.name, uri)
        if found is None:
            code = -32602 if self.is_modern else -32002
            raise Failed(code, "Resource not found", {"uri": uri, "vendor": 1.0})
        return found

    async def _call(self, params: Json, peer: Peer) -> Json:  # noqa: C901 - a table of tools
        name: str = params["name"]
        if name in FIXED:
            return FIXED[name]
        if name in ERRORS:
            raise Failed(**ERRORS[name])
        arguments: Json = params.get("arguments") or {}
        mark: str | None = arguments.get("mark")
        if name in QUESTIONS:
            question = _marked(QUESTIONS[name], mark)
            if "elicitation" in arguments:
                own = {"elicitationId": arguments["elicitation"]}
                question = {**question, "params": {**question["params"], **own}}
            return await self._ask(params, peer, question)
        meta: Json = params.get("_meta") or {}
        match name:
            case "echo":
                before, self.said = self.said, params
                said = before if self.leaks and before else params
                return {**text("echo"), "structuredContent": {"params": said}}
            case "progress":
                token = {"progressToken": meta.get("progressToken")}
                own: Json = {"message": mark} if mark else {}
                for news in PROGRESS if "progressToken" in meta else ():
                    await peer.note("notifications/progress", {**token, **news, **own})
                return text("made progress")
            case "logs":
                for said in LOGS:
                    own = {"data": mark} if mark else {}
                    await peer.note("notifications/message", {**said, **own})
                return text("logged")
            case "slow":
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    raise Failed(-32800, "taken back") from None  # which ends all doubt
                return text("slept")
            case "ask_twice":
                return await self._ask_twice(params, peer)
            case "ask_visit":
                return self._ask_visit(params, mark or "")
            case "begin_task":
                number = f"task/{len(self.tasks)}"
                self.tasks[number] = {"arguments": params.get("arguments"), "updates": []}
                return {"resultType": "task", **self._status(number, "working"), "vendorTask": 1.0}
            case _ if name.startswith("extra_"):
                return text(name)
            case _:
                raise Failed(-32602, f"Unknown tool: {name}")

    async def _ask(self, params: Json, peer: Peer, question: Json) -> Json:
        """Ask once and tell what was answered, in the way of the era."""
        if not self.is_modern:
            reply = await self._live(peer, question)
        elif "inputResponses" not in params:
            asked = {"resultType": "input_required", "inputRequests": {"one": question}}
            return {**asked, "requestState": f"state of {json.dumps(params.get('arguments'))}"}
        else:
            reply = {"result": params["inputResponses"].get("one")}
            reply["state"] = params.get("requestState")
        told = {key: reply[key] for key in ("result", "error", "state") if key in reply}
        return {**text("answered"), "structuredContent": told}

    async def _ask_twice(self, params: Json, peer: Peer) -> Json:
        if not self.is_modern:
            replies = [await self._live(peer, each) for each in (FORM, URL)]
            told = [reply.get("result", reply.get("error")) for reply in replies]
            return {**text("answered"), "structuredContent": {"told": told}}
        given: Any = params.get("inputResponses")
        state: Any = params.get("requestState")
        if given is None:
            return _round({"first": FORM}, "0")
        told = [*json.loads(state)["told"]] if str(state).startswith("{") else []
        told += given.values()
        if len(told) == 1:
            return _round({"second": URL}, json.dumps({"told": told}))
        return {**text("answered"), "structuredContent": {"told": told}}

    def _ask_visit(self, params: Json, mark: str) -> Json:
        """Refuse a call until a URL was visited, and take the next one for that of a visitor."""
        if mark in self.visited:
            return {**text("visited"), "structuredContent": {"params": params}}
        self.visited.add(mark)
        own = {"elicitationId": f"visit {mark}", "vendor": 1}
        data = {"elicitations": [{**URL["params"], **own}], "vendor": 1}
        raise Failed(-32042, "visit this first", data)

    async def _live(self, peer: Peer, question: Json) -> Json:
        number = f"ask-{id(peer)}-{len(self.asked)}"
        answer = self.asked[number] = asyncio.get_running_loop().create_future()
        await peer.send({"jsonrpc": "2.0", "id": number, **question})
        return await answer

    def _status(self, number: str, status: str) -> Json:
        when = {"createdAt": "2026-11-29T00:00:00Z", "lastUpdatedAt": "2026-11-29T00:00:00Z"}
        return {"taskId": number, "status": status, **when, "ttlMs": None, "pollIntervalMs": 50}

    def _task(self, method: str, params: Json) -> Json:
        number = params["taskId"]
        task = self.tasks.get(number)
        if task is None:
            raise Failed(-32602, "no such task", {"taskId": number})
        if method == "tasks/update":
            task["updates"].append(params.get("inputResponses"))
        if method == "tasks/cancel":
            task["cancelled"] = True
        return self._task_now(number, task) if method == "tasks/get" else {}

    def _task_now(self, number: str, task: Json) -> Json:
        if task.get("cancelled"):
            return self._status(number, "cancelled")
        if not task["updates"]:
            return {**self._status(number, "input_required"), "inputRequests": {"one": FORM}}
        structure = {"task": task, "n": FIXED["structured"]["structuredContent"]}
        result = {**text("done"), "structuredContent": structure}
        return {**self._status(number, "completed"), "result": result, "vendorTask": 1.0}

    # Changes

    async def _listen(self, message: Json, params: Json, peer: Peer) -> Json:
        peer.subscription, peer.wants = message["id"], params["notifications"]
        declared: Json = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        if "taskIds" in peer.wants and TASKS not in declared.get("extensions", {}):
            raise Failed(-32021, "Missing required client capability")
        meta = {SUBSCRIPTION: message["id"]}
        told = {"notifications": peer.wants, "_meta": meta}
        await peer.note("notifications/subscriptions/acknowledged", told)
        self.listeners.append(peer)
        try:
            await asyncio.Event().wait()
        finally:
            self.listeners.remove(peer)
        return {}

    async def watch(self) -> None:
        """Follow the file that says what has changed."""
        seen = ""
        while True:
            said = self.change.read_text() if self.change.exists() else ""
            if said and said != seen:
                seen, change = said, json.loads(said)
                if self.extra != change.get("extra", self.extra):
                    self.extra = change["extra"]
                    for method in _CHANGES:
                        await self._tell(method, {})
                for uri in change.get("updated", ()):
                    await self._tell("notifications/resources/updated", {"uri": uri})
                for done in () if self.is_modern else change.get("completed", ()):
                    told = {"elicitationId": done}
                    await self._tell("notifications/elicitation/complete", told)
            await asyncio.sleep(0.02)

    async def _tell_of_task(self, number: str) -> None:
        now = self._task_now(number, self.tasks[number])
        for peer in tuple(self.listeners):
            if number in peer.wants.get("taskIds", ()):
                with contextlib.suppress(ConnectionError):
                    meta = {SUBSCRIPTION: peer.subscription, "vendor.example/of": [1, 1.0]}
                    await peer.note("notifications/tasks", {**now, "_meta": meta})

    async def _tell(self, method: str, params: Json) -> None:
        uri = params.get("uri")
        for peer in tuple(self.listeners):
            with contextlib.suppress(ConnectionError):  # it has left, and is removed soon
                if not self.is_modern:
                    if uri is None or uri in self.subscribed:
                        await peer.note(method, params)
                elif peer.wants.get(_CHANGES.get(method, "")) or (
                    uri in (peer.wants.get("resourceSubscriptions") or ())
                ):
                    await peer.note(method, {**params, "_meta": {SUBSCRIPTION: peer.subscription}})


def _marked(question: Json, mark: str | None) -> Json:
    """Return a question with the mark of the call that it belongs to."""
    if mark is None or "message" not in question["params"]:
        return question
    return {**question, "params": {**question["params"], "message": mark}}


def _said(result: Json) -> str:
    """Return what was answered, as a text."""
    return json.dumps(result.get("structuredContent"))


def _round(asked: Json, state: str) -> Json:
    return {"resultType": "input_required", "inputRequests": asked, "requestState": state}


async def over_stdio(server: Server) -> None:
    """Serve the parent process."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def send(message: Json) -> None:
        sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    peer = Peer(send)
    if not server.is_modern:
        server.listeners.append(peer)
    watching = asyncio.ensure_future(server.watch())
    while line := await reader.readline():
        message: Json = json.loads(line)
        task = asyncio.ensure_future(server.take(message, Peer(send)))
        if "method" in message and "id" in message:
            key = ("", message["id"])
            server.under_way[key] = task
            task.add_done_callback(lambda _, key=key: server.under_way.pop(key, None))
    watching.cancel()


def main() -> None:
    """Serve over HTTP when there is a port file, else over stdio."""
    name, era, folder, *port_file = sys.argv[1:]
    server = Server(name, era, Path(folder))
    server.leaks = "leaks" in port_file[1:]
    if port_file:
        from tests.matrix.server_http import over_http  # noqa: PLC0415 - not needed over stdio

        asyncio.run(over_http(server, Path(port_file[0])))
    else:
        asyncio.run(over_stdio(server))


if __name__ == "__main__":
    main()

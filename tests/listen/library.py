"""What the test house offers beside tools: resources, prompts, completions and tasks."""

from collections.abc import Mapping
from decimal import Decimal

from gateway.types.calls import Method, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status, WireError
from gateway.types.tools import Listed

TASKS = "io.modelcontextprotocol/tasks"
OFFERS: JsonObject = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
    "extensions": {TASKS: {}},
}
TEXTS: Mapping[str, str] = {"note://one": "the first", "note://two": "the second"}
EXACT = Decimal("0.10000000000000000000000000000000001")  # more digits than a float has

LISTS: Mapping[Listed, list[JsonObject]] = {
    Listed.RESOURCES: [
        {"uri": uri, "name": uri, "vendor": {"kept": True}, "size": 10**20} for uri in TEXTS
    ],
    Listed.TEMPLATES: [{"uriTemplate": "note://{name}", "name": "notes", "vendor": 1}],
    Listed.PROMPTS: [
        {"name": f"prompt{n}", "arguments": [{"name": "who"}], "vendor": n} for n in range(5)
    ],
}


def missing(name: str) -> Finished:
    """Return the error for what is not there."""
    error = WireError(code=-32602, message="there is no such thing", data={"name": name})
    return Finished(result={}, status=Status.UNKNOWN_TOOL, error=error)


def answer(call: ProposedCall) -> Finished:
    """Answer a request that is no tool call."""
    match call.method:
        case Method.READ_RESOURCE:
            return _read(call)
        case Method.GET_PROMPT:
            return _prompt(call)
        case Method.COMPLETE:
            values: list[Json] = [f"{call.name}-a", f"{call.name}-b"]
            return _ok({"completion": {"values": values, "total": 2, "hasMore": False}})
        case Method.GET_TASK if call.name == "t1":
            task: JsonObject = {"taskId": "t1", "status": "working", "createdAt": "2026-11-29"}
            return _ok({"resultType": "complete", **task, "vendor": True})
        case Method.UPDATE_TASK | Method.CANCEL_TASK if call.name == "t1":
            return _ok({})
        case _:
            return missing(call.name)


def _read(call: ProposedCall) -> Finished:
    if call.name == "note://ask":
        return _ok(
            {
                "resultType": "input_required",
                "inputRequests": {"q": {"method": "roots/list"}},
                "requestState": "state",
                "ttlMs": 60000,
                "cacheScope": "public",
            }
        )
    if call.name not in TEXTS:
        return missing(call.name)
    contents: JsonObject = {"uri": call.name, "text": TEXTS[call.name], "vendor": 10**30}
    return _ok(
        {
            "contents": [contents],
            "resultType": "complete",
            "ttlMs": 60000,
            "cacheScope": "public",
            "exact": EXACT,
        }
    )


def _prompt(call: ProposedCall) -> Finished:
    if not call.name.startswith("prompt"):
        return missing(call.name)
    text = f"hello {call.arguments.get('who')}"
    message: JsonObject = {"role": "user", "content": {"type": "text", "text": text}}
    return _ok({"messages": [message], "vendor": True, "ttlMs": "kept"})


def _ok(result: JsonObject) -> Finished:
    return Finished(result=result, status=Status.OK)

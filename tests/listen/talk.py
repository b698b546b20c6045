"""Tools of the test house that turn to their caller: questions, log messages, odd results."""

from collections.abc import Awaitable, Callable, Mapping

from gateway.errors import AskRefused
from gateway.types.calls import ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished, Status
from tests.listen.library import EXACT

SCHEMA: JsonObject = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
QUESTIONS: Mapping[str, JsonObject] = {
    "elicitation/create": {"message": "sure?", "requestedSchema": SCHEMA, "exact": EXACT},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
        "maxTokens": 10,
    },
    "roots/list": {},
}


async def _ask(call: ProposedCall) -> Finished:
    """Ask what the arguments name, and return what came back."""
    method = str(call.arguments["method"])
    question = call.arguments.get("params", QUESTIONS.get(method, {}))
    within = call.arguments.get("within_s", 5)
    assert isinstance(question, dict)
    assert isinstance(within, int | float)
    try:
        came: JsonObject = {"answer": await call.caller.ask(method, question, within_s=within)}
    except AskRefused as refused:
        came = {"refused": {"code": refused.code, "message": refused.message, "data": refused.data}}
    return _ok(came)


async def _log(call: ProposedCall) -> Finished:
    for level in ("debug", "info", "error", "made-up"):
        await call.caller.log({"level": level, "data": {"n": EXACT}, "vendor": level})
    return _ok({"done": True})


async def _who(call: ProposedCall) -> Finished:
    caller = call.caller
    return _ok(
        {
            "capabilities": caller.capabilities,
            "logLevel": caller.log_level,
            "session": caller.session,
            "era": caller.era.value,
        }
    )


async def _falling(call: ProposedCall) -> Finished:
    for progress in (1, 3, 2, 3, 4):
        await call.caller.progress(progress, None, None)
    return _ok({"done": True})


async def _task(call: ProposedCall) -> Finished:
    result: JsonObject = {"resultType": "task", "taskId": "t1", "status": "working", "vendor": 1}
    return Finished(result=result, status=Status.OK)


async def _params(call: ProposedCall) -> Finished:
    return _ok({"params": {key: call.params[key] for key in call.params if key != "_meta"}})


def _ok(structured: JsonObject) -> Finished:
    result: dict[str, Json] = {"content": [], "structuredContent": structured}
    return Finished(result=result, status=Status.OK)


TOOLS: Mapping[str, Callable[[ProposedCall], Awaitable[Finished]]] = {
    "ask": _ask,
    "log": _log,
    "who": _who,
    "falling": _falling,
    "task": _task,
    "params": _params,
}

from collections.abc import Sequence
from typing import Any

from gateway import jsontext
from gateway.replay.takes import Take, takes
from gateway.store.events import EventFilter, StoredEvent
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal, Status

RUN = "run_1"
BODY: dict[str, Any] = {
    "method": "tools/call",
    "tool": "crm.find",
    "server": "crm",
    "name": "crm__find",
    "arguments_digest": "d",
}
ENDED: dict[str, Any] = {
    **BODY,
    "status": "ok",
    "code": "",
    "executed": "yes",
    "tool_error": False,
    "redactions": 0,
    "result_digest": "r",
}
RESULT: JsonObject = {"content": [{"type": "text", "text": "found"}]}


class Log:
    """Events of several calls, of which some belong to no run."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = [
            {"ts": "2026-11-30T09:00:00.000000Z", "tenant": "acme", **each} for each in events
        ]

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        found = [
            StoredEvent(seq=seq, body=jsontext.dump(each))
            for seq, each in enumerate(self.events, start=1)
            if seq > wanted.after
            and (not wanted.run or each.get("run") == wanted.run)
            and (not wanted.call or each.get("call") == wanted.call)
        ]
        return found[: min(wanted.limit, 2)] if wanted.run else found  # several pages


def ended(call: str = "call_1", *, run: str = RUN, **body: Any) -> dict[str, Any]:
    stage = "finished" if body.get("status", "ok") == "ok" else "failed"
    said = {**ENDED, **body}
    if said["executed"] == "no" or "reason" in said:  # only results have digests
        del said["result_digest"]
    return {"kind": "tool_call", "stage": stage, "call": call, "run": run, "body": said}


def decided(call: str = "call_1", **body: Any) -> dict[str, Any]:
    said = {
        **BODY,
        "decision": "allow",
        "status": "ok",
        "code": "",
        "reason": "",
        "rule": "all",
        "revision": "sha256:a",
        "arguments": {"q": "x"},
        "effect": "read",
        "risk": "low",
    }
    return {
        "kind": "authorization",
        "stage": "decided",
        "call": call,
        "run": RUN,
        "body": {**said, **body},
    }


async def test_a_refusal_says_again_what_to_do_next() -> None:
    log = Log(decided(), ended(status="denied", executed="no", reason="why", next="ask for less"))
    (take,) = await takes(log, RUN, nothing)
    assert isinstance(take.outcome, Refusal)
    assert take.outcome.next == "ask for less"


async def nothing(op: str) -> Answer | Refusal | None:
    del op


async def read(*events: dict[str, Any]) -> Sequence[Take]:
    return await takes(Log(*events), RUN, nothing)


async def test_a_result_that_was_kept_is_played() -> None:
    (take,) = await read(decided(), ended(result=RESULT, redactions=2))
    assert (take.call, take.method, take.key, take.digest) == (
        "call_1",
        Method.CALL_TOOL,
        "crm.find",
        "d",
    )
    assert take.outcome == Answer(result=RESULT, redactions=2)
    assert take.asked is not None
    assert take.asked.arguments == {"q": "x"}


async def test_a_result_that_was_not_kept_names_the_level_of_its_tool() -> None:
    (take,) = await read(decided(), ended())
    assert (take.outcome, take.lack) == (
        None,
        "its result was not kept: the audit level of `crm.find` was `request`",
    )
    (bare,) = await read(decided(level="metadata"), ended())
    assert bare.lack.endswith("was `metadata`")


async def test_a_result_that_was_cut_is_not_played() -> None:
    cut = {"$cut": {"digest": "x", "bytes": 99_999, "head": "{"}}
    (take,) = await read(decided(), ended(result=cut))
    assert (take.outcome, take.lack) == (None, "its result was too large to be kept")


async def test_a_refusal_is_played_from_what_the_log_says_of_it_at_any_level() -> None:
    (take,) = await read(
        decided(), ended(status="denied", code="c", executed="no", reason="why", rule="never")
    )
    assert take.outcome == Refusal(status=Status.DENIED, code="c", reason="why", rule="never")


async def test_a_result_that_says_that_it_failed_is_a_result() -> None:
    failed: JsonObject = {**RESULT, "isError": True}
    (take,) = await read(ended(status="tool_failed", tool_error=True, result=failed))
    assert take.outcome == Answer(result=failed, status=Status.TOOL_FAILED)
    (bare,) = await read(ended(status="tool_failed", tool_error=True))
    assert bare.outcome is None


async def test_a_server_s_own_error_and_a_failed_result_are_played_as_they_came() -> None:
    failed = {"status": "tool_failed", "reason": "bad"}
    first, second = await read(
        ended("call_1", **failed, error_code=-32000), ended("call_2", **failed, original=RESULT)
    )
    assert isinstance(first.outcome, Refusal)
    assert first.outcome.error is not None
    assert (first.outcome.error.code, first.outcome.error.message) == (-32000, "bad")
    assert isinstance(second.outcome, Refusal)
    assert second.outcome.original == RESULT


async def test_a_call_that_waits_for_people_names_its_request() -> None:
    asked = {
        "kind": "approval",
        "stage": "requested",
        "call": "call_1",
        "run": RUN,
        "body": {"approval": "apr_1"},
    }
    (take,) = await read(asked, ended(status="approval_pending", executed="no"))
    assert isinstance(take.outcome, Refusal)
    assert take.outcome.approval is not None
    assert take.outcome.approval.approval_id == "apr_1"


async def test_a_write_is_played_from_what_its_operation_keeps() -> None:
    effect = {
        "kind": "side_effect",
        "stage": "recorded",
        "call": "call_1",
        "run": RUN,
        "body": {**BODY, "op": "op_1"},
    }
    kept = Answer(result=RESULT)

    async def of(op: str) -> Answer | Refusal | None:
        return kept if op == "op_1" else None

    (take,) = await takes(Log(decided(), ended(), effect), RUN, of)
    assert (take.outcome, take.lack) == (kept, "")


async def test_what_an_operation_keeps_of_another_end_is_not_played() -> None:
    effect = {
        "kind": "side_effect",
        "stage": "recorded",
        "call": "call_1",
        "run": RUN,
        "body": {**BODY, "op": "op_1"},
    }

    async def of(op: str) -> Answer | Refusal | None:
        return Refusal(status=Status.INDETERMINATE, reason=op)

    (take,) = await takes(Log(decided(), ended(), effect), RUN, of)
    assert take.outcome is None


async def test_calls_that_were_told_the_same_result_share_what_is_kept_of_it() -> None:
    first, second = await read(ended("call_1", result=RESULT), ended("call_2"))
    assert first.outcome == second.outcome == Answer(result=RESULT)


async def test_calls_come_in_the_order_in_which_they_ended() -> None:
    found = await read(decided("call_1"), ended("call_2"), ended("call_1"))
    assert [each.call for each in found] == ["call_2", "call_1"]


async def test_a_call_without_an_end_says_so() -> None:
    (take,) = await read(decided())
    assert take.lack == "how it ended is not in the log"


async def test_what_the_gateway_did_by_itself_is_no_call_of_the_host() -> None:
    assert await read(ended(cause="readback")) == ()


async def test_a_call_that_could_not_be_read_is_not_on_tape() -> None:
    unreadable = {"status": "invalid_arguments", "code": "not_json", "executed": "no"}
    assert await read(ended(**unreadable)) == ()


async def test_a_call_that_only_the_run_tells_of_is_looked_up() -> None:
    run: dict[str, Any] = {
        "kind": "run",
        "stage": "started",
        "call": "call_9",
        "run": RUN,
        "body": {},
    }
    own = {"tool": "", "server": "", "name": "run_start"}
    (take,) = await read(run, ended("call_9", run="", **own))
    assert (take.key, take.lack) == (
        "run_start",
        "its result was not kept: `events.level` was not `full`",
    )


async def test_events_of_people_are_no_calls() -> None:
    moved: dict[str, Any] = {"kind": "run", "stage": "moved", "run": RUN, "body": {}}
    assert await read(moved) == ()


async def test_what_was_redacted_of_blocks_is_played_as_text() -> None:
    gone: JsonObject = {"$redacted": "secret"}
    kept: JsonObject = {
        "content": [{"type": "text", "text": gone}, gone, {"type": "text", "text": "as it was"}],
        "structuredContent": {"key": gone},
    }
    (take,) = await read(ended(result=kept))
    assert isinstance(take.outcome, Answer)
    hidden: JsonObject = {"type": "text", "text": "[redacted]"}
    assert take.outcome.result == {
        "content": [hidden, hidden, {"type": "text", "text": "as it was"}],
        "structuredContent": {"key": gone},
    }
    (whole,) = await read(ended(result={"content": gone}))
    assert isinstance(whole.outcome, Answer)
    assert whole.outcome.result == {"content": [hidden]}

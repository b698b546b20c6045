"""What came back, as an outcome: carried out, proved not to be, or unknown."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from gateway import jsontext
from gateway.operations.machine import RESENT, OpEvent
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    KeySource,
    Rejected,
    RetryClass,
    Undelivered,
)
from gateway.types.tools import Risk
from gateway.types.values import value

# A server says these before it runs anything: JSON-RPC 2.0, 5.1, and MCP 2026-07-28 for -3202x.
# All others also come out of handlers that failed half-way, -32600 and -32602 included: SDKs send
# -32602 for a result that breaks the output schema, and handlers pass on what they were told.
_REFUSED: Final = frozenset({-32700, -32601, *range(-32029, -32019)})
# What a tool has put out is judged after it ran, whatever the code.
_RAN: Final = re.compile(r"output\s+(?:schema|validation)|structured\s*content", re.IGNORECASE)
_LOST: Final = re.compile(
    r"tim(?:ed?|ing)[\s_-]?out|deadline\s+(?:was\s+)?exceeded|bad\s+gateway"
    r"|connection\s+(?:\w+\s+){0,2}(?:lost|reset|closed|aborted|dropped|interrupted|broken|died)"
    r"|(?:lost|closed|dropped|broken)\s+(?:the\s+)?connection|broken\s+pipe|socket\s+hang\s?up"
    r"|disconnected|(?:no|without(?:\s+an?)?)\s+(?:response|reply|answer)|\beof\b|\brst_stream\b"
    r"|deadline_?exceeded|context\s+cancell?ed|operation\s+was\s+aborted|\baborterror\b"
    r"|other\s+side\s+closed|fetch\s+failed|\be(?:connreset|connaborted|timedout|pipe)\b"
    r"|\b(?:http(?:/[\d.]+)?|status(?:\s+code)?|code|error)[\s:=\"'(]{1,3}50[234]\b",
    re.IGNORECASE,
)
_CODE_KEYS: Final = ("code", "status", "statusCode", "status_code", "httpStatus", "http_status")
_LONGEST: Final = 20_000  # characters of an answer that are searched, from either end


@value
class Verdict:
    """What an operation settles as, and why: `proof` is for people and the log."""

    event: OpEvent  # succeed, fail_retryable, fail_final or lose
    executed: Execution
    proof: str


def classify(
    delivery: Delivery,
    *,
    retry: RetryClass,
    risk: Risk,
    source: KeySource,
    not_executed_on: Sequence[int | str],
) -> Verdict:
    """Say what a final answer, or the lack of one, proves about a write.

    `not_executed_on` is what the contract takes as proof that nothing happened. A question of a
    server or the handle of a task is no final answer; whoever asks about one gets "unknown".
    """
    match delivery:
        case Undelivered():
            return _undelivered(delivery, not_executed_on)
        case Rejected():
            return _rejected(delivery, not_executed_on)
        case Delivered():
            if delivery.result.get("resultType", "complete") != "complete":
                return _lost("what came back is not its final answer")
            if delivery.result.get("isError") in (None, False):
                return Verdict(event=OpEvent.SUCCEED, executed=Execution.YES, proof="its answer")
            return _failed(delivery.result, retry, risk, source, not_executed_on)
        case _:
            assert_never(delivery)


def _undelivered(delivery: Undelivered, proofs: Sequence[int | str]) -> Verdict:
    if delivery.executed is Execution.NO:
        return _not_executed("it was never sent, or was refused unread")
    if delivery.status is not None and delivery.status in proofs:
        return _not_executed(f"its contract says that HTTP {delivery.status} proves it")
    return _lost(f"no usable answer: {delivery.failure.value}")


def _rejected(delivery: Rejected, proofs: Sequence[int | str]) -> Verdict:
    code, status = delivery.code, delivery.status
    # What comes with a 5xx was said by whatever broke: a proxy knows nothing of the request.
    if code in _REFUSED and (status is None or 400 <= status < 500):
        return _not_executed(f"JSON-RPC {code} comes before anything runs")
    if _RAN.search(_ends(f"{delivery.message}\n{_dumped(delivery.data)}")):
        return _lost(f"JSON-RPC {code} speaks of what the tool put out")
    if code in proofs:
        return _not_executed(f"its contract says that JSON-RPC {code} proves it")
    if status is not None and status in proofs:
        return _not_executed(f"its contract says that HTTP {status} proves it")
    said = _said(delivery.message[:_LONGEST], delivery.data, proofs)
    if said is not None:
        return _not_executed(f"its contract says that `{said}` proves it")
    return _lost(f"JSON-RPC {code} may come after it ran")


def _failed(
    result: JsonObject,
    retry: RetryClass,
    risk: Risk,
    source: KeySource,
    proofs: Sequence[int | str],
) -> Verdict:
    """Judge an answer with `isError`: the tool ran, and how far it came is another question.

    No list of words finds all that speak of lost answers. So what the words settle is how the end
    is told; a call of a class that must not be sent twice is not sent again either way.
    """
    text, data = _text(result), result.get("structuredContent")
    if _RAN.search(text):
        return _lost("its answer speaks of what the tool put out")
    said = _said(text, data, proofs)
    if said is not None:
        return _not_executed(f"its contract says that `{said}` proves it")
    if _LOST.search(text):
        return _lost("its answer speaks of a time-out or a lost connection")
    if source is KeySource.CALLER:  # the same key gets the same answer, also when that is an error
        return _failure(OpEvent.FAIL_FINAL, "its answer")
    if retry in RESENT | {RetryClass.READ}:
        return _failure(OpEvent.FAIL_RETRYABLE, "its answer is an error")
    if risk.rank >= Risk.HIGH.rank:
        return _lost(f"its answer is an error, and its class `{risk.value}` allows no guess")
    return _failure(OpEvent.FAIL_FINAL, "its answer is an error")


def _not_executed(proof: str) -> Verdict:
    return Verdict(event=OpEvent.FAIL_RETRYABLE, executed=Execution.NO, proof=proof)


def _failure(event: OpEvent, proof: str) -> Verdict:
    return Verdict(event=event, executed=Execution.YES, proof=proof)


def _lost(proof: str) -> Verdict:
    return Verdict(event=OpEvent.LOSE, executed=Execution.UNKNOWN, proof=proof)


def _text(result: JsonObject) -> str:
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    texts.append(_dumped(result.get("structuredContent")))
    return _ends("\n".join(text for text in texts if isinstance(text, str)))


def _dumped(data: Json) -> str:
    return "" if data is None else jsontext.dump(data).decode()


def _ends(text: str) -> str:
    """Return a text without its middle: a long one says last what it failed of."""
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"


def _said(text: str, data: Json, proofs: Sequence[int | str]) -> int | str | None:
    """Return the first proof that an answer names, or None."""
    codes = frozenset(_codes(data))
    for proof in proofs:
        if isinstance(proof, int):
            if proof in codes or _names_code(text, proof):
                return proof
        elif re.search(rf"(?<!\w){re.escape(proof)}(?!\w)", text, re.IGNORECASE) or proof in codes:
            return proof
    return None


def _codes(data: Json) -> Iterator[Json]:
    """Yield the codes that structured data names: at its top, or of the `error` in it."""
    if isinstance(data, dict):
        yield from (value for key in _CODE_KEYS if isinstance(value := data.get(key), int | str))
        error = data.get("error")
        if isinstance(error, dict):
            yield from _codes(error)


def _names_code(text: str, code: int) -> bool:
    """Whether a text gives a code as such: an amount of 429 is no status."""
    named = rf"\b(?:http(?:/[\d.]+)?|status|code|error)[\s:=\"'(]{{1,3}}{code}(?!\w|[.,]\d)"
    return re.search(named, text, re.IGNORECASE) is not None

"""What came back, as an outcome: carried out, proved not to be, or unknown."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from gateway import jsontext
from gateway.operations.machine import RESENT, OpEvent
from gateway.operations.templates import of_result
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    FAILED,
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
_EMPTY: Final[JsonObject] = {}
_CODE_KEYS: Final = ("code", "status", "statusCode", "status_code", "httpStatus", "http_status")
_OPENING: Final = 120  # characters of a text in which it says what is the matter
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
    arguments: JsonObject = _EMPTY,
) -> Verdict:
    """Say what a final answer, or the lack of one, proves about a write.

    `not_executed_on` is what the contract takes as proof that nothing happened; what the call
    itself says in its `arguments`, an answer may only repeat. A question of a
    server or the handle of a task is no final answer; whoever asks about one gets "unknown".
    """
    proofs = _Proofs(named=not_executed_on, arguments=arguments)
    match delivery:
        case Undelivered():
            return _undelivered(delivery, not_executed_on)
        case Rejected():
            return _rejected(delivery, proofs)
        case Delivered():
            if delivery.result.get("resultType", "complete") != "complete":
                return _lost("what came back is not its final answer")
            if delivery.result.get("isError") in (None, False):
                return Verdict(event=OpEvent.SUCCEED, executed=Execution.YES, proof="its answer")
            return _failed(delivery.result, retry, risk, source, proofs)
        case _:
            assert_never(delivery)


def _undelivered(delivery: Undelivered, proofs: Sequence[int | str]) -> Verdict:
    if delivery.executed is Execution.NO:
        return _not_executed("it was never sent, or was refused unread")
    if delivery.status is not None and delivery.status in proofs:
        return _not_executed(f"its contract says that HTTP {delivery.status} proves it")
    return _lost(f"no usable answer: {delivery.failure.value}")


def _rejected(delivery: Rejected, proofs: "_Proofs") -> Verdict:
    code, status = delivery.code, delivery.status
    # What comes with a 5xx was said by whatever broke: a proxy knows nothing of the request.
    if code in _REFUSED and (status is None or 400 <= status < 500):
        return _not_executed(f"JSON-RPC {code} comes before anything runs")
    if _RAN.search(_ends(f"{delivery.message}\n{_dumped(delivery.data)}")):
        return _lost(f"JSON-RPC {code} speaks of what the tool put out")
    if code in proofs.named:
        return _not_executed(f"its contract says that JSON-RPC {code} proves it")
    if status is not None and status in proofs.named:
        return _not_executed(f"its contract says that HTTP {status} proves it")
    said = proofs.said(delivery.message, delivery.data)
    if said is not None:
        return _not_executed(f"its contract says that `{said}` proves it")
    return _lost(f"JSON-RPC {code} may come after it ran")


def _failed(
    result: JsonObject,
    retry: RetryClass,
    risk: Risk,
    source: KeySource,
    proofs: "_Proofs",
) -> Verdict:
    """Judge an answer with `isError`: the tool ran, and how far it came is another question.

    No list of words finds all that speak of lost answers. So what the words settle is how the end
    is told; a call of a class that must not be sent twice is not sent again either way.
    """
    text = _ends(_text(result))
    if _RAN.search(text):
        return _lost("its answer speaks of what the tool put out")
    said = proofs.said(_first_text(result), of_result(result))
    if said is not None:
        return _not_executed(f"its contract says that `{said}` proves it")
    if _LOST.search(text):
        return _lost("its answer speaks of a time-out or a lost connection")
    if source is KeySource.CALLER:  # the same key gets the same answer, also when that is an error
        return _failure(OpEvent.FAIL_FINAL, "its answer")
    if retry in RESENT | {RetryClass.READ}:
        return _failure(OpEvent.FAIL_RETRYABLE, FAILED)
    if risk.rank >= Risk.HIGH.rank:
        return _lost(f"its answer is an error, and its class `{risk.value}` allows no guess")
    return _failure(OpEvent.FAIL_FINAL, FAILED)


def _not_executed(proof: str) -> Verdict:
    return Verdict(event=OpEvent.FAIL_RETRYABLE, executed=Execution.NO, proof=proof)


def _failure(event: OpEvent, proof: str) -> Verdict:
    return Verdict(event=event, executed=Execution.YES, proof=proof)


def _lost(proof: str) -> Verdict:
    return Verdict(event=OpEvent.LOSE, executed=Execution.UNKNOWN, proof=proof)


def _texts(result: JsonObject) -> Iterator[str]:
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text


def _text(result: JsonObject) -> str:
    return "\n".join([*_texts(result), _dumped(result.get("structuredContent"))])


def _first_text(result: JsonObject) -> str:
    return next(_texts(result), "")


def _dumped(data: Json) -> str:
    return "" if data is None else jsontext.dump(data).decode()


def _ends(text: str) -> str:
    """Return a text without its middle: a long one says last what it failed of."""
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"


@value
class _Proofs:
    """What a contract takes as proof that nothing happened, held against one answer.

    A code counts where the answer has a member for it, a word where the text begins: further down
    an error quotes what it was given, or what others wrote. What stands in the arguments of the
    call counts nowhere, since the answer may just repeat them.
    """

    named: Sequence[int | str]
    arguments: JsonObject

    def said(self, text: str, data: Json) -> int | str | None:
        """Return the first proof that an answer names, or None."""
        opening, codes = text[:_OPENING], frozenset(_codes(data))
        found = (each for each in self.named if each in codes or _names(opening, each))
        return next((each for each in found if not self._is_own(each)), None)

    def _is_own(self, proof: int | str) -> bool:
        leaves = _leaves(self.arguments)
        return any(leaf == proof or _names(str(leaf), proof) for leaf in leaves)


def _names(text: str, proof: int | str) -> bool:
    """Whether a text has a word, or gives a code as such: an amount of 429 is no status."""
    if isinstance(proof, str):
        return re.search(rf"(?<!\w){re.escape(proof)}(?!\w)", text, re.IGNORECASE) is not None
    named = rf"\b(?:http(?:/[\d.]+)?|status|code|error)[\s:=\"'(]{{1,3}}{proof}(?!\w|[.,]\d)"
    return re.search(named, text, re.IGNORECASE) is not None


def _leaves(value: Json) -> Iterator[Json]:
    """Yield all keys, texts and numbers of a value; arguments are not deep."""
    match value:
        case dict():
            for key, each in value.items():
                yield key
                yield from _leaves(each)
        case list():
            for each in value:
                yield from _leaves(each)
        case _:
            yield value


def _codes(data: Json) -> Iterator[Json]:
    """Yield the codes that structured data names: at its top, or of the `error` in it."""
    if isinstance(data, dict):
        yield from (value for key in _CODE_KEYS if isinstance(value := data.get(key), int | str))
        error = data.get("error")
        if isinstance(error, dict):
            yield from _codes(error)

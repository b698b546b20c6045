"""What the way back of an operation is made of: values that were kept for it, and its own key."""

from collections.abc import Iterator, Sequence
from typing import Final

from gateway import jsontext
from gateway.jsontext.references import references
from gateway.operations.keys import Digest
from gateway.operations.templates import of_result
from gateway.types.guarantees import Compensation
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.operations import (
    FAILED,
    IntentKey,
    KeySource,
    Operation,
    OpState,
    VerificationState,
)
from gateway.types.tools import Contract

# Members of what is kept, sealed, of an outcome.
CAPTURED: Final = "captured"
OLD: Final = "old"  # what a read showed before the call, where the way back refers to it

_VERSION: Final = "v1"  # part of every digest, as in `gateway.operations.keys`
_WITHOUT_EFFECT: Final = frozenset({OpState.FAILED_RETRYABLE, OpState.ABANDONED, OpState.DENIED})


def captured(contract: Contract, result: JsonObject) -> JsonObject:
    """Return by pointer the values of a server's result that its way back needs.

    To be kept, sealed, beside the outcome: what leaves may hold less. These are the places of
    `compensation.capture`, and those that its templates refer to. `result` is whole, as it was
    received; pointers go into its structured content, or the JSON of its lone text.
    """
    back = contract.compensation
    if back is None:
        return {}
    data = of_result(result)
    return {
        pointer: value
        for pattern in (*back.capture, *_referred(back))
        for pointer, value in jsontext.walk(data, pattern)
    }


def restored(data: Json, values: JsonObject) -> Json:
    """Return the data of an answer with captured values back in their places."""
    for pointer, value in values.items():
        data = _put(data, jsontext.tokens(pointer), value)
    return data


def key_of(
    operation: Operation,
    back: Compensation,
    arguments: JsonObject,
    earlier: Sequence[Operation],
    digest: Digest,
) -> IntentKey:
    """Return the key of what undoes an operation: whoever asks twice meets the same one.

    Only an attempt that certainly undid nothing makes room for another; so does one of which nobody
    knows, when it may be repeated. `earlier` are all attempts so far.
    """
    number = sum(_is_over(each, back) for each in earlier)
    intent = _digest("undo", operation.tenant, operation.op_id)
    return IntentKey(
        key=_digest("undo", operation.tenant, operation.op_id, number),
        source=KeySource.DERIVED,
        scope=operation.key.scope,
        intent=intent,
        arguments=digest(arguments),
    )


def is_refuted(attempt: Operation) -> bool:
    """Whether an attempt was carried out, and a check found that it undid nothing."""
    failed = attempt.verification is VerificationState.FAILED
    return failed and attempt.state is OpState.SUCCEEDED


def is_doubtful(attempt: Operation) -> bool:
    """Whether an attempt may have undone something, all or in part.

    Its answer was lost, or says that it failed: a tool that failed has run.
    """
    has_run = attempt.state is OpState.FAILED_RETRYABLE and attempt.evidence == FAILED
    return has_run or attempt.state in (OpState.INDETERMINATE, OpState.FAILED_FINAL)


def _is_over(attempt: Operation, back: Compensation) -> bool:
    if is_doubtful(attempt) or is_refuted(attempt):
        return back.is_idempotent
    return attempt.state in _WITHOUT_EFFECT


def _referred(back: Compensation) -> Iterator[JsonPointer]:
    templates = [back.call, back.verify.call if back.verify is not None else None]
    for template in templates:
        for reference in references(dict(template.args)) if template is not None else ():
            if reference.root == "result":
                yield "".join(f"/{jsontext.escape(str(step))}" for step in reference.steps)


def _put(value: Json, rest: tuple[str, ...], new: Json) -> Json:
    """Return a copy with a value at a place; objects on the way are made, lists are not."""
    if not rest:
        return new
    token, deeper = rest[0], rest[1:]
    match value:
        case dict():
            return {**value, token: _put(value.get(token), deeper, new)}
        case None:
            return {token: _put(None, deeper, new)}
        case list() if token.isdecimal() and int(token) < len(value):
            at = int(token)
            return [*value[:at], _put(value[at], deeper, new), *value[at + 1 :]]
        case _:  # another value has taken the place: a reference to it finds nothing
            return value


def _digest(*parts: Json) -> str:
    return jsontext.digest([_VERSION, *parts])

"""Keys: what makes two calls the same, and the key that a server knows a repeated request by."""

import re
import unicodedata
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from gateway import jsontext
from gateway.errors import JsonError, WeighbridgeError
from gateway.types.guarantees import Idempotency, Injection, InjectPlace, Normal
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.operations import IntentKey, KeySource

CALLERS: Final = "weighbridge/idempotencyKey"  # key in `_meta`
LONGEST: Final = 200  # characters of a caller's key
MOST_CHANGES: Final = 20  # pointers that a person or a model is shown

_VERSION: Final = "v1"  # part of every digest: another way to build keys is another version
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]+")
# A text of a structured field (RFC 8941, 3.3.3), as the draft of the header wants it.
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_NO_UUID: Final = str(uuid.UUID(int=0, version=5))
_NO_DIGEST: Final = 64 * "0"
_NAMESPACE: Final = uuid.UUID("0b8f4e0e-53f5-5c5e-9a55-2a3d0c1c7d11")


Digest: TypeAlias = Callable[[Json], str]
"""A keyed digest over the RFC 8785 form of a value: a short secret can't be found from it."""


class KeyRefused(WeighbridgeError):
    """A call can't be told from others; one line for its caller."""


def of_caller(meta: JsonObject, header: str | None) -> str | None:
    """Return the key that a host gave, in `_meta` or in a header of HTTP; raises `KeyRefused`.

    In the header it stands bare or in quotes (draft-ietf-httpapi-idempotency-key-header).
    """
    told = meta.get(CALLERS)
    if told is not None and not isinstance(told, str):
        raise KeyRefused("its idempotency key is not a text")
    if header is None:
        return told
    key = _unquoted(header)
    if told is not None and told != key:
        raise KeyRefused(f'its `Idempotency-Key` header is not the key in `_meta["{CALLERS}"]`')
    return key


def of_header(header: str) -> str:
    """Return the key that stands in an `Idempotency-Key` header; raises `KeyRefused`."""
    key = _unquoted(header)
    _judge(key)
    return key


def derive(
    *,
    tenant: str,
    principal: Sequence[str],
    server: str,
    tool: str,
    within: Sequence[str] = (),
    arguments: JsonObject,
    idempotency: Idempotency,
    caller_key: str | None,
    transport_id: str | None,
    digest: Digest,
) -> IntentKey:
    """Return the key of a call, from the first source that there is; raises `KeyRefused`.

    A caller's key is one per scope, whatever the tool: on another tool of the same server it is
    the same key for something else. All other keys are per tool, and per what the call was made
    `within`: a conversation, or a run that was named. What the gateway overwrites with a key for
    the server counts for nothing: models make a new one for each attempt.
    """
    if caller_key is not None:
        _judge(caller_key)
    made = _Digests(digest)
    try:
        scope = made("scope", tenant, list(principal), server, "")  # "": as keys of before have it
        arguments = own(arguments, idempotency.inject)
        normal = _normalised(arguments, idempotency.normalise)
        intent = made("intent", server, tool, _intent(normal, idempotency))
        source, parts = _source(caller_key, tool, normal, idempotency, intent)
        if within and source is not KeySource.CALLER:
            parts = (*parts, list[Json](within))
        return IntentKey(
            key=made(source.value, tenant, scope, *parts),
            source=source,
            scope=scope,
            intent=intent,
            arguments=digest(arguments),
            transport="" if transport_id is None else made("transport", scope, transport_id),
        )
    except JsonError as error:
        raise KeyRefused(f"its arguments can't be compared with those of others: {error}") from None


def changed(before: JsonObject, after: JsonObject) -> tuple[JsonPointer, ...]:
    """Name where two argument objects differ, sorted, the first 20; what is absent is one place."""
    return tuple(sorted(_changed(before, after, ""))[:MOST_CHANGES])


def downstream_key(injection: Injection, key: IntentKey, op_id: str) -> str:
    """Return the key for the server: one per operation, the same for all of its attempts."""
    if injection.as_uuid:
        return str(uuid.uuid5(_NAMESPACE, f"{op_id}:{key.key}"))
    return jsontext.digest([_VERSION, "downstream", op_id, key.key]).removeprefix("sha256:")


def place(injection: Injection | None) -> str:
    """Say where the server gets its key: the same text for the same place; empty for none."""
    return "" if injection is None else f"{injection.place.value}:{injection.name}"


def inject(
    arguments: JsonObject,
    meta: JsonObject,
    headers: Mapping[str, str],
    injection: Injection,
    value: str,
) -> tuple[JsonObject, JsonObject, dict[str, str]]:
    """Put a key where the server wants it, over whatever the caller put there.

    Raises `KeyRefused` when the arguments have no such place.
    """
    name, sent = injection.name, dict(headers)
    match injection.place:
        case InjectPlace.ARGUMENT:
            arguments = _put(arguments, jsontext.tokens(name), value, name)
        case InjectPlace.META:
            meta = {**meta, name: value}
        case InjectPlace.HEADER:  # names of headers are the same in any case (RFC 9110, 5.1)
            sent = {key: text for key, text in sent.items() if key.lower() != name.lower()}
            sent[name] = value
        case _:
            assert_never(injection.place)
    return arguments, meta, sent


def _unquoted(header: str) -> str:
    quoted = _QUOTED.fullmatch(header)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    if '"' in header or "," in header:
        raise KeyRefused("its `Idempotency-Key` header is not one key, bare or in quotes")
    return header


def own(arguments: JsonObject, injection: Injection | None) -> JsonObject:
    """Return the arguments that are sent as they were given: without what is overwritten."""
    if injection is None or injection.place is not InjectPlace.ARGUMENT:
        return arguments
    return _without(arguments, (injection.name,))


def filled(arguments: JsonObject, injection: Injection | None) -> JsonObject:
    """Return the arguments in the form that they are sent in, with a stand-in for the key.

    For judging by a schema: the key itself is made when they are sent. Raises `KeyRefused`.
    """
    if injection is None or injection.place is not InjectPlace.ARGUMENT:
        return arguments
    key = _NO_UUID if injection.as_uuid else _NO_DIGEST
    return inject(arguments, {}, {}, injection, key)[0]


def _judge(text: str) -> None:
    if not text.strip():
        raise KeyRefused("its idempotency key is empty; send one of your own, or none")
    if len(text) > LONGEST:
        raise KeyRefused(f"its idempotency key is longer than {LONGEST} characters")
    if not _PRINTABLE.fullmatch(text):
        raise KeyRefused("its idempotency key holds characters other than printable ASCII")


@dataclass(frozen=True, slots=True)
class _Digests:
    """Digests parts so that no two lists of parts share their bytes, whatever is in them."""

    digest: Digest

    def __call__(self, kind: str, *parts: Json) -> str:
        return self.digest([_VERSION, kind, *parts])


def _source(
    caller_key: str | None,
    tool: str,
    arguments: JsonObject,
    idempotency: Idempotency,
    intent: str,
) -> tuple[KeySource, tuple[Json, ...]]:
    """Return the first source there is and what its key is made of, beside tenant and scope."""
    if caller_key is not None:
        return KeySource.CALLER, (caller_key,)
    named = idempotency.key_from
    if named:
        value = next((value for _, value in jsontext.walk(arguments, named)), None)
        if value not in (None, "") and not isinstance(value, dict | list):
            return KeySource.CONTRACT, (tool, named, value)
    return KeySource.DERIVED, (tool, intent)


def _without(arguments: JsonObject, patterns: Sequence[JsonPointer]) -> JsonObject:
    left: Json = arguments
    for pattern in patterns:
        # From the end: a removed item moves those behind it.
        for pointer, _ in reversed([*jsontext.walk(left, pattern)]):
            left = jsontext.remove(left, pointer)
    return left if isinstance(left, dict) else arguments


def _intent(arguments: JsonObject, idempotency: Idempotency) -> JsonObject:
    """Return the fields that identify the intent by pointer; an absent one is not there at all."""
    left = _without(arguments, idempotency.ignore)
    chosen = ("",) if idempotency.intent is None else idempotency.intent
    return {pointer: value for each in chosen for pointer, value in jsontext.walk(left, each)}


def _normalised(arguments: JsonObject, normals: Mapping[JsonPointer, Normal]) -> JsonObject:
    """Return a copy with the named texts made comparable; other values stay as they are."""
    result: Json = arguments
    for pattern, normal in normals.items():
        for pointer, value in [*jsontext.walk(result, pattern)]:
            if isinstance(value, str):
                result = jsontext.replace(result, pointer, _normal(value, normal))
    return result if isinstance(result, dict) else arguments


def _normal(text: str, normal: Normal) -> str:
    text = unicodedata.normalize("NFC", text)
    match normal:
        case Normal.UPPER:
            text = text.upper()
        case Normal.LOWER:
            text = text.lower()
        case Normal.TRIM:
            text = text.strip()
        case _:
            assert_never(normal)
    return unicodedata.normalize("NFC", text)  # another case may compose in another way


def _changed(before: Json, after: Json, pointer: JsonPointer) -> Iterator[JsonPointer]:
    match before, after:
        case dict(), dict():
            for key in {**before, **after}:
                here = f"{pointer}/{jsontext.escape(key)}"
                if key in before and key in after:
                    yield from _changed(before[key], after[key], here)
                else:
                    yield here
        case list(), list() if len(before) == len(after):
            for index, pair in enumerate(zip(before, after, strict=True)):
                yield from _changed(*pair, f"{pointer}/{index}")
        case _:
            if jsontext.canonical(before) != jsontext.canonical(after):
                yield pointer


def _put(value: Json, rest: tuple[str, ...], new: str, place: JsonPointer) -> JsonObject:
    """Return a copy of an object with a text at a place, making the objects on the way to it."""
    if not isinstance(value, dict):
        raise KeyRefused(f"its arguments have no place for the key of the server at `{place}`")
    token, deeper = rest[0], rest[1:]
    return {**value, token: _put(value.get(token, {}), deeper, new, place) if deeper else new}

"""Which values of a schema promise secrets or persons, by their names and declared formats."""

import re
from collections.abc import Iterator

from gateway.contracts.draft_schema import branches, mapping, plain
from gateway.jsontext import escape
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Sensitivity

_SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|api_?key|credential|private_?key|pin|cvv|cvc"
    r"|access_key|signing_key|authorization|bearer|otp|connection_string|dsn|cookie|mnemonic"
    r"|card_number|credit_card|client_secret)s?($|_)"
)
# Of language models and of pages, a token is counted or pointed with, and opens nothing.
_NO_CREDENTIAL = re.compile(
    r"(^|_)((max|min|num|n|total)_([a-z]+_)*tokens?|(budget|input|output|prompt|completion)_tokens"
    r"|tokens?_(count|limit|budget|usage|total|length|type)|tokens_(used|left|remaining|per|in|out)"
    r"|(next|page|continuation)_token)($|_)"
)
_COUNTS, _SWITCHES = frozenset({"integer", "number"}), frozenset({"boolean", "null"})
_PERSONAL = re.compile(
    r"(^|_)(e_?mail|phone|mobile|iban|bic|account_number|ssn|national_id|tax_id|birth\w*|dob"
    r"|address|first_name|last_name|full_name|passport|diagnosis|salary)s?($|_)"
)
_FORMATS = {"email": Sensitivity.PERSONAL, "idn-email": Sensitivity.PERSONAL}
_DEEPEST = 8
_MOST = 2_000  # schemas that are looked at; who has more is not read to the end anyway


def sensitive(schema: Json) -> Iterator[tuple[JsonPointer, Sensitivity, str]]:
    """Find values, nested ones too, with pointer (`*` for any of several), kind and its sign."""
    found: dict[JsonPointer, tuple[Sensitivity, str]] = {}
    budget = [_MOST]
    for pointer, kind, why in _found(mapping(schema), schema, "", (), budget):
        found.setdefault(pointer, (kind, why))
    for pointer, (kind, why) in found.items():
        yield pointer, kind, why


def _found(
    root: JsonObject, schema: Json, pointer: JsonPointer, seen: tuple[str, ...], budget: list[int]
) -> Iterator[tuple[JsonPointer, Sensitivity, str]]:
    budget[0] -= 1
    if pointer.count("/") > _DEEPEST or budget[0] < 0:
        return
    here = mapping(schema)
    reference = here.get("$ref")
    if isinstance(reference, str):
        if reference in seen:
            return  # a tree of its own kind, which has been looked at
        seen = (*seen, reference)
    for branch in branches(root, here):
        yield from _found(root, branch, pointer, seen, budget)
    for word in ("items", "additionalProperties"):
        if isinstance(here.get(word), dict):
            yield from _found(root, here[word], f"{pointer}/*", seen, budget)
    for name, inner in mapping(here.get("properties")).items():
        place = f"{pointer}/{escape(name)}"
        if sign := _sign(name, inner):
            yield place, *sign
        else:
            yield from _found(root, inner, place, seen, budget)


def _sign(name: str, schema: Json) -> tuple[Sensitivity, str] | None:
    """Return what one value is, and by what sign."""
    spelled, here = plain(name), mapping(schema)
    if _is_secret(spelled, schema):
        return Sensitivity.SECRET, "by its name"
    if here.get("writeOnly") is True or here.get("format") == "password":
        return Sensitivity.SECRET, "by its schema"
    types = frozenset(_types(schema))
    if _PERSONAL.search(spelled) and not ("boolean" in types and types <= _SWITCHES):
        return Sensitivity.PERSONAL, "by its name"
    shape = here.get("format")
    if isinstance(shape, str) and shape in _FORMATS:
        return _FORMATS[shape], "by its schema"
    return None


def _is_secret(spelled: str, schema: Json) -> bool:
    """Tell credentials from what is only counted in the same word, by name and declared type."""
    found = _SECRET.search(spelled)
    if found is None:
        return False
    types = frozenset(_types(schema))
    if "boolean" in types and types <= _SWITCHES:
        return False
    if found[2] != "token":
        return True  # a PIN may well be a number
    return not _NO_CREDENTIAL.search(spelled) and not (
        types & _COUNTS and types <= _COUNTS | _SWITCHES
    )


def _types(schema: Json) -> Iterator[str]:
    """Return the types that a schema declares, `any` for an open alternative."""
    here = mapping(schema)
    declared = here.get("type")
    for each in declared if isinstance(declared, list) else [declared]:
        if isinstance(each, str):
            yield each
    for word in ("anyOf", "oneOf"):
        options = here.get(word)
        for option in options if isinstance(options, list) else []:
            yield from [*_types(option)] or ["any"]

"""Field minimisation: what of a structured result may leave, and in what form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gateway import jsontext
from gateway.errors import JsonError
from gateway.types.decisions import OutputPolicy, RedactAs, Redaction
from gateway.types.json import Json, JsonObject

Digest: TypeAlias = Callable[[Json], str]  # keyed: the same value, the same digest, in one tenant

_MASK = "[redacted]"
_SHORTEST_TOLD = 4  # shorter values would black out unrelated text


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimised:
    """A result after minimisation, and how many values were kept back."""

    result: JsonObject
    count: int


@dataclass(slots=True)
class _Tally:
    count: int
    told: list[str]  # texts that must not leave in free text either


def apply(result: JsonObject, output: OutputPolicy, digest: Digest) -> Minimised:
    """Keep and redact in `structuredContent`, and in the text blocks that repeat it.

    A text block that is JSON is minimised like the structure. In other text, each value that was
    kept back is blacked out; without a structure to compare with, such a block is replaced, since
    nobody can tell what is in it.
    """
    if not output.keep and not output.redact:
        return Minimised(result=result, count=0)
    tally = _Tally(0, [])
    minimised = dict(result)
    structured = "structuredContent" in result
    if structured:
        minimised["structuredContent"] = _minimise(
            result["structuredContent"], output, digest, tally
        )
    content = result.get("content")
    if isinstance(content, list):
        minimised["content"] = [
            _block(block, output, digest, tally, structured=structured) for block in content
        ]
    return Minimised(result=minimised, count=tally.count)


def _block(
    block: Json, output: OutputPolicy, digest: Digest, tally: _Tally, *, structured: bool
) -> Json:
    if not isinstance(block, dict):
        return block
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        tally.count += 1  # bytes and links can't be minimised; policy asked for it, so they stay
        return {"type": "text", "text": f"[a `{block.get('type')}` block was removed by policy]"}
    try:
        value = jsontext.parse_result(text.encode())
    except (JsonError, UnicodeEncodeError):
        value = None
    if isinstance(value, dict | list):
        inner = _Tally(0, tally.told)
        kept = jsontext.dump(_minimise(value, output, digest, inner)).decode()
        tally.count += 0 if structured else inner.count
        return {**block, "text": kept if inner.count else text}
    if not structured:
        tally.count += 1
        return {**block, "text": "[text removed by policy: its fields can't be told apart]"}
    for told in sorted(set(tally.told), key=len, reverse=True):
        text = text.replace(told, _MASK)
    return {**block, "text": text}


def _minimise(value: Json, output: OutputPolicy, digest: Digest, tally: _Tally) -> Json:
    if output.keep:
        patterns = [jsontext.tokens(pattern) for pattern in output.keep]
        value = _keep(value, patterns, tally)
    for redaction in output.redact:
        value = _redact(value, redaction, digest, tally)
    return value


def _keep(value: Json, patterns: Sequence[Sequence[str]], tally: _Tally) -> Json:
    if any(not pattern for pattern in patterns):
        return value
    if isinstance(value, dict):
        kept: JsonObject = {}
        for key, member in value.items():
            deeper = [p[1:] for p in patterns if p[0] in ("*", key)]
            if deeper:
                kept[key] = _keep(member, deeper, tally)
            else:
                _note(member, tally)
        return kept
    if isinstance(value, list):
        items: list[Json] = []
        for index, member in enumerate(value):
            deeper = [p[1:] for p in patterns if p[0] in ("*", str(index))]
            if deeper:
                items.append(_keep(member, deeper, tally))
            else:
                _note(member, tally)
        return items
    _note(value, tally)  # a scalar where the policy expected a container
    return None


def _redact(value: Json, redaction: Redaction, digest: Digest, tally: _Tally) -> Json:
    # From the end, so that what is removed from a list doesn't move what is still to come.
    for pointer, found in reversed(tuple(jsontext.walk(value, redaction.path))):
        _note(found, tally)
        match redaction.form:
            case RedactAs.HASH:
                value = jsontext.replace(value, pointer, digest(found))
            case RedactAs.MASK:
                value = jsontext.replace(value, pointer, _MASK)
            case RedactAs.REMOVE:
                value = jsontext.remove(value, pointer)
    return value


def _note(value: Json, tally: _Tally) -> None:
    tally.count += 1
    _texts(value, tally.told)


def _texts(value: Json, told: list[str]) -> None:
    if isinstance(value, str):
        if len(value) >= _SHORTEST_TOLD:
            told.append(value)
    elif isinstance(value, dict):
        for member in value.values():
            _texts(member, told)
    elif isinstance(value, list):
        for member in value:
            _texts(member, told)


def with_secrets(output: OutputPolicy, secret_paths: Sequence[str]) -> OutputPolicy:
    """Add the contract's secret result paths to what the policy redacts."""
    if not secret_paths:
        return output
    masks = tuple(Redaction(path=path, form=RedactAs.MASK) for path in secret_paths)
    return replace(output, redact=(*output.redact, *masks))

"""Field minimisation: what of a result may leave, and in what form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from gateway import jsontext
from gateway.errors import JsonError
from gateway.results import members
from gateway.results.rows import Sieve
from gateway.types.calls import Method
from gateway.types.decisions import NO_ROWS, OutputPolicy, RedactAs, Redaction, RowCount
from gateway.types.json import Json, JsonObject
from gateway.types.tools import DocumentPaths, Sensitivity
from gateway.types.values import value

Digest: TypeAlias = Callable[[Json], str]  # keyed: the same value, the same digest, in one tenant

_MASK = "[redacted]"
_SPACE = " \t\r\n"  # that may stand before JSON
_SHORTEST_TOLD = 4  # shorter values would black out unrelated text


@value
class Minimised:
    """A result after minimisation, and how many values were kept back."""

    result: JsonObject
    count: int
    rows: RowCount = NO_ROWS

    def joined(self, later: "Minimised") -> "Minimised":
        """Return what a second minimisation left of the first one's result."""
        return Minimised(
            result=later.result, count=self.count + later.count, rows=self.rows.plus(later.rows)
        )


@dataclass(slots=True)
class _Tally:
    count: int
    told: list[str]  # texts that must not leave in free text either


def apply(
    result: JsonObject,
    output: OutputPolicy,
    digest: Digest,
    method: Method = Method.CALL_TOOL,
    *,
    documents: DocumentPaths | None = None,
    schema: Json = None,
) -> Minimised:
    """Keep and redact in `structuredContent`, and in the texts of blocks, documents and messages.

    A text that is JSON is minimised like the structure. In other text, each value that was kept
    back is blacked out; without a structure to compare with, such a text is replaced, since nobody
    can tell what is in it. The same goes for completed values and whatever is no text at all.

    With `keep` or `rows`, of the rest only the members stay that the protocol defines for the
    method. With `rows`, the only text beside a structure is the structure's own. What has no such
    rows is removed, unless it was held against the `schema` that people reviewed: then it has none,
    and what that names beside them stays.
    """
    if not output.holds_back:
        return Minimised(result=result, count=0)
    names = members.of_result(result, method)
    is_closed = bool(output.keep or output.rows)
    # A structure that goes with the rest tells nothing about the texts that stay.
    is_structured = "structuredContent" in (result.keys() & names if is_closed else result)
    minimising = _Minimising(
        output,
        digest,
        _Tally(0, []),
        is_structured,
        is_closed=is_closed,
        documents=documents,
        schema=schema,
    )
    kept = minimising.known(result, names)
    left = minimising.result(kept)
    return Minimised(result=left, count=minimising.tally.count, rows=minimising.rows)


@dataclass(slots=True)
class _Minimising:
    """One result on its way through the same policy."""

    output: OutputPolicy
    digest: Digest
    tally: _Tally
    is_structured: bool  # there is a structure, from which the text is known
    is_closed: bool = False  # only members that are known leave
    documents: DocumentPaths | None = None
    schema: Json = None  # that people reviewed, and that the structure matches
    rows: RowCount = NO_ROWS

    def known(self, value: JsonObject, names: frozenset[str]) -> JsonObject:
        """Drop the members that `keep` doesn't name and nobody needs to read the others."""
        if not self.is_closed:
            return value
        kept: JsonObject = {}
        for name, member in value.items():
            if name == "_meta":
                self.meta(member, kept)
            elif name not in names:
                _note(member, self.tally)
            elif name == "annotations" and isinstance(member, dict):
                kept[name] = members.annotations(member)
                self.tally.count += 1 if kept[name] != member else 0
            else:
                kept[name] = member
        return kept

    def meta(self, meta: Json, kept: JsonObject) -> None:
        """Keep what the protocol needs of a `_meta`; what either hop makes anew doesn't count."""
        given: JsonObject = meta if isinstance(meta, dict) else {}
        needed: JsonObject = {}
        for name, each in given.items():
            found = members.needed(name, each)
            if found is not None:
                needed[name] = found
            elif not members.is_remade(name):
                _note(each, self.tally)
        if needed:
            kept["_meta"] = needed

    def result(self, result: JsonObject) -> JsonObject:
        """Minimise every member that says something, whatever kind of result it is."""
        minimised = dict(result)
        if self.is_structured:
            sifted = self.sifted(result["structuredContent"], self.schema)
            structure = {} if sifted is None else sifted
            minimised["structuredContent"] = self.value(structure, self.tally)
            if self.output.rows:
                result = {**result, "content": self.copied(result.get("content"), structure)}
        for member, each in _PARTS.items():
            parts = result.get(member)
            if isinstance(parts, list):
                minimised[member] = [each(self, part) for part in parts]
        completion = result.get("completion")
        if isinstance(completion, dict):
            values = completion.get("values")
            self.tally.count += len(values) if isinstance(values, list) else 1
            minimised["completion"] = {"values": []}
        for member in members.PROSE if self.is_closed else ():
            text = result.get(member)
            if isinstance(text, str):
                minimised[member] = self.text(text)
        return minimised

    def sifted(self, value: Json, schema: Json = None) -> Json:
        """Return a value with the rows that may leave, or None when nobody can tell its rows."""
        if not self.output.rows:
            return value
        sieve = Sieve(self.output.rows, self.documents)
        value = sieve.sift(value)
        self.rows = self.rows.plus(sieve.counted)
        self.tally.count += 1 if sieve.counted.removed else 0
        if sieve.missing and schema is None:
            self.tally.count += 1
            return None
        only = sieve.only(value, schema)
        self.tally.count += 1 if only != value else 0
        return only

    def copied(self, content: Json, structure: Json) -> list[Json]:
        """Put the structure's own text in place of all texts: they may tell of any row."""
        blocks = content if isinstance(content, list) else []
        others = [each for each in blocks if not _is_text(each)]
        if len(others) == len(blocks):
            return others
        return [{"type": "text", "text": jsontext.dump(structure).decode()}, *others]

    def block(self, block: Json) -> Json:
        """Minimise a content block."""
        if not isinstance(block, dict):
            return block
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str):
            return {"type": "text", "text": self.removed(members.kind(block))}
        return {**self.known(block, members.BLOCK), "text": self.text(text)}

    def document(self, entry: Json) -> Json:
        """Minimise one entry of `contents`."""
        if not isinstance(entry, dict):
            return entry
        text = entry.get("text")
        if isinstance(text, str):
            return {**self.known(entry, members.DOCUMENT), "text": self.text(text)}
        return {"uri": entry.get("uri"), "text": self.removed("blob")}

    def message(self, message: Json) -> Json:
        """Minimise one message of a prompt."""
        if not isinstance(message, dict):
            return message
        content = message.get("content")
        rest = self.known(message, members.MESSAGE)
        if isinstance(content, list):
            return {**rest, "content": [self.block(block) for block in content]}
        return {**rest, "content": self.block(content)}

    def removed(self, what: str) -> str:
        """Count what can't be minimised, like bytes and links: policy asked for it, so it stays."""
        self.tally.count += 1
        return f"[a {what} was removed by policy]"

    def text(self, text: str) -> str:
        """Minimise a text."""
        if text.lstrip(_SPACE).startswith(("{", "[")):  # nothing else has fields
            try:
                value = jsontext.parse_result(text.encode())
            except (JsonError, UnicodeEncodeError):
                value = None
            if isinstance(value, dict | list):
                return self.json(text, value)
        if not self.is_structured:
            self.tally.count += 1
            return "[text removed by policy: its fields can't be told apart]"
        for told in sorted(set(self.tally.told), key=len, reverse=True):
            text = text.replace(told, _MASK)
        return text

    def json(self, text: str, value: Json) -> str:
        """Minimise a text that is JSON."""
        if not self.is_structured:  # beside a structure, a text is the structure's own
            value = self.sifted(value)
            if value is None:
                return "[text removed by policy: its rows can't be told apart]"
        inner = _Tally(0, self.tally.told)
        kept = jsontext.dump(self.value(value, inner)).decode()
        self.tally.count += 0 if self.is_structured else inner.count
        return kept if inner.count or self.output.rows else text

    def value(self, value: Json, tally: _Tally) -> Json:
        """Minimise a structure."""
        if self.output.keep:
            value = _keep(value, _patterns(self.output.keep), tally)
        for redaction in self.output.redact:
            value = _redact(value, redaction, self.digest, tally)
        return value


_PARTS: Final[Mapping[str, Callable[[_Minimising, Json], Json]]] = {
    "content": _Minimising.block,
    "contents": _Minimising.document,
    "messages": _Minimising.message,
}


@lru_cache(maxsize=256)  # what the rules in force keep
def _patterns(keep: tuple[str, ...]) -> Sequence[Sequence[str]]:
    return [jsontext.tokens(pattern) for pattern in keep]


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


def _is_text(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "text"


def _note(value: Json, tally: _Tally) -> None:
    tally.count += 1
    _texts(value, tally.told)


def _texts(value: Json, told: list[str]) -> None:
    found: list[Json] = [value]
    for each in found:  # grows while it is gone through
        if isinstance(each, str):
            if len(each) >= _SHORTEST_TOLD:
                told.append(each)
        elif isinstance(each, dict):
            found += each.values()
        elif isinstance(each, list):
            found += each


def of_case(output: OutputPolicy, sensitive_results: Mapping[str, Sensitivity]) -> OutputPolicy:
    """Return what is kept back by policy, and by a contract that calls fields secret."""
    secret = [path for path, kind in sensitive_results.items() if kind is Sensitivity.SECRET]
    return with_secrets(output, secret)


def fingerprint(output: OutputPolicy) -> str:
    """Return what tells whether a result was minimised by the same: `sha256:…`."""
    redact: list[Json] = [[each.path, each.form.value] for each in output.redact]
    rows: list[Json] = [[each.path, each.where, each.rule] for each in output.rows]
    return jsontext.digest([[*output.keep], redact, *([rows] if rows else [])])


def with_secrets(output: OutputPolicy, secret_paths: Sequence[str]) -> OutputPolicy:
    """Add the contract's secret result paths to what the policy redacts."""
    if not secret_paths:
        return output
    masks = tuple(Redaction(path=path, form=RedactAs.MASK) for path in secret_paths)
    return replace(output, redact=(*output.redact, *masks))

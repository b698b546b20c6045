"""The body of a `retrieval`: what a read brought into play, and which rule kept what back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.events.envelope import capped
from gateway.types.decisions import Decision, RowCount
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Contract

_NAME: Final = 128  # characters of a version or part
_URI: Final = 2_000
_QUERY: Final = 1_000
_SOURCES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One retrieved document: what is needed to find the same text again, never the text."""

    id: str
    version: str = ""
    digest: str = ""
    chunk: str = ""


def described(
    documents: Sequence[Document],
    sources: Sequence[str],
    rows: RowCount,
    *,
    decision: Decision,
    contract: Contract | None,
    asked: Callable[[], Json],
) -> JsonObject:
    """Return the members beside those of every event about a tool.

    `asked` returns the arguments as they may be kept.
    """
    listed: list[Json] = [_document(found) for found in documents]
    body: JsonObject = {
        "count": len(documents),
        "documents": capped(listed) if listed else [],
        "kept": list(decision.output.keep),
    }
    retrieval = contract.retrieval if contract is not None else None
    if retrieval is not None and retrieval.query:
        body["query"] = _query(asked(), retrieval.query)
    if sources:
        body["sources"] = list[Json](dict.fromkeys(each[:_URI] for each in sources))[:_SOURCES]
    if decision.output.rows:
        body["filters"] = [
            {"rule": each.rule, "path": each.path, "where": each.where}
            for each in decision.output.rows
        ]
        body["rows"] = {"kept": rows.kept, "removed": rows.removed, "failed": rows.failed}
    return body


def _document(found: Document) -> JsonObject:
    said: JsonObject = {
        "id": found.id[:_URI],
        "version": found.version[:_NAME],
        "digest": found.digest,
    }
    return said | {"chunk": found.chunk[:_NAME]} if found.chunk else said


def _query(arguments: Json, pointer: JsonPointer) -> str:
    """Return what was asked for, or an empty text."""
    try:
        asked = jsontext.get(arguments, pointer)
    except KeyError:
        return ""
    return (asked if isinstance(asked, str) else jsontext.dump(asked).decode())[:_QUERY]

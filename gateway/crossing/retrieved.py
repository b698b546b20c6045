"""What an answer brought into play, as its event tells it: documents by name, never their text."""

from datetime import datetime
from typing import Final

from gateway.case import Case
from gateway.crossing.books import Books, documents_of, yielded
from gateway.events import build
from gateway.events.redact import Redactor
from gateway.events.retrievals import Document
from gateway.results import documents
from gateway.types.calls import Method
from gateway.types.decisions import RowCount
from gateway.types.events import Event
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.tools import Effect
from gateway.types.values import maker, value

# Names of the module for what every call asks: to find a member takes longer than to compare it.
_OK: Final = Status.OK
_READ: Final = Effect.READ
_CALL_TOOL: Final = Method.CALL_TOOL


@value
class Retrieved:
    """The documents of one read, where they are from, and what became of its rows."""

    documents: list[Document]
    sources: list[str]
    rows: RowCount

    def event(self, record: CallRecord, redactor: Redactor, *, id: str, at: datetime) -> Event:
        """Return the event that tells it."""
        return build.retrieval(
            record,
            redactor,
            id=id,
            at=at,
            documents=self.documents,
            sources=self.sources,
            rows=self.rows,
        )


_retrieved = maker(Retrieved)


def retrieved(case: Case, outcome: Answer | Refusal, books: Books) -> Retrieved | None:
    """Name what an answer brought into play; None when it retrieved nothing."""
    if not isinstance(outcome, Answer) or outcome.status is not _OK:
        return None  # what failed, or asks back, brought nothing into play
    if case.effect is not _READ:
        return None
    method, contract = case.call.method, case.contract
    if method is _CALL_TOOL:
        if contract.retrieval is None and not contract.yields:  # of most tools nothing is said
            return _retrieved(documents=[], sources=[], rows=outcome.rows)
        found = _tool(case, outcome.result, books)
    elif method is Method.READ_RESOURCE:
        found = _resource(case, outcome.result, books)
    else:
        return None
    has_sources = method is not _CALL_TOOL or contract.retrieval is not None
    sources = [each.id for each in found] if has_sources else []
    return _retrieved(documents=found, sources=sources, rows=outcome.rows)


def _tool(case: Case, result: JsonObject, books: Books) -> list[Document]:
    """Name the documents that the contract says there are, or else the identifiers."""
    retrieval = case.contract.retrieval
    if retrieval is None or retrieval.documents is None:
        return [Document(id=str(each.value)) for each in yielded(case, result)]
    text = books.redactor.text
    return [
        Document(id=text(each.source), version=text(each.version), chunk=text(each.chunk))
        for each in documents_of(case, result)
    ]


def _resource(case: Case, result: JsonObject, books: Books) -> list[Document]:
    text, tenant = books.redactor.text, case.actor.tenant
    return [
        Document(
            id=text(each.uri),
            version=text(each.version),
            digest=books.digest(tenant, each.content),
        )
        for each in documents.found(result, case.tool.definition)
    ]

"""Where arguments come from and what results bring, between the file and the values, both ways."""

from gateway.contracts import sources
from gateway.contracts.entry import Entry, ProvenanceSection, RetrievalSection
from gateway.contracts.sections import said
from gateway.types.json import Json, JsonObject
from gateway.types.tools import (
    Contract,
    DocumentPaths,
    Form,
    ProvenanceRule,
    Retrieval,
    SourceTrust,
    Yield,
)

# --- from the file ------------------------------------------------------------------------------


def rule(pointer: str, section: ProvenanceSection) -> ProvenanceRule:
    """Return where the argument at a pointer must come from."""
    relate = section.relate.same_record_as if section.relate is not None else None
    return ProvenanceRule(
        pointer=pointer,
        sources=tuple(map(sources.parse, section.from_)),
        on_fail=section.on_fail,
        same_record_as=relate or section.same_record_as or "",
        max_of=section.max_of,
        trust_min=section.trust_min,
    )


def yields(entry: Entry) -> tuple[Yield, ...]:
    """Return what results bring into play, each with who can write it."""
    return tuple(
        Yield(type=one.type, path=one.path, trust=one.trust or entry.results.trust, form=one.as_)
        for one in entry.yields
    )


def retrieval(section: RetrievalSection | None) -> Retrieval | None:
    """Return what a read asks for and returns as evidence."""
    if section is None:
        return None
    found = section.documents
    documents = None
    if found is not None:
        documents = DocumentPaths(
            path=found.path,
            source=found.source or "",
            version=found.version or "",
            chunk=found.chunk or "",
        )
    return Retrieval(query=section.query or "", documents=documents)


# --- into a file --------------------------------------------------------------------------------


def rule_section(one: ProvenanceRule) -> JsonObject:
    """Return a rule as a file has it."""
    accepted: list[Json] = [sources.written(each) for each in one.sources]
    relate: JsonObject = {"same_record_as": one.same_record_as} if one.same_record_as else {}
    return said(
        **{"from": accepted},
        on_fail=one.on_fail.value,
        relate=relate,
        max_of=one.max_of,
        trust_min=None if one.trust_min is SourceTrust.EXTERNAL else one.trust_min.value,
    )


def yield_section(one: Yield, contract: Contract) -> JsonObject:
    """Return what a result brings into play as a file has it."""
    return said(
        type=one.type,
        path=one.path,
        trust=None if one.trust is contract.result_trust else one.trust.value,
        **{"as": None if one.form is Form.ID else one.form.value},
    )


def retrieval_section(one: Retrieval | None) -> JsonObject:
    """Return what a read asks for and returns as a file has it."""
    if one is None:
        return {}
    found, documents = one.documents, JsonObject()
    if found is not None:
        inner = said(source=found.source, version=found.version, chunk=found.chunk)
        documents = {"path": found.path, **inner}
    return said(query=one.query, documents=documents)


def trust_section(trust: SourceTrust) -> str | None:
    """Return who can write results as a file has it, unless that goes without saying."""
    return None if trust is SourceTrust.TENANT else trust.value

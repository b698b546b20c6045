"""From a contract file to contracts: every fault of the file at once, each with its place."""

from itertools import chain

from gateway import yamltext
from gateway.contracts import approval, guarantees, origins
from gateway.contracts.entry import ContractFile, Entry
from gateway.contracts.faults import definition, faults
from gateway.contracts.writing import dump
from gateway.errors import FilesError
from gateway.types.audit import Audit
from gateway.types.tools import Contract, Ensure, RiskRaise
from gateway.yamltext import YamlDocument

__all__ = ["dump", "load"]


def load(text: str, *, file: str) -> tuple[Contract, ...]:
    """Return the contracts of a file in its order, or raise `FileError` with place and mend."""
    document = yamltext.load(text, file=file)
    written = yamltext.validate(ContractFile, document, file=file)
    found = tuple(
        chain.from_iterable(
            faults(name, entry, document, file=file) for name, entry in written.tools.items()
        )
    )
    if found:
        raise FilesError(sorted(found, key=lambda fault: (fault.line, fault.column)))
    return tuple(_contract(name, entry, document, file) for name, entry in written.tools.items())


def _contract(name: str, entry: Entry, document: YamlDocument, file: str) -> Contract:
    return Contract(
        tool=name,
        pin=entry.pin,
        effect=entry.effect,
        risk=entry.risk,
        definition=definition(document, name),
        reviewed=entry.reviewed,
        place=f"{file}:{document.key_place(('tools', name))[0]}",
        scopes=frozenset(entry.scopes),
        raises=tuple(
            RiskRaise(when=rule.when, reason=rule.reason, risk=rule.risk, effect=rule.effect)
            for rule in entry.risk_when
        ),
        sensitive=entry.sensitive,
        sensitive_results=entry.results.sensitive,
        timeout_s=entry.failure.timeout,
        max_result_bytes=entry.results.max_bytes,
        trusted_text=entry.results.trusted_text,
        lenient_output=entry.results.lenient,
        ensure=tuple(Ensure(when=one.when, message=one.message) for one in entry.outcome.ensure),
        provenance=tuple(origins.rule(where, said) for where, said in entry.provenance.items()),
        yields=origins.yields(entry),
        result_trust=entry.results.trust,
        when_tainted=entry.when_tainted,
        retrieval=origins.retrieval(entry.retrieval),
        idempotency=guarantees.idempotency(entry),
        readback=guarantees.readback(entry.outcome.readback),
        old=guarantees.call(entry.outcome.old),
        checksum=guarantees.checksum(entry),
        compensation=guarantees.compensation(entry),
        object=guarantees.written(entry),
        approval=approval.notes(entry.approval),
        audit=Audit(level=entry.audit.level, seal=entry.audit.seal),
    )

"""From a contract file to contracts: every fault of the file at once, each with its place."""

from collections.abc import Iterator, Mapping
from itertools import chain

from gateway import yamltext
from gateway.contracts.entry import ContractFile, Entry, ProvenanceSection, operands
from gateway.contracts.pins import pin
from gateway.contracts.writing import dump
from gateway.errors import FileError, FilesError
from gateway.types.json import Json
from gateway.types.tools import (
    Contract,
    Ensure,
    ProvenanceRule,
    RiskRaise,
    Source,
    SourceKind,
    Yield,
)
from gateway.yamltext import Path, YamlDocument

__all__ = ["dump", "load"]


def load(text: str, *, file: str) -> tuple[Contract, ...]:
    """Return the contracts of a file in its order, or raise `FileError` with place and mend."""
    document = yamltext.load(text, file=file)
    written = yamltext.validate(ContractFile, document, file=file)
    faults = tuple(
        chain.from_iterable(
            _faults(name, entry, document, file) for name, entry in written.tools.items()
        )
    )
    if faults:
        raise FilesError(sorted(faults, key=lambda fault: (fault.line, fault.column)))
    return tuple(_contract(name, entry, document, file) for name, entry in written.tools.items())


def _faults(name: str, entry: Entry, document: YamlDocument, file: str) -> Iterator[FileError]:
    """Yield what the types of the single keys can't show."""
    at: Path = ("tools", name)

    def fault(message: str, path: Path) -> FileError:
        line, column = document.key_place(path)
        return FileError(message, file=file, line=line, column=column)

    server, _, tool = name.partition(".")
    if not server or not tool:
        yield fault(f"`{name}` has to be `server.name`", at)
    elif not name.endswith(f".{entry.definition.get('name')}"):
        yield fault(f"the definition of `{name}` names another tool", (*at, "definition"))
    if pin(_definition(document, at)) != entry.pin:
        yield fault(
            "pin does not match the definition; review the tool and pin it again with "
            "`weighbridge tools pin`",
            (*at, "pin"),
        )
    for index, rule in enumerate(entry.risk_when):
        if rule.risk is None and rule.effect is None:
            yield fault("names neither `risk` nor `effect`", (*at, "risk_when", index))


def _contract(name: str, entry: Entry, document: YamlDocument, file: str) -> Contract:
    at: Path = ("tools", name)
    return Contract(
        tool=name,
        pin=entry.pin,
        effect=entry.effect,
        risk=entry.risk,
        definition=_definition(document, at),
        reviewed=entry.reviewed,
        place=f"{file}:{document.key_place(at)[0]}",
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
        provenance=tuple(_rule(where, rule) for where, rule in entry.provenance.items()),
        yields=tuple(Yield(type=one.type, path=one.path) for one in entry.yields),
        extra=_extra(document.value, at),
    )


def _definition(document: YamlDocument, at: Path) -> dict[str, Json]:
    """Return the definition as the loader read it: no model has touched its numbers."""
    found = _at(document.value, (*at, "definition"))
    return found if isinstance(found, dict) else {}


def _rule(pointer: str, rule: ProvenanceSection) -> ProvenanceRule:
    return ProvenanceRule(
        pointer=pointer,
        sources=tuple(
            Source(kind=SourceKind(text.partition("(")[0]), operands=operands(text))
            for text in rule.from_
        ),
        on_fail=rule.on_fail,
        same_record_as=rule.same_record_as or "",
    )


# Sections that no step reads in this form; kept as written for those that do.
_KEPT: Mapping[str, tuple[str, ...]] = {
    "idempotency": ("idempotency",),
    "compensation": ("compensation",),
    "readback": ("outcome", "readback"),
    "retryable": ("failure", "retryable"),
}


def _extra(value: Json, at: Path) -> dict[str, Json]:
    found = {name: _at(value, (*at, *path)) for name, path in _KEPT.items()}
    return {name: section for name, section in found.items() if section is not None}


def _at(value: Json, path: Path) -> Json:
    for step in path:
        value = value.get(str(step)) if isinstance(value, dict) else None
    return value

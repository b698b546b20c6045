"""Checks of where arguments have to come from, of what results bring, and of which rows leave."""

from collections.abc import Iterable, Iterator, Mapping

from gateway.jsontext import escape
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_tools import about, may_be_number, schema_at
from gateway.policy.obligations import fields_of
from gateway.policy.rules import RowRule
from gateway.policy.survey import Survey, Surveyed
from gateway.types.json import JsonPointer
from gateway.types.tools import (
    Contract,
    Form,
    ProvenanceRule,
    SourceKind,
    SourceTrust,
    Yield,
)
from gateway.yamltext.models import suggest


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = _yields(survey.contracts)
    for contract in survey.contracts:
        for rule in contract.provenance:
            for name, message, level in _rule(contract, rule, known):
                said = f"`provenance` of `{contract.tool}`: {message}"
                yield about(contract, name, said, level)
        yield from _fields(contract)
    yield from _forms(survey.contracts, known)
    yield from _taint(survey.contracts)
    for each in survey.rules:
        yield from _rows(each)
        yield from _documents(each)


def _yields(contracts: Iterable[Contract]) -> dict[str, list[tuple[Contract, Yield]]]:
    found: dict[str, list[tuple[Contract, Yield]]] = {}
    for contract in contracts:
        for declared in contract.yields:
            found.setdefault(declared.type, []).append((contract, declared))
    return found


# --- where arguments come from ------------------------------------------------------------------


def _rule(
    contract: Contract,
    rule: ProvenanceRule,
    known: Mapping[str, list[tuple[Contract, Yield]]],
) -> Iterator[tuple[str, str, Level]]:
    schema = contract.input_schema
    for pointer in filter(None, (rule.pointer, rule.same_record_as)):
        if schema_at(schema, pointer) is None:
            yield "unknown-argument", f"there is no argument `{pointer}`", Level.ERROR
    types = _types(rule)
    for each in types:
        if each not in known:
            yield (
                "unknown-source",
                f"no result yields `{each}`{suggest(each, [*known])}",
                Level.WARNING,
            )
    found = [one for each in types for one in known.get(each, ())]
    if found and all(declared.trust.rank > rule.trust_min.rank for _, declared in found):
        message = f"no result that yields {_named(types)} is trusted as `{rule.trust_min}`"
        yield "never-trusted", message, Level.WARNING
    if rule.max_of:
        yield from _most(contract, rule, types, known)
    if found and rule.same_record_as:
        yield from _relation(contract, rule, found)


def _most(
    contract: Contract,
    rule: ProvenanceRule,
    types: tuple[str, ...],
    known: Mapping[str, list[tuple[Contract, Yield]]],
) -> Iterator[tuple[str, str, Level]]:
    """Find what has no most: a type whose values are kept as ids has no order."""
    for each in types:
        if any(declared.form is not Form.NUMBER for _, declared in known.get(each, ())):
            message = f"`{each}` has a most only where it is yielded `as: number`"
            yield "not-a-number", message, Level.WARNING
    schema = schema_at(contract.input_schema, rule.pointer)
    if schema is not None and not may_be_number(schema):
        message = f"argument `{rule.pointer}` is no number and has no `max_of`"
        yield "not-a-number", message, Level.WARNING


def _relation(
    contract: Contract, rule: ProvenanceRule, found: list[tuple[Contract, Yield]]
) -> Iterator[tuple[str, str, Level]]:
    """Find relations that no result can show, as none brings both values."""
    other = next(
        (each for each in contract.provenance if each.pointer == rule.same_record_as), None
    )
    partners = frozenset(_types(other)) if other is not None else None
    for source, _ in found:
        brought = {declared.type for declared in source.yields}
        if partners is None or not partners or brought & partners:
            return
    message = (
        f"no result yields {_named(_types(rule))} together with what `{rule.same_record_as}` "
        "comes from, so they never share a record"
    )
    yield "never-related", message, Level.WARNING


def _types(rule: ProvenanceRule) -> tuple[str, ...]:
    return tuple(
        operand
        for source in rule.sources
        if source.kind is SourceKind.RESULTS
        for operand in source.operands
    )


def _named(types: Iterable[str]) -> str:
    return " or ".join(f"`{each}`" for each in types)


# --- what results bring -------------------------------------------------------------------------


def _fields(contract: Contract) -> Iterator[Finding]:
    for section, pointer in _read(contract):
        if schema_at(contract.output_schema, pointer) is None:
            message = f"`{section}`: results of `{contract.tool}` have no field `{pointer}`"
            yield about(contract, "unknown-field", message)
    retrieval = contract.retrieval
    if retrieval is None or not retrieval.query:
        return
    if schema_at(contract.input_schema, retrieval.query) is None:
        message = f"`retrieval`: `{contract.tool}` has no argument `{retrieval.query}`"
        yield about(contract, "unknown-argument", message)


def _read(contract: Contract) -> Iterator[tuple[str, JsonPointer]]:
    if contract.output_schema is None:
        return
    for declared in contract.yields:
        yield "yields", declared.path
    paths = contract.retrieval.documents if contract.retrieval is not None else None
    if paths is not None:
        yield "retrieval", paths.path
        for inner in filter(None, (paths.source, paths.version, paths.chunk)):
            yield "retrieval", paths.path + inner


def _forms(
    contracts: Iterable[Contract], known: Mapping[str, list[tuple[Contract, Yield]]]
) -> Iterator[Finding]:
    """Find types that are the same by other rules in other results."""
    for contract in contracts:
        for declared in contract.yields:
            first, before = known[declared.type][0]
            if before.form is not declared.form:
                message = (
                    f"`{declared.type}` is yielded `as: {declared.form}` by `{contract.tool}` and "
                    f"`as: {before.form}` by `{first.tool}`"
                )
                yield about(contract, "two-forms", message)


def _taint(contracts: tuple[Contract, ...]) -> Iterator[Finding]:
    if any(each.result_trust is SourceTrust.EXTERNAL for each in contracts):
        return
    for contract in contracts:
        if contract.when_tainted is not None:
            message = (
                f"`when_tainted` of `{contract.tool}` never counts: no contract says "
                "`results: {trust: external}`"
            )
            yield about(contract, "never-tainted", message)


# --- which rows leave ---------------------------------------------------------------------------


def _rows(each: Surveyed) -> Iterator[Finding]:
    output = each.rule.output
    for index, rows in enumerate(output.rows if output is not None else ()):
        path = ("output", "rows", index, "path")
        for contract in each.tools:
            schema = contract.output_schema
            if schema is not None and schema_at(schema, rows.path) is None:
                message = f"results of `{contract.tool}` have no field `{rows.path}`"
                yield each.finding(Level.ERROR, "unknown-field", message, *path)
            elif schema is None or contract.lenient_output:
                message = (
                    f"nobody has said where results of `{contract.tool}` have their rows: what has "
                    f"none at `{rows.path}` does not leave"
                )
                yield each.finding(Level.INFO, "unchecked", message, *path)
            yield from _fields_of_rows(each, contract, index, rows)
        if "row" not in rows.where:
            message = "the condition looks at no `row`, so all of them leave or none"
            yield each.finding(Level.WARNING, "no-row", message, *path[:-1], "where")


def _fields_of_rows(
    each: Surveyed, contract: Contract, index: int, rows: RowRule
) -> Iterator[Finding]:
    """Find members that no row has: no row would leave, for a slip of the pen."""
    schema = contract.output_schema
    found = schema_at(schema, rows.path) if schema is not None else None
    if not isinstance(found, dict):
        return
    row = f"{rows.path}/*" if found.get("type") == "array" else rows.path
    for name in fields_of(rows.where) or ():
        if schema_at(schema, f"{row}/{escape(name)}") is None:
            message = f"rows of `{contract.tool}` have no field `{name}`, so none of them leaves"
            path = ("output", "rows", index, "where")
            yield each.finding(Level.ERROR, "unknown-field", message, *path)


def _documents(each: Surveyed) -> Iterator[Finding]:
    output = each.rule.output
    if output is None or output.documents is None:
        return
    for contract in each.tools:
        if contract.retrieval is None or contract.retrieval.documents is None:
            message = (
                f"the contract of `{contract.tool}` does not say where its documents are "
                "(`retrieval.documents`), so nothing of its results leaves"
            )
            yield each.finding(Level.WARNING, "no-documents", message, "output", "documents")

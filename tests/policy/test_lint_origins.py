"""Checks of where arguments come from, what results bring, and which rows leave."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.policy import lint_origins
from gateway.policy.survey import survey
from gateway.types.json import JsonObject
from gateway.types.tools import (
    Contract,
    DocumentPaths,
    Effect,
    Form,
    OnFail,
    ProvenanceRule,
    Retrieval,
    Source,
    SourceKind,
    SourceTrust,
    WhenTainted,
    Yield,
)
from tests.policy.example import INTEGER, TEXT, contract, files

ROW: JsonObject = {"type": "object", "properties": {"id": TEXT, "total": INTEGER, "v": TEXT}}
ROWS: JsonObject = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": ROW}, "n": INTEGER},
}
FIND = replace(
    contract("crm.find", {"q": TEXT}, output=ROWS),
    yields=(
        Yield(type="crm.id", path="/rows/*/id"),
        Yield(type="crm.total", path="/rows/*/total", form=Form.NUMBER),
    ),
)
OTHER = replace(contract("crm.other", {}, output=ROWS), yields=(Yield(type="crm.n", path="/n"),))
PAY = contract("crm.pay", {"id": TEXT, "n": INTEGER, "to": TEXT}, effect=Effect.WRITE)


def a_rule(pointer: str = "/id", *types: str, **changes: Any) -> ProvenanceRule:
    source = Source(kind=SourceKind.RESULTS, operands=types or ("crm.id",))
    return ProvenanceRule(pointer=pointer, sources=(source,), on_fail=OnFail.DENY, **changes)


def told(*contracts: Contract, rules: str = "rules: []") -> list[str]:
    view = survey(files(rules), contracts, ())
    return [f"{each.level} {each.check}: {each.message}" for each in lint_origins.check(view)]


def paying(*rules: ProvenanceRule) -> list[str]:
    return told(FIND, OTHER, replace(PAY, provenance=rules))


def test_what_can_come_from_somewhere_has_no_findings() -> None:
    assert (
        paying(
            a_rule(),
            a_rule("/n", "crm.total", max_of=True, same_record_as="/id"),
            a_rule("/to", trust_min=SourceTrust.TENANT),
        )
        == []
    )


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (a_rule("/idd"), "error unknown-argument: `provenance` of `crm.pay`: there is no argument"),
        (a_rule(same_record_as="/x"), "error unknown-argument: `provenance` of `crm.pay`"),
        (a_rule("/id", "crm.idd"), "no result yields `crm.idd`; did you mean `crm.id`?"),
        (a_rule(trust_min=SourceTrust.SYSTEM),
         "no result that yields `crm.id` is trusted as `system`"),
        (a_rule("/n", max_of=True), "`crm.id` has a most only where it is yielded `as: number`"),
        (a_rule("/id", "crm.total", max_of=True), "argument `/id` is no number"),
    ],
)  # fmt: skip
def test_what_can_never_be_shown_is_named(rule: ProvenanceRule, found: str) -> None:
    (said,) = paying(rule)
    assert found in said


def test_values_that_no_result_brings_together_never_share_a_record() -> None:
    (said,) = paying(a_rule(), a_rule("/n", "crm.n", same_record_as="/id"))
    assert "never-related" in said
    assert "together with what `/id` comes from" in said


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"yields": (Yield(type="x", path="/gone"),)},
         "warning unknown-field: `yields`: results of `crm.find` have no field `/gone`"),
        ({"retrieval": Retrieval(query="/qq")}, "`crm.find` has no argument `/qq`"),
        ({"retrieval": Retrieval(documents=DocumentPaths(path="/rows/*", version="/w"))},
         "have no field `/rows/*/w`"),
    ],
)  # fmt: skip
def test_fields_that_are_never_there_are_named(change: dict[str, Any], found: str) -> None:
    (said,) = told(replace(FIND, **change))
    assert found in said


def test_fields_that_are_there_or_may_be_are_fine() -> None:
    paths = DocumentPaths(path="/rows/*", source="/id", version="/v")
    retrieval = Retrieval(query="/q", documents=paths)
    assert told(replace(FIND, retrieval=retrieval)) == []
    assert told(replace(contract("crm.x", {}), yields=(Yield(type="a", path="/any"),))) == []


def test_a_type_with_two_forms_is_named_once() -> None:
    other = replace(OTHER, yields=(Yield(type="crm.id", path="/n", form=Form.NUMBER),))
    (said,) = told(FIND, other)
    assert "`crm.id` is yielded `as: number` by `crm.other` and `as: id` by `crm.find`" in said


def test_a_taint_that_nothing_brings_is_named() -> None:
    careful = replace(PAY, when_tainted=WhenTainted.DENY)
    (said,) = told(FIND, careful)
    assert "never-tainted" in said
    assert told(replace(FIND, result_trust=SourceTrust.EXTERNAL), careful) == []


def filtered(output: str, *contracts: Contract) -> list[str]:
    rules = f"rules: [{{id: a, decision: allow, output: {output}}}]"
    return told(*(contracts or (FIND,)), rules=rules)


def test_rows_that_are_never_there_are_an_error() -> None:
    assert filtered("{rows: [{path: /rows, where: row.id != ''}]}") == []
    (said,) = filtered("{rows: [{path: /row, where: row.id != ''}]}")
    assert said == "error unknown-field: results of `crm.find` have no field `/row`"


def test_a_member_that_no_row_has_is_an_error() -> None:
    (said,) = filtered("{rows: [{path: /rows, where: row.idd != '' && row.total > 0}]}")
    assert said == (
        "error unknown-field: rows of `crm.find` have no field `idd`, so none of them leaves"
    )
    assert filtered("{rows: [{path: /rows, where: size(row) > 0}]}") == []
    one: JsonObject = {"type": "object", "properties": {"row": ROW}}
    single = contract("crm.get", {}, output=one)
    assert filtered("{rows: [{path: /row, where: row.id != ''}]}", single) == []


def test_rows_of_results_that_nobody_described_are_told() -> None:
    rows = "{rows: [{path: /rows, where: row.id != ''}]}"
    for each in (contract("crm.x", {}), replace(FIND, lenient_output=True)):
        (said,) = filtered(rows, each)
        assert said.startswith("info unchecked")


def test_a_condition_that_looks_at_no_row_is_told() -> None:
    (said,) = filtered("{rows: [{path: /rows, where: identity.tenant == 'acme'}]}")
    assert "looks at no `row`" in said


def test_documents_have_to_be_known() -> None:
    (said,) = filtered("{documents: row.version == '2'}")
    assert "does not say where its documents are" in said
    paths = DocumentPaths(path="/rows/*", version="/v")
    known = replace(FIND, retrieval=Retrieval(documents=paths))
    assert filtered("{documents: row.version == '2'}", known) == []

"""Which tools bring a caller what he lacks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from gateway.crossing import bringing
from gateway.types.tools import Contract, DocumentPaths, Effect, Retrieval, Yield
from tests.helpers.cases import ALLOW_ALL, a_contract, a_definition, a_revision, a_tool, an_actor

NOW = datetime(2026, 11, 30, tzinfo=UTC)
IDS = (Yield(type="crm.id", path="/id"),)
READS = Retrieval(documents=DocumentPaths(path="/hits/*"))


def a_read(name: str, **changes: Any) -> Contract:
    return a_contract(a_tool(a_definition(name=name)), **({"yields": IDS} | changes))


def of_ids(*contracts: Contract, policy: str = ALLOW_ALL) -> Sequence[str]:
    revision = a_revision(contracts, policy)
    return bringing.of_types(revision, an_actor(), ["crm.id"], now=NOW)


def test_reads_that_bring_a_type_are_named() -> None:
    other = a_read("other", yields=(Yield(type="crm.mail", path="/mail"),))
    assert of_ids(a_read("find"), other, a_read("get")) == ("crm.find", "crm.get")
    assert len(of_ids(*(a_read(f"t{number}") for number in range(9)))) == 3


def test_a_tool_that_its_caller_does_not_find_in_his_list_is_not_named() -> None:
    assert of_ids(a_read("find", scopes=frozenset({"crm:all"}))) == ()
    assert of_ids(a_read("find", effect=Effect.WRITE)) == ()
    assert of_ids(a_read("find", reviewed=False)) == ()
    closed = "rules:\n  - {id: a, decision: allow, match: {tools: ['*'], roles: {any: [boss]}}}\n"
    assert of_ids(a_read("find"), policy=closed) == ()


def test_reads_that_bring_evidence_are_named() -> None:
    revision = a_revision([a_read("find"), a_read("read", retrieval=READS)], ALLOW_ALL)
    assert bringing.of_evidence(revision, an_actor(), now=NOW) == ("crm.read",)

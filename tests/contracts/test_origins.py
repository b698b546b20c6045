"""Where arguments come from and what results bring, from the file and back."""

from dataclasses import replace

from gateway.contracts import files
from gateway.contracts.origins import retrieval_section, rule_section
from gateway.contracts.pins import pin
from gateway.types.tools import (
    DocumentPaths,
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

TEXT = f"""\
tools:
  notes.search:
    pin: {pin({"name": "search"})}
    effect: read
    risk: low
    results: {{trust: external}}
    yields:
      - {{type: crm.id, path: /a/*/id}}
      - {{type: a.total, path: /t, as: number, trust: system}}
    when_tainted: approve
    retrieval: {{query: /q, documents: {{path: /a/*, source: /id, version: /v, chunk: /c}}}}
    definition: {{name: search}}
"""


def test_what_results_bring_is_read_with_who_can_write_it() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    assert contract.result_trust is SourceTrust.EXTERNAL
    assert contract.yields == (
        Yield(type="crm.id", path="/a/*/id", trust=SourceTrust.EXTERNAL),
        Yield(type="a.total", path="/t", trust=SourceTrust.SYSTEM, form=Form.NUMBER),
    )
    assert contract.when_tainted is WhenTainted.APPROVE
    assert contract.retrieval == Retrieval(
        query="/q",
        documents=DocumentPaths(path="/a/*", source="/id", version="/v", chunk="/c"),
    )


def test_what_was_read_is_written_without_loss() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    (again,) = files.load(files.dump([contract]), file="c.yaml")
    assert replace(again, place="") == replace(contract, place="")


def test_only_what_was_said_is_written() -> None:
    source = Source(kind=SourceKind.ACTOR, operands=("user",))
    rule = ProvenanceRule(pointer="/u", sources=(source,), on_fail=OnFail.LOG)
    assert rule_section(rule) == {"from": ["actor(user)"], "on_fail": "log"}
    assert retrieval_section(Retrieval(query="/q")) == {"query": "/q"}
    assert retrieval_section(None) == {}
    whole = Retrieval(documents=DocumentPaths(path="", source="/id"))
    assert retrieval_section(whole) == {"documents": {"path": "", "source": "/id"}}

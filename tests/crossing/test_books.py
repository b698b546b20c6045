from gateway.crossing.books import documents_of, yielded
from gateway.results.evidence import Reference
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.tools import DocumentPaths, Effect, Form, Retrieval, SourceTrust, Yield
from tests.helpers.cases import a_call, a_case, a_contract, a_resource


def test_values_of_one_item_share_a_record() -> None:
    contract = a_contract(yields=(Yield(type="id", path="/*/id"), Yield(type="mail", path="/*/m")))
    rows: JsonObject = {"structuredContent": {"a": {"id": 1, "m": "x"}, "b": {"id": True}}}
    found = yielded(a_case(contract=contract), rows)
    assert [(each.type, each.value) for each in found] == [("id", 1), ("mail", "x")]
    assert {each.record for each in found} == {"call_1/0"}


def test_a_value_has_the_trust_and_form_that_were_declared() -> None:
    declared = Yield(type="total", path="/t", trust=SourceTrust.SYSTEM, form=Form.NUMBER)
    rows: JsonObject = {"structuredContent": {"t": 1.5}}
    (found,) = yielded(a_case(contract=a_contract(yields=(declared,))), rows)
    assert (found.trust, found.form, found.value) == (SourceTrust.SYSTEM, Form.NUMBER, 1.5)


def test_the_result_of_a_task_brings_what_its_call_would_have() -> None:
    contract = a_contract(yields=(Yield(type="id", path="/id"),))
    inner: JsonObject = {"content": [{"type": "text", "text": '{"id": "c-1"}'}]}
    case = a_case(contract=contract, call=a_call(method=Method.GET_TASK))
    assert [each.value for each in yielded(case, {"status": "completed", "result": inner})] == [
        "c-1"
    ]
    assert yielded(case, {"status": "working"}) == []


def test_documents_are_named_as_the_contract_says() -> None:
    paths = DocumentPaths(path="/hits/*", source="/doc", version="/v")
    contract = a_contract(retrieval=Retrieval(documents=paths))
    hits: JsonObject = {"structuredContent": {"hits": [{"doc": "a.md", "v": 2, "text": "secret"}]}}
    case = a_case(contract=contract, effect=Effect.READ)
    assert documents_of(case, hits) == [Reference(source="a.md", version="2")]
    assert documents_of(a_case(contract=contract, effect=Effect.WRITE), hits) == []
    assert documents_of(a_case(effect=Effect.READ), hits) == []


def test_a_resource_is_its_own_document() -> None:
    case = a_case(
        tool=a_resource(),
        contract=a_contract(),
        call=a_call(method=Method.READ_RESOURCE),
        effect=Effect.READ,
    )
    contents: JsonObject = {"contents": [{"uri": "crm://notes/1", "text": "x"}]}
    assert documents_of(case, contents) == [Reference(source="crm://notes/1")]

"""What an answer brought into play."""

from gateway.crossing.retrieved import retrieved
from gateway.types.calls import Method
from gateway.types.decisions import RowCount
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.tools import DocumentPaths, Effect, Retrieval, Yield
from tests.helpers.cases import a_call, a_case, a_contract, a_resource, a_revision
from tests.helpers.pipelines import Answering, Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

BOOKS = a_pipeline(Shelf(()), Law(a_revision()), Answering(), Log()).record
HITS: JsonObject = {"structuredContent": {"hits": [{"doc": "a", "v": 2}, {"doc": "a", "v": 3}]}}
PATHS = DocumentPaths(path="/hits/*", source="/doc", version="/v")


def test_documents_are_told_where_the_contract_says_there_are_some() -> None:
    case = a_case(contract=a_contract(retrieval=Retrieval(documents=PATHS)), effect=Effect.READ)
    rows = RowCount(kept=2, removed=1)
    found = retrieved(case, Answer(result=HITS, rows=rows), BOOKS)
    assert found is not None
    assert [(each.id, each.version) for each in found.documents] == [("a", "2"), ("a", "3")]
    assert (found.sources, found.rows) == (["a", "a"], rows)


def test_without_that_identifiers_are_told_and_no_sources() -> None:
    contract = a_contract(yields=(Yield(type="doc", path="/hits/*/doc"),))
    found = retrieved(a_case(contract=contract, effect=Effect.READ), Answer(result=HITS), BOOKS)
    assert found is not None
    assert ([each.id for each in found.documents], found.sources) == (["a", "a"], [])


def test_of_a_tool_of_which_nothing_is_said_its_rows_are_told() -> None:
    rows = RowCount(kept=1)
    case = a_case(effect=Effect.READ)
    found = retrieved(case, Answer(result=HITS, rows=rows), BOOKS)
    assert found is not None
    assert (found.documents, found.sources, found.rows) == ([], [], rows)


def test_a_resource_is_told_with_a_digest_of_what_left() -> None:
    case = a_case(
        tool=a_resource(),
        contract=a_contract(),
        call=a_call(method=Method.READ_RESOURCE),
        effect=Effect.READ,
    )
    found = retrieved(case, Answer(result={"contents": [{"uri": "n://1", "text": "x"}]}), BOOKS)
    assert found is not None
    (document,) = found.documents
    assert (document.id, bool(document.digest), found.sources) == ("n://1", True, ["n://1"])


def test_nothing_is_retrieved_by_a_write_a_question_a_refusal_a_failure_or_a_prompt() -> None:
    read = a_case(effect=Effect.READ)
    assert retrieved(a_case(effect=Effect.WRITE), Answer(result=HITS), BOOKS) is None
    assert retrieved(read, Refusal(status=Status.DENIED, reason="no"), BOOKS) is None
    for status in (Status.INPUT_REQUIRED, Status.TOOL_FAILED):
        assert retrieved(read, Answer(result=HITS, status=status), BOOKS) is None
    prompt = a_case(call=a_call(method=Method.GET_PROMPT), effect=Effect.READ)
    assert retrieved(prompt, Answer(result=HITS), BOOKS) is None

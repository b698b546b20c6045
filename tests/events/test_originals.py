from gateway import jsontext
from gateway.events import originals
from gateway.events.redact import Redactor
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_contract, a_tool

REDACTOR = Redactor(lambda tenant: tenant.encode())
TAGS = {"/code": Sensitivity.SECRET, "/owner/*/name": Sensitivity.PERSONAL}
DATA: JsonObject = {"id": 7, "code": "blue-canary", "owner": [{"name": 'Jo "B" Þór'}]}


def a_text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def kept(original: JsonObject, arguments: JsonObject | None = None) -> str:
    contract = a_contract(a_tool(), sensitive_results=TAGS, sensitive={"/pin": Sensitivity.SECRET})
    value = originals.kept(
        original,
        contract,
        arguments or {},
        redact=lambda each, tags: REDACTOR.value(each, tenant="t", tags=tags),
    )
    return jsontext.dump(value).decode()


def test_a_tagged_field_is_kept_neither_in_the_data_nor_in_a_text_about_it() -> None:
    content: list[Json] = [a_text("issued blue-canary"), a_text("all is well")]
    said = kept({"structuredContent": DATA, "content": content})
    assert "blue-canary" not in said
    assert "Jo " not in said
    assert '"id":7' in said
    assert "all is well" in said


def test_a_tagged_field_is_not_kept_in_a_text_that_is_the_data() -> None:
    written = jsontext.dump(DATA).decode()
    alone: JsonObject = {"content": [a_text(written)]}
    beside: JsonObject = {"structuredContent": 1, "text": written}
    for original in (alone, beside):
        said = kept(original)
        assert "blue-canary" not in said
        assert "Þór" not in said
        assert '\\"id\\":7' in said  # and it is still a text


def test_a_text_without_data_to_know_it_by_is_hidden_as_a_whole() -> None:
    resource: JsonObject = {"type": "resource", "resource": {"uri": "a:b", "text": "the code"}}
    said = kept({"content": [a_text("issued blue-canary"), resource], "isError": True})
    assert "blue-canary" not in said
    assert "the code" not in said
    assert "isError" in said


def test_what_an_argument_must_not_show_is_hidden_where_the_result_repeats_it() -> None:
    original: JsonObject = {"structuredContent": {"echo": "pin 90210"}, "content": [a_text("0")]}
    assert "90210" not in kept(original, {"pin": "90210"})


def test_an_untagged_result_is_kept_but_for_what_has_the_form_of_a_secret() -> None:
    original: JsonObject = {"content": [a_text("token=abcdefgh12345"), a_text("fine")]}
    value = originals.kept(
        original, None, {}, redact=lambda each, tags: REDACTOR.value(each, tags=tags)
    )
    assert "abcdefgh12345" not in str(value)
    assert "fine" in str(value)


def test_what_can_not_be_written_is_not_kept() -> None:
    assert (
        kept({"structuredContent": {"owner": [{"name": ["\ud800"]}]}}) == '{"$redacted":"secret"}'
    )

"""Field minimisation."""

from gateway import jsontext
from gateway.results import minimise
from gateway.types.decisions import OutputPolicy, RedactAs, Redaction
from gateway.types.json import Json, JsonObject


def digest(value: Json) -> str:
    return f"h({value})"


ROWS: JsonObject = {
    "items": [{"id": 1, "name": "Ann", "email": "ann@example.org"}],
    "total": 1,
}
KEEP = OutputPolicy(keep=("/items/*/id", "/items/*/name"))


def test_without_a_policy_nothing_changes() -> None:
    result: JsonObject = {"content": [], "structuredContent": ROWS}
    assert minimise.apply(result, OutputPolicy(), digest).result is result


def test_only_kept_paths_leave() -> None:
    found = minimise.apply({"content": [], "structuredContent": ROWS}, KEEP, digest)
    assert found.result["structuredContent"] == {"items": [{"id": 1, "name": "Ann"}]}
    assert found.count == 2


def test_a_text_block_that_repeats_the_structure_is_minimised_too() -> None:
    text = '{"items":[{"id":1,"name":"Ann","email":"ann@example.org"}],"total":1}'
    block: JsonObject = {"type": "text", "text": text}
    found = minimise.apply({"content": [block], "structuredContent": ROWS}, KEEP, digest)
    assert "ann@example.org" not in str(found.result)


def test_kept_back_values_do_not_leave_in_prose() -> None:
    block: JsonObject = {"type": "text", "text": "Ann (ann@example.org) was found"}
    found = minimise.apply({"content": [block], "structuredContent": ROWS}, KEEP, digest)
    assert found.result["content"] == [{"type": "text", "text": "Ann ([redacted]) was found"}]


def test_prose_without_structure_is_replaced_since_nobody_can_tell() -> None:
    block: JsonObject = {"type": "text", "text": "Ann, ann@example.org"}
    found = minimise.apply({"content": [block]}, KEEP, digest)
    assert "ann@example.org" not in str(found.result)
    assert found.count == 1


def test_a_removed_block_leaves_a_note() -> None:
    """case: OUT-06"""
    block: JsonObject = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    found = minimise.apply({"content": [block], "structuredContent": ROWS}, KEEP, digest)
    assert found.result["content"] == [
        {"type": "text", "text": "[a `image` block was removed by policy]"}
    ]


def test_the_forms_of_redaction() -> None:
    output = OutputPolicy(
        redact=(
            Redaction(path="/items/*/email", form=RedactAs.HASH),
            Redaction(path="/items/*/name", form=RedactAs.MASK),
            Redaction(path="/total", form=RedactAs.REMOVE),
        )
    )
    found = minimise.apply({"content": [], "structuredContent": ROWS}, output, digest)
    assert found.result["structuredContent"] == {
        "items": [{"id": 1, "name": "[redacted]", "email": "h(ann@example.org)"}]
    }


def test_the_received_result_is_never_changed() -> None:
    before = str(ROWS)
    minimise.apply({"content": [], "structuredContent": ROWS}, KEEP, digest)
    assert str(ROWS) == before


def test_every_item_of_a_list_can_be_removed() -> None:
    output = OutputPolicy(redact=(Redaction(path="/items/*", form=RedactAs.REMOVE),))
    found = minimise.apply({"structuredContent": {"items": [1, 2, 3]}}, output, digest)
    assert found.result["structuredContent"] == {"items": []}
    assert found.count == 3


def test_a_document_that_is_json_is_minimised_like_a_structure() -> None:
    entry: JsonObject = {"uri": "crm://1", "text": '{"items":[{"id":1,"mail":"a@x"}]}', "own": 1}
    found = minimise.apply({"contents": [entry]}, KEEP, digest)
    kept = minimise.apply(
        {"structuredContent": {"items": [{"id": 1, "mail": "a@x"}]}}, KEEP, digest
    )
    structure = jsontext.dump(kept.result["structuredContent"]).decode()
    assert found.result["contents"] == [{**entry, "text": structure}]
    assert found.count == kept.count > 0


def test_what_can_not_be_told_apart_leaves_no_document_and_no_message() -> None:
    text: JsonObject = {"type": "text", "text": "Ann, a@x"}
    result: JsonObject = {
        "contents": [{"uri": "a:1", "text": "Ann, a@x"}, {"uri": "a:2", "blob": "QW5u"}],
        "messages": [{"role": "user", "content": text}, {"role": "user", "content": [text]}],
        "completion": {"values": ["Ann"], "total": 1},
    }
    found = minimise.apply(result, KEEP, digest)
    assert "Ann" not in str(found.result)
    assert "QW5u" not in str(found.result)
    assert found.result["completion"] == {"values": []}
    assert found.count == 5
    assert "[a blob was removed by policy]" in str(found.result["contents"])


def test_a_prompts_json_is_minimised_inside() -> None:
    block: JsonObject = {"type": "text", "text": '{"items":[],"mail":"a@x"}'}
    found = minimise.apply({"messages": [{"role": "user", "content": block}]}, KEEP, digest)
    assert "a@x" not in str(found.result)
    assert "removed" not in str(found.result)

"""Field minimisation."""

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.errors import JsonError
from gateway.results import minimise
from gateway.results.minimise import Minimised
from gateway.types.calls import Method
from gateway.types.decisions import OutputPolicy, RedactAs, Redaction, RowCount, RowFilter
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


@given(
    st.text(alphabet=" \n\t\r\x0b\ufeff\xa0x", max_size=3),
    st.sampled_from(["{}", "[]", '[{"id":1}]', "[1", "1", '"{}"']),
)
def test_prose_is_whatever_no_reader_of_json_finds_fields_in(before: str, json: str) -> None:
    text = before + json
    try:
        has_fields = isinstance(jsontext.parse_result(text.encode()), dict | list)
    except JsonError:
        has_fields = False
    policy = OutputPolicy(keep=("/*/id",))
    found = minimise.apply({"content": [{"type": "text", "text": text}]}, policy, digest)
    told = text if has_fields else "[text removed by policy: its fields can't be told apart]"
    assert found.result["content"] == [{"type": "text", "text": told}]


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
    entry: JsonObject = {
        "uri": "crm://1",
        "text": '{"items":[{"id":1,"mail":"a@x"}]}',
        "mimeType": "m/n",
    }
    found = minimise.apply({"contents": [entry]}, KEEP, digest, Method.READ_RESOURCE)
    kept = minimise.apply(
        {"structuredContent": {"items": [{"id": 1, "mail": "a@x"}]}}, KEEP, digest
    )
    structure = jsontext.dump(kept.result["structuredContent"]).decode()
    assert found.result["contents"] == [{**entry, "text": structure}]
    assert found.count == kept.count > 0


def test_what_can_not_be_told_apart_leaves_no_document_and_no_message() -> None:
    text: JsonObject = {"type": "text", "text": "Ann, a@x"}
    entries: JsonObject = {
        "contents": [{"uri": "a:1", "text": "Ann, a@x"}, {"uri": "a:2", "blob": "QW5u"}]
    }
    read = minimise.apply(entries, KEEP, digest, Method.READ_RESOURCE)
    assert "Ann" not in str(read.result)
    assert "QW5u" not in str(read.result)
    assert "[a blob was removed by policy]" in str(read.result["contents"])
    messages: JsonObject = {
        "messages": [{"role": "user", "content": text}, {"role": "user", "content": [text]}]
    }
    got = minimise.apply(messages, KEEP, digest, Method.GET_PROMPT)
    assert "Ann" not in str(got.result)
    values: JsonObject = {"completion": {"values": ["Ann"], "total": 1}}
    completed = minimise.apply(values, KEEP, digest, Method.COMPLETE)
    assert completed.result["completion"] == {"values": []}
    assert (read.count, got.count, completed.count) == (2, 2, 1)


def test_a_prompts_json_is_minimised_inside() -> None:
    block: JsonObject = {"type": "text", "text": '{"items":[],"mail":"a@x"}'}
    messages: JsonObject = {"messages": [{"role": "user", "content": block}]}
    found = minimise.apply(messages, KEEP, digest, Method.GET_PROMPT)
    assert "a@x" not in str(found.result)
    assert "removed" not in str(found.result)


def test_only_members_of_the_method_leave_beside_what_is_kept() -> None:
    result: JsonObject = {
        "content": [],
        "structuredContent": ROWS,
        "isError": False,
        "resultType": "complete",
        "vendor": {"mail": "bob@example.org"},
        "contents": [{"uri": "a:1", "text": "of another method"}],
        "_meta": {
            "vendor/rows": [1],
            "io.modelcontextprotocol/serverInfo": {"name": "crm"},
            "io.modelcontextprotocol/related-task": {"taskId": "t", "more": 1},
            "weighbridge/untrusted": {"server": "crm"},
        },
    }
    found = minimise.apply(result, KEEP, digest)
    assert found.result == {
        "content": [],
        "structuredContent": {"items": [{"id": 1, "name": "Ann"}]},
        "isError": False,
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t"}},
    }
    assert found.count == 2 + 3  # of the rows; `vendor`, `contents` and one key of `_meta`


def test_what_is_dropped_beside_the_structure_does_not_leave_in_prose() -> None:
    text: JsonObject = {"type": "text", "text": "ask bob@example.org"}
    vendor: JsonObject = {"mail": "bob@example.org"}
    result: JsonObject = {"content": [text], "structuredContent": {}, "vendor": vendor}
    assert "bob@" not in str(minimise.apply(result, KEEP, digest).result)


def test_blocks_documents_and_messages_keep_the_members_that_the_protocol_defines() -> None:
    more: JsonObject = {"annotations": {"audience": ["user"], "note": "s"}, "_meta": {"n": "s"}}
    block: JsonObject = {"type": "text", "text": "{}", "own": "s", **more}
    document: JsonObject = {"uri": "a:1", "text": "{}", "own": "s", **more}
    message: JsonObject = {"role": "user", "content": block, "own": "s"}
    shown: JsonObject = {"annotations": {"audience": ["user"]}}
    read = minimise.apply({"contents": [document]}, KEEP, digest, Method.READ_RESOURCE)
    assert read.result == {"contents": [{"uri": "a:1", "text": "{}", **shown}]}
    assert read.count == 3
    got = minimise.apply({"messages": [message]}, KEEP, digest, Method.GET_PROMPT)
    kept: JsonObject = {"type": "text", "text": "{}", **shown}
    assert got.result == {"messages": [{"role": "user", "content": kept}]}
    assert got.count == 4


def test_a_servers_words_about_a_prompt_or_task_are_text_like_any_other() -> None:
    got = minimise.apply({"description": "of Ann", "messages": []}, KEEP, digest, Method.GET_PROMPT)
    assert "Ann" not in str(got.result)
    task: JsonObject = {"taskId": "t", "status": "working", "statusMessage": "Ann", "row": "Ann"}
    told = minimise.apply(task, KEEP, digest, Method.GET_TASK)
    assert "Ann" not in str(told.result)
    assert told.result.keys() == {"taskId", "status", "statusMessage"}
    assert told.count == 2


def test_redaction_alone_leaves_everything_else_as_it_came() -> None:
    output = OutputPolicy(redact=(Redaction(path="/total", form=RedactAs.REMOVE),))
    rest: JsonObject = {"content": [], "vendor": 1, "_meta": {"a": 1}, "description": "d"}
    found = minimise.apply({**rest, "structuredContent": {"total": 1}}, output, digest)
    assert found.result == {**rest, "structuredContent": {}}


def test_a_structure_where_none_belongs_lets_no_prose_through() -> None:
    text: JsonObject = {"type": "text", "text": "Ann"}
    messages: JsonObject = {"messages": [{"role": "user", "content": text}]}
    got = minimise.apply({**messages, "structuredContent": {}}, KEEP, digest, Method.GET_PROMPT)
    assert "Ann" not in str(got.result)
    assert got.count == 2


# --- rows ---------------------------------------------------------------------------------------


def ours(row: Json) -> bool | None:
    return row.get("tenant") == "acme" if isinstance(row, dict) and "tenant" in row else None


OURS = OutputPolicy(rows=(RowFilter(path="/customers", where="w", rule="r", holds=ours),))
MINE: JsonObject = {"id": "c-1", "tenant": "acme", "name": "Ann"}
THEIRS: JsonObject = {"id": "c-2", "tenant": "globex", "name": "Bob Secret", "n": 4711}
BOTH: JsonObject = {"customers": [MINE, THEIRS]}


def as_text(value: Json) -> JsonObject:
    return {"type": "text", "text": jsontext.dump(value).decode()}


def left(result: JsonObject, output: OutputPolicy = OURS, *, schema: Json = None) -> Minimised:
    found = minimise.apply(result, output, digest, schema=schema)
    said = str(found.result)
    assert not any(each in said for each in ("c-2", "globex", "Bob", "4711"))
    return found


def test_a_row_that_may_not_leave_is_in_neither_form() -> None:
    found = left({"content": [as_text(BOTH)], "structuredContent": BOTH})
    assert found.result == {
        "content": [as_text({"customers": [MINE]})],
        "structuredContent": {"customers": [MINE]},
    }
    assert found.rows == RowCount(kept=1, removed=1)
    assert found.count == 1


@pytest.mark.parametrize(
    "blocks",
    [
        [as_text([MINE, THEIRS])],
        [as_text(MINE), as_text(THEIRS)],
        [as_text("Ann, and order 4711 of somebody")],
        [{"type": "text", "text": "| c-1 | Ann |\n| c-2 | Bob Secret |"}],
        [{"type": "text", "text": '{"customers":[], "customers":[{"id":"c-2"}]}'}],
    ],
)
def test_whatever_else_a_text_tells_is_replaced_by_the_structure(blocks: list[Json]) -> None:
    found = left({"content": blocks, "structuredContent": BOTH})
    assert found.result["content"] == [as_text({"customers": [MINE]})]


def test_pictures_and_members_that_nobody_knows_do_not_leave_with_rows() -> None:
    found = left(
        {
            "content": [{"type": "image", "data": "c-2", "mimeType": "image/png"}],
            "structuredContent": BOTH,
            "_meta": {"own/all": BOTH},
            "vendor": BOTH,
        }
    )
    assert found.result.keys() == {"content", "structuredContent"}


def test_a_text_without_structure_is_judged_if_it_is_json() -> None:
    found = left({"content": [as_text(BOTH)]})
    assert found.result["content"] == [as_text({"customers": [MINE]})]
    assert found.rows == RowCount(kept=1, removed=1)


@pytest.mark.parametrize(
    "block", [as_text([MINE, THEIRS]), as_text(THEIRS), {"type": "text", "text": "c-2 is Bob"}]
)
def test_a_text_whose_rows_nobody_can_tell_does_not_leave(block: JsonObject) -> None:
    found = left({"content": [block]})
    assert "removed by policy" in str(found.result["content"])
    assert found.count == 1


def test_a_structure_of_another_form_leaves_only_when_its_form_was_checked() -> None:
    renamed: JsonObject = {"content": [], "structuredContent": {"people": [THEIRS]}}
    assert left(renamed).result["structuredContent"] == {}
    empty: JsonObject = {"content": [], "structuredContent": {"total": 0}}
    assert left(empty).result["structuredContent"] == {}
    schema: JsonObject = {"properties": {"total": {}, "customers": {}}}
    assert left(empty, schema=schema).result["structuredContent"] == {"total": 0}
    assert left(renamed, schema=schema).result["structuredContent"] == {}


def test_rows_are_filtered_before_fields_are() -> None:
    output = OutputPolicy(
        keep=("/customers/*/id", "/customers/*/name"),
        redact=(Redaction(path="/customers/*/name", form=RedactAs.HASH),),
        rows=OURS.rows,
    )
    found = left({"content": [as_text(BOTH)], "structuredContent": BOTH}, output)
    kept: JsonObject = {"customers": [{"id": "c-1", "name": "h(Ann)"}]}
    assert found.result == {"content": [as_text(kept)], "structuredContent": kept}


def test_a_row_that_can_not_be_judged_is_removed_and_counted() -> None:
    found = left({"content": [], "structuredContent": {"customers": [MINE, {"id": "c-2"}]}})
    assert found.rows == RowCount(kept=1, removed=1, failed=1)


def test_other_filters_make_another_fingerprint() -> None:
    other = replace(OURS.rows[0], where="v")
    marks = [OutputPolicy(), OURS, OutputPolicy(rows=(other,)), OutputPolicy(keep=("/a",))]
    assert len({minimise.fingerprint(each) for each in marks}) == len(marks)


MARK = "mark-4711"
SCALARS: st.SearchStrategy[Json] = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
SHAPES: st.SearchStrategy[Json] = st.recursive(
    SCALARS | st.just(MARK),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abt"), inner, max_size=3)
    ),
    max_leaves=12,
)


@st.composite
def results(draw: st.DrawFn) -> JsonObject:
    """Draw a result whose foreign rows, and whatever stands beside the list, hold the mark."""
    mine = draw(st.lists(st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2), max_size=3))
    theirs = draw(st.lists(SHAPES, min_size=1, max_size=3))
    rows: list[Json] = [{**each, "tenant": "acme"} for each in mine]
    rows.append({"x": MARK, "tenant": "globex"})
    rows.extend({"y": each} for each in theirs)
    whole: Json = {"customers": draw(st.permutations(rows))}
    tellings: list[JsonObject] = [
        *map(as_text, (whole, rows, *rows, MARK)),
        {"type": "text", "text": f"there is {MARK}"},
        {"type": "image", "data": MARK, "mimeType": "image/png"},
    ]
    texts = draw(st.lists(st.sampled_from(tellings), max_size=3))
    structured: JsonObject = {"structuredContent": whole} if draw(st.booleans()) else {}
    beside: JsonObject = {"_meta": {"a": MARK}, "vendor": MARK} if draw(st.booleans()) else {}
    return {"content": [*texts], **structured, **beside}


@given(results(), st.sampled_from([None, {}, {"properties": {"customers": {}}}]))
def test_nothing_of_a_foreign_row_leaves_in_whatever_form(result: JsonObject, schema: Json) -> None:
    found = minimise.apply(result, OURS, digest, schema=schema)
    assert MARK not in jsontext.dump(found.result).decode()


@pytest.mark.parametrize(
    ("schema", "beside"),
    [
        (None, {}),
        ({}, {}),
        ({"properties": {"orders": {}}, "additionalProperties": True}, {}),
        ({"properties": {"orders": {}, "related": {}}}, {"related": [2]}),
        (
            {"allOf": [{"$ref": "#/$defs/r"}], "$defs": {"r": {"properties": {"related": {}}}}},
            {"related": [2]},
        ),
    ],
)
def test_rows_beside_the_path_leave_only_where_the_schema_that_people_reviewed_names_them(
    schema: Json, beside: JsonObject
) -> None:
    rows = RowFilter(path="/orders", where="w", rule="r", holds=lambda row: True)
    result: JsonObject = {"content": [], "structuredContent": {"orders": [1], "related": [2]}}
    left = minimise.apply(result, OutputPolicy(rows=(rows,)), str, Method.CALL_TOOL, schema=schema)
    assert left.result["structuredContent"] == {"orders": [1]} | beside
    assert left.count == (0 if beside else 1)


@pytest.mark.parametrize(
    ("annotations", "left"),
    [
        ({"audience": ["user", "row"], "priority": 0.5}, {"audience": ["user"], "priority": 0.5}),
        ({"audience": "row", "priority": "row", "lastModified": "row 1"}, {}),
        ({"lastModified": "2026-11-30T10:00:00Z"}, {"lastModified": "2026-11-30T10:00:00Z"}),
    ],
)
def test_beside_rows_leave_no_words_of_a_server_in_the_place_of_the_protocols(
    annotations: JsonObject, left: JsonObject
) -> None:
    output = OutputPolicy(keep=("/a",))
    block: JsonObject = {"type": "text", "text": "{}", "annotations": annotations}
    made = minimise.apply({"content": [block, {"type": "a row"}]}, output, lambda value: "")
    first, second = cast("list[JsonObject]", made.result["content"])
    assert first["annotations"] == left
    assert second == {"type": "text", "text": "[a block was removed by policy]"}

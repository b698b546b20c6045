"""What headers say again of arguments, against the SDK's rules, which are the oracle."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from gateway.protocol import mirroring
from gateway.types.json import Json, JsonObject

REGION: JsonObject = {"properties": {"r": {"type": "string", "x-mcp-header": "Region"}}}
COUNT: JsonObject = {
    "properties": {"a": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}
}

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["", " a", "a ", "é", "=?base64?YQ==?=", "=?base64?YR==?=", "=?base64?!?=", "42"]
    ),
    st.sampled_from(["42.0", "42.5", "-0", "true", "a\r\nb", "=?base64?/w==?=", "9" * 5000]),
)
NAMES = st.sampled_from(["a", "b", "a.b"])
KEYWORDS = st.sampled_from(
    ["items", "not", "allOf", "prefixItems", "$defs", "patternProperties", "const", "default"]
)
MARKS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "number", ["string"]]),
        "x-mcp-header": st.sampled_from(["A", "a", "B", "", "a b", 5, None]),
    },
)


def _schema(own: JsonObject, properties: JsonObject, others: JsonObject) -> JsonObject:
    return {**own, **others, "properties": properties}


def _deeper(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    below = st.one_of(schemas, st.lists(schemas, max_size=2), st.dictionaries(NAMES, schemas))
    properties = st.dictionaries(NAMES, schemas, max_size=3)
    others = st.dictionaries(KEYWORDS, below, max_size=1)
    return st.builds(_schema, MARKS, properties, others)


SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.one_of(MARKS, st.sampled_from([True, None, "x"])), _deeper, max_leaves=8
)
VALUES = st.one_of(TEXTS, st.integers(), st.floats(), st.booleans(), st.none(), st.just(42))


@given(TEXTS)
def test_a_text_travels_as_the_sdk_has_it(text: str) -> None:
    assert mirroring.encoded(text) == inbound.encode_header_value(text)
    assert mirroring.decoded(text) == inbound.decode_header_value(text)
    assert mirroring.decoded(mirroring.encoded(text)) == text


@given(SCHEMAS)
def test_annotations_are_good_or_bad_as_the_sdk_has_them(schema: Any) -> None:
    good = mirroring.fault_of(schema) is None
    assert good == (inbound.find_invalid_x_mcp_header(schema) is None)
    if good:
        assert mirroring.map_of(schema) == inbound.x_mcp_header_map(schema)


@given(
    st.sampled_from([REGION, COUNT]),
    VALUES,
    st.one_of(st.just({}), st.just({"a": 1})),
    st.lists(st.one_of(TEXTS, VALUES.map(str)), max_size=2),
)
def test_headers_are_made_and_compared_as_the_sdk_does(
    schema: JsonObject, value: Json, bare: JsonObject, said: list[str]
) -> None:
    arguments = bare or ({"r": value} if schema is REGION else {"a": {"n": value}})
    made = mirroring.made(mirroring.map_of(schema), arguments)
    assert made == inbound.mcp_param_headers(inbound.x_mcp_header_map(schema), arguments)
    name = "mcp-param-region" if schema is REGION else "Mcp-Param-N"
    for lines in ([(name, text) for text in said], list(made.items())):
        sent = [(key, text.encode("utf-8").decode("latin-1")) for key, text in lines]
        theirs = inbound.validate_mcp_param_headers(schema, arguments, _Lines(sent))
        raw = [(key.encode(), text.encode("latin-1")) for key, text in sent]
        assert (mirroring.mismatch(schema, arguments, raw) is None) == (theirs is None)


class _Lines(dict[str, str]):
    """Headers as the SDK reads them, those that come twice included."""

    def __init__(self, lines: list[tuple[str, str]]) -> None:
        super().__init__(lines)
        self._lines = lines

    def items(self) -> Any:
        return self._lines


@pytest.mark.parametrize(
    ("value", "said", "wrong"),
    [
        ("eu", "eu", None),
        ("eu", "=?base64?ZXU=?=", None),
        ("eu", None, "the Mcp-Param-Region header is missing, and the argument `r` is there"),
        (None, "eu", "the Mcp-Param-Region header is there, and the argument `r` is not"),
        ("eu", "us", "the Mcp-Param-Region header does not match the argument `r`"),
        ("eu", "=?base64?!?=", "the Mcp-Param-Region header carries malformed base64"),
    ],
)
def test_a_difference_is_told_by_header_and_argument(
    value: Json, said: str | None, wrong: str | None
) -> None:
    raw = [] if said is None else [(b"mcp-param-region", said.encode())]
    assert mirroring.mismatch(REGION, {"r": value}, raw) == wrong


@pytest.mark.parametrize(
    ("annotated", "fault"),
    [
        ({"type": "string", "x-mcp-header": 5}, "`x-mcp-header` of `a` is no text"),
        (
            {"type": "string", "x-mcp-header": "a b"},
            "`x-mcp-header` of `a` is no token that can stand in the name of a header",
        ),
        (
            {"type": "number", "x-mcp-header": "A"},
            "`x-mcp-header` of `a` is for a property whose `type` isn't `string`, `integer` or "
            "`boolean`",
        ),
        (
            {"items": {"type": "string", "x-mcp-header": "A"}},
            "`x-mcp-header` stands where no chain of `properties` alone leads",
        ),
    ],
)
def test_a_bad_annotation_is_told_with_its_property(annotated: JsonObject, fault: str) -> None:
    assert mirroring.fault_of({"properties": {"a": annotated}}) == fault


def test_one_header_is_not_for_two_arguments() -> None:
    marked: Json = {"type": "string", "x-mcp-header": "A"}
    again: Json = {"type": "string", "x-mcp-header": "a"}
    fault = mirroring.fault_of({"properties": {"x": marked, "y": again}})
    assert fault == "`x-mcp-header` of `x` is that of `y`"


def test_a_value_cannot_break_out_of_its_header() -> None:
    tool_map = mirroring.map_of(REGION)
    assert mirroring.made(tool_map, {"r": "eu"}) == {"Mcp-Param-Region": "eu"}
    (value,) = mirroring.made(tool_map, {"r": "a\r\nX-Evil: 1"}).values()
    assert value.startswith("=?base64?")
    assert mirroring.made(tool_map, {}) == {}


def test_a_number_without_a_text_has_no_header() -> None:
    arguments: JsonObject = {"a": {"n": 10**5000}}
    assert mirroring.made(mirroring.map_of(COUNT), arguments) == {}
    assert mirroring.mismatch(COUNT, arguments, []) is None
    assert mirroring.mismatch(COUNT, arguments, [(b"mcp-param-n", b"1")]) is not None

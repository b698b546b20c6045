from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import JsonError
from gateway.jsontext import parse_result
from gateway.jsontext.answers import of_result
from gateway.types.json import Json, JsonObject

TEXT: JsonObject = {"type": "text", "text": '{"id": 12345678901234567890123}'}


@pytest.mark.parametrize(
    ("result", "data"),
    [
        ({"structuredContent": {"id": 1}, "content": [TEXT]}, {"id": 1}),
        ({"structuredContent": [], "content": [TEXT]}, []),
        ({"content": [TEXT]}, {"id": 12345678901234567890123}),
        ({"structuredContent": None, "content": [TEXT]}, {"id": 12345678901234567890123}),
        ({"content": [TEXT, TEXT]}, None),
        ({"content": [{"type": "text", "text": "done"}]}, None),
        ({"content": [{"type": "text", "text": '"\ud800"'}]}, None),
        ({"content": [{"type": "text", "text": "NaN"}]}, None),
        ({"content": [{"type": "image", "data": "e30="}]}, None),
        ({"content": []}, None),
        ({"content": "x"}, None),
        ({}, None),
    ],
)
def test_the_data_of_an_answer_is_structured_or_one_text(result: JsonObject, data: Json) -> None:
    assert of_result(result) == data


@given(st.text(alphabet='{}[],:" \n\t\r\x0b\ufeff\xa0-0123truefalsn.INa', max_size=12))
def test_every_text_that_is_json_is_data_and_no_other(text: str) -> None:
    try:
        data = parse_result(text.encode())
    except JsonError:
        data = None
    assert of_result({"content": [{"type": "text", "text": text}]}) == data


def test_prose_is_not_read_as_json() -> None:
    with patch("gateway.jsontext.answers.parse_result", None):
        assert of_result({"content": [{"type": "text", "text": "Done: {} of [1]"}]}) is None

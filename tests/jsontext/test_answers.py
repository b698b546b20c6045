import pytest

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

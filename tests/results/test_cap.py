"""Size caps."""

from gateway.results import cap
from gateway.types.json import JsonObject


def a_result(*texts: str) -> JsonObject:
    return {"content": [{"type": "text", "text": text} for text in texts]}


def texts(result: JsonObject | None) -> list[str]:
    assert result is not None
    content = result["content"]
    assert isinstance(content, list)
    return [str(block["text"]) for block in content if isinstance(block, dict)]


def test_a_result_that_fits_is_not_touched() -> None:
    result = a_result("hello")
    capped = cap.apply(result, 50, 50)
    assert capped.result is result
    assert not capped.cut


def test_text_is_cut_on_a_character_border_and_says_so() -> None:
    """case: OUT-01"""
    capped = cap.apply(a_result("ř" * 1000), 2100, 101)
    (text,) = texts(capped.result)
    assert capped.cut
    assert text.startswith("ř" * 50 + "\n[cut by the gateway: 100 of 2000 bytes shown]")


def test_blocks_behind_the_cut_are_counted() -> None:
    capped = cap.apply(a_result("a" * 100, "b" * 100, "c"), 300, 100)
    assert texts(capped.result)[-1] == "[2 more blocks were cut]"


def test_structured_data_is_never_cut() -> None:
    """case: OUT-01"""
    assert cap.apply({"content": [], "structuredContent": {"rows": []}}, 99, 10).result is None


def test_images_are_never_cut() -> None:
    block: JsonObject = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert cap.apply({"content": [block]}, 99, 10).result is None


def test_what_is_not_cuttable_is_not_cut() -> None:
    assert cap.apply(a_result("a" * 100), 120, 50, is_cuttable=False).result is None
    assert cap.apply(a_result("a"), 50, 50, is_cuttable=False).result == a_result("a")

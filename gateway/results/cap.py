"""Size caps: text is cut with a marker that says so; structured data never is."""

from gateway.types.json import Json, JsonObject
from gateway.types.values import value


@value
class Capped:
    """A result that fits, or None where only refusing is honest."""

    result: JsonObject | None
    cut: bool


def apply(result: JsonObject, size: int, maximum: int, *, is_cuttable: bool = True) -> Capped:
    """Cut the text of a result of `size` bytes down to `maximum` bytes.

    Structured data, images, documents and the like can't be cut without breaking them: None.
    """
    if size <= maximum:
        return Capped(result=result, cut=False)
    content = result.get("content")
    if not is_cuttable or "structuredContent" in result or not isinstance(content, list):
        return Capped(result=None, cut=False)
    room = maximum
    blocks: list[Json] = []
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("text"), str):
            return Capped(result=None, cut=False)
        text = str(block["text"])
        whole = text.encode("utf-8", "surrogatepass")
        if len(whole) > room:
            shown = whole[: max(room, 0)].decode("utf-8", "ignore")
            marker = f"\n[cut by the gateway: {len(shown.encode())} of {len(whole)} bytes shown]"
            text = shown + marker
        room -= len(whole)
        blocks.append({**block, "text": text})
        if room <= 0:
            left = len(content) - len(blocks)
            if left:
                blocks.append({"type": "text", "text": f"[{left} more blocks were cut]"})
            break
    return Capped(result={**result, "content": blocks}, cut=True)

"""Progress of one call, as far as it is some."""

import math

from gateway.types.json import Json


class Rising:
    """Lets progress through only while it rises (MCP, basic/utilities/progress)."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = -math.inf

    def accept(self, params: Json) -> tuple[float, float | None, str | None] | None:
        """Return progress, total and message, or None for a note that isn't passed on."""
        if not isinstance(params, dict):
            return None
        progress = _number(params.get("progress"))
        if progress is None or not progress > self._last:
            return None
        self._last = progress
        message = params.get("message")
        return progress, _number(params.get("total")), message if isinstance(message, str) else None


def _number(value: Json) -> float | None:
    """Return a JSON number as a float, unless it can't be one."""
    if isinstance(value, bool) or value is None or isinstance(value, str | list | dict):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None

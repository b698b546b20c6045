"""What may be asked of a client: only what it declared (MCP, every revision)."""

from collections.abc import Callable, Mapping
from typing import Final

from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject


def _elicitation(declared: JsonObject, params: JsonObject) -> bool:
    """Forms are what an empty declaration stands for; URLs have to be named (2025-11-25)."""
    mode = params.get("mode", "form")
    if mode == "form":
        return "form" in declared or "url" not in declared
    return isinstance(mode, str) and mode in declared


def _sampling(declared: JsonObject, params: JsonObject) -> bool:
    return "tools" in declared or not ("tools" in params or "toolChoice" in params)


def _always(declared: JsonObject, params: JsonObject) -> bool:
    del declared, params
    return True


_Fits = Callable[[JsonObject, JsonObject], bool]
_ASKABLE: Final[Mapping[str, tuple[str, _Fits]]] = {
    Method.ELICIT: ("elicitation", _elicitation),
    Method.SAMPLE: ("sampling", _sampling),
    Method.LIST_ROOTS: ("roots", _always),
}


def can_answer(capabilities: JsonObject, method: str, params: JsonObject) -> bool:
    """Return whether a client with these capabilities may be asked this."""
    found = _ASKABLE.get(method)
    if found is None:
        return False
    capability, fits = found
    declared: Json = capabilities.get(capability)
    return isinstance(declared, dict) and fits(declared, params)

"""Values on one line of YAML, as people write them: quotes only where they are needed."""

import re
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.types.json import Json

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ ./@-][A-Za-z0-9_]+)*")
# Words that YAML, of whatever version, takes for something else than text.
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def inline(value: Json) -> str:
    """Write a value so that it is read back as it was, decimals as numbers."""
    match value:
        case dict():
            return (
                f"{{{', '.join(f'{_text(key)}: {inline(each)}' for key, each in value.items())}}}"
            )
        case list():
            return f"[{', '.join(map(inline, value))}]"
        case str():
            return _text(value)
        case Decimal():
            return str(value)
        case _:
            return jsontext.dump(value).decode()


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(map(_sign, value))}"'


def _sign(sign: str) -> str:
    """Write what hides, or would end the text, by its number."""
    if sign in ('"', "\\"):
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) <= 0xFFFF else f"\\U{ord(sign):08x}"

"""Secrets that are known by value, in the forms in which they turn up elsewhere."""

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from gateway import jsontext
from gateway.events import matcher
from gateway.events.patterns import PATTERNS
from gateway.events.scanner import marker

_SHORTEST: Final = 5  # shorter texts would be cut out of innocent words everywhere
_COMMON: Final = frozenset({"basic", "bearer", "debug", "error", "false", "https", "localhost"})
_MARKERS: Final = " ".join(  # hiding a part of these would never come to an end
    marker(name) for name in ("secret", "personal", "text", *(found.name for found in PATTERNS))
)
_SCHEME: Final = re.compile(r"(?:basic|bearer|digest|token|apikey) +(?=\S)", re.IGNORECASE)


def pattern(secrets: Iterable[str]) -> str:
    """Return one RE2 pattern for all forms of all secrets, or an empty text for none.

    Longer forms come first, so that a secret is hidden whole where its parts are secrets too.
    """
    return "|".join(matcher.escape(form) for form in every(secrets))


def every(secrets: Iterable[str]) -> list[str]:
    """Return all forms of all secrets, longer ones first."""
    found = {form for secret in secrets for part in _parts(secret) for form in forms(part)}
    return sorted(found, key=lambda form: (-len(form), form))


def _parts(secret: str) -> Iterator[str]:
    """Yield the value, what follows its scheme, and the credentials inside a URL."""
    parts = [secret, _SCHEME.sub("", secret, count=1)]
    if "://" in secret:
        parts += _url_parts(secret)
    for part in parts:
        if len(part) >= _SHORTEST and part.lower() not in _COMMON and part not in _MARKERS:
            yield part


def _url_parts(url: str) -> list[str]:
    try:
        split = urlsplit(url)
        password = split.password or ""
    except ValueError:  # not a URL after all; the whole value is hidden all the same
        return []
    return [password, unquote(password), *(value for _, value in parse_qsl(split.query))]


def forms(secret: str) -> Iterator[str]:
    """Yield a text in all forms that are looked for."""
    yield secret
    yield quote(secret)
    quoted = quote(secret, safe="")
    yield quoted
    yield quoted.replace("%", "%25")
    yield _lower_hex(quoted)
    yield quote_plus(secret)
    yield jsontext.dump(secret).decode()[1:-1]
    yield from _base64(secret.encode())


def _lower_hex(quoted: str) -> str:
    head, *rest = quoted.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)


def _base64(secret: bytes) -> Iterator[str]:
    """Yield what base64 makes of the secret at each of the three offsets it can have.

    Characters that depend on the neighbours (`user:` before it, padding after it) are left off.
    """
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + secret).decode().rstrip("=")
        first = (8 * offset + 5) // 6
        last = 8 * (offset + len(secret)) // 6
        core = encoded[first:last]
        yield core
        yield core.translate(str.maketrans("+/", "-_"))

"""Twenty kinds of secrets, of which each place where one may stand gets some of its own.

None is written here as it looks, so that nobody takes this file for a leak.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

TWICE: Final = "-".join(("correct", "horse", "battery", "staple"))
"""A secret that looks like none: only a key says so, and it stands elsewhere as well."""

PLACES: Final = ("arguments", "results", "errors", "names", "urls", "nested")


def _letters(seed: str, many: int) -> str:
    """Return as many letters and digits as wanted, the same for the same seed."""
    found, number = "", 0
    while len(found) < many:
        raw = hashlib.sha256(f"{seed}:{number}".encode()).digest()
        found += base64.b64encode(raw, altchars=b"Zq").decode().rstrip("=")
        number += 1
    return found[:many]


def _hex(seed: str, many: int) -> str:
    return "".join(hashlib.sha256(f"{seed}:{n}".encode()).hexdigest() for n in range(3))[:many]


def _capitals(seed: str, many: int) -> str:
    raw = hashlib.sha512(seed.encode()).digest()
    return base64.b32encode(raw).decode().rstrip("=")[:many]


_KINDS: Final[Mapping[str, Callable[[str], tuple[str, str]]]] = {
    # What stands before a secret, and the secret itself.
    "aws": lambda seed: ("AKIA", _capitals(seed, 16)),
    "google": lambda seed: ("AIza", _letters(seed, 35)),
    "ocean": lambda seed: ("dop_v1_", _hex(seed, 64)),
    "vault": lambda seed: ("hvs.", _letters(seed, 28)),
    "databricks": lambda seed: ("dapi", _hex(seed, 32)),
    "github": lambda seed: ("ghp_", _letters(seed, 36)),
    "github-fine": lambda seed: ("github_pat_", _letters(seed, 40)),
    "gitlab": lambda seed: ("glpat-", _letters(seed, 20)),
    "npm": lambda seed: ("npm_", _letters(seed, 36)),
    "pypi": lambda seed: ("pypi-", _letters(seed, 60)),
    "slack": lambda seed: ("xoxb-", _letters(seed, 30)),
    "telegram": lambda seed: ("123456789:AA", _letters(seed, 33)),
    "openai": lambda seed: ("sk-proj-", _letters(seed, 40)),
    "face": lambda seed: ("hf_", _letters(seed, 34)),
    "stripe": lambda seed: ("sk_live_", _letters(seed, 24)),
    "mail": lambda seed: ("SG." + _letters(seed + "a", 20) + ".", _letters(seed, 40)),
    "shop": lambda seed: ("shpat_", _hex(seed, 32)),
    "gateway": lambda seed: ("wb_desk_", _hex(seed, 64)),
    "jwt": lambda seed: ("eyJhbGciOiJIUzI1NiJ9.", f"eyJ{_letters(seed, 40)}.{_letters(seed, 30)}"),
    "bearer": lambda seed: ("Bearer ", _letters(seed, 30)),
}
KINDS: Final = tuple(_KINDS)


def core(kind: str, place: str) -> str:
    """Return the part of a secret that nobody else may learn."""
    return _KINDS[kind](f"{kind}:{place}")[1]


def planted(kind: str, place: str) -> str:
    """Return a secret as it stands in a text."""
    return "".join(_KINDS[kind](f"{kind}:{place}"))


def found_in(data: bytes) -> list[tuple[str, str]]:
    """Return kind and place of the secrets in some bytes, whole or in part, in usual codes."""
    return [
        (kind, place)
        for kind in KINDS
        for place in PLACES
        if any(form in data for form in _forms(core(kind, place)))
    ]


def _forms(secret: str) -> list[bytes]:
    """Return what gives a secret away: most of it, as it is and in the codes that it travels in."""
    most = secret[2:-2]
    cores = [base64.b64encode(b"x" * pad + most.encode()).rstrip(b"=")[4:-4] for pad in range(3)]
    return [most.encode(), quote(most, safe="").encode(), most.encode().hex().encode(), *cores]

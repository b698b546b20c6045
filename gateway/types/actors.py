"""Who acts."""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, for which tenant, through which client; made from the principal only."""

    user: str
    tenant: str
    roles: frozenset[str]
    scopes: frozenset[str]
    client: str
    method: str
    issuer: str


def person(name: str) -> str:
    """Return what is the same in all spellings of one person's name.

    For telling people apart, never for letting somebody in. Providers agree neither on capital
    letters nor on how a letter with an accent is encoded, and nobody sees full-width or invisible
    characters: caseless matching by compatibility, after Unicode's D146 and NFKC_Casefold.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", seen)

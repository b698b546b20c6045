"""The one redactor: for results, events, logs and spans.

In this order: what the contract tags, what the names of keys say (in events also where it stands
once more), what has the form of a secret or of personal data, and what is too large or too deep.
Redacting twice changes nothing.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping

from gateway import jsontext
from gateway.errors import JsonError
from gateway.events import concealed, literals, markers
from gateway.events.patterns import PATTERNS, Pattern
from gateway.events.profile import EVENTS, RESULTS, Profile
from gateway.events.quick import QuickLook
from gateway.events.repeated import Repeated
from gateway.events.scanner import Scanner, literal
from gateway.events.walk import Walk
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import Sensitivity
from gateway.types.values import value


@value
class Redacted:
    """A value that may be kept: what of it is masked (a digest or part stays) or erased."""

    value: Json
    masked: tuple[JsonPointer, ...] = ()
    erased: tuple[JsonPointer, ...] = ()
    count: int = 0


class Redactor:
    """Redacts by contract, key, form and size; safe to share between threads.

    `hmac_key` returns the key of a tenant's digests, so that the same personal value can be
    recognised within the tenant, and guessed by nobody who hasn't got the key.
    """

    def __init__(self, hmac_key: Callable[[str], bytes], secrets: Iterable[str] = ()) -> None:
        self._hmac_key = hmac_key
        self._secrets = frozenset(secrets)
        known = literals.pattern(self._secrets)
        first: tuple[Pattern, ...] = (literal(known),) if known else ()
        everywhere = tuple(pattern for pattern in PATTERNS if pattern.everywhere)
        self._looks = {
            profile: (scanner, QuickLook(scanner, profile))
            for profile, scanner in (
                (EVENTS, Scanner((*first, *PATTERNS))),
                (RESULTS, Scanner((*first, *everywhere))),
            )
        }

    def with_secrets(self, secrets: Iterable[str]) -> "Redactor":
        """Return a redactor that hides these values too, also in base64 and URL-encoded form."""
        return Redactor(self._hmac_key, self._secrets | frozenset(secrets))

    def value(
        self,
        value: Json,
        *,
        tenant: str = "",
        tags: Mapping[JsonPointer, Sensitivity] | None = None,
        profile: Profile = EVENTS,
    ) -> Redacted:
        """Return the value as it may be kept; the same object when there is nothing to hide.

        `tags` are pointers with `*` for any key or index. Personal values become digests under
        `tenant`'s key in the events profile.
        """
        scanner, quick = self._looks[profile]
        if not tags and quick.clean(value) is not None:
            return Redacted(value=value)
        # Approvers see what is said twice: else a model could hide from them whom it pays.
        named = concealed.named(value) if profile.personal else {}
        if concealed.are_too_many(named):
            return Redacted(value=markers.erased(markers.SIZE), erased=("",), count=1)
        again = Repeated(named) if named else None
        walk = Walk(scanner, quick, profile, lambda: self._hmac_key(tenant), again)
        redacted = walk.value(walk.tagged(value, tags) if tags else value)
        return Redacted(
            value=redacted,
            masked=tuple(walk.masked),
            erased=tuple(walk.erased),
            count=walk.count,
        )

    def is_clean(self, value: Json) -> bool:
        """Whether one look shows that an event may have a value as it is, where nothing is tagged.

        False only says that it has to be looked at more closely.
        """
        return self._looks[EVENTS][1].clean(value) is not None

    def digest(self, value: Json, *, tenant: str = "") -> str:
        """Return what stands for a value of which nothing is kept: keyed, 16 bytes.

        Empty for a value that is no JSON, such as half a surrogate pair.
        """
        try:
            written = jsontext.canonical(value)
        except JsonError:
            return ""
        made = hmac.digest(self._hmac_key(tenant), written, hashlib.sha256)
        return f"hmac-sha256:{made[:16].hex()}"

    def text(self, text: str, *, tenant: str = "", profile: Profile = EVENTS) -> str:
        """Return a text as it may be kept; JSON in it is redacted inside."""
        redacted = self.value(text, tenant=tenant, profile=profile).value
        if isinstance(redacted, str):
            return redacted
        return markers.in_text(redacted)

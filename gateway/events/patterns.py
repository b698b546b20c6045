"""What secrets and personal data look like, and what keys of JSON objects say of their values."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.events import digits
from gateway.types.tools import Sensitivity

_SECRET: Final = Sensitivity.SECRET
_PERSONAL: Final = Sensitivity.PERSONAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One form: an RE2 pattern whose first group, if any, is the part to hide.

    `check` returns how many leading characters of the match count; 0 drops the match.
    `everywhere` patterns are exact enough for results, which agents have to work with.
    """

    name: str
    kind: Sensitivity
    regex: str
    everywhere: bool = True
    check: Callable[[str], int] | None = None


_SCHEMES: Final = frozenset({"bearer", "basic", "digest", "token", "negotiate", "none", "null"})
_NAMES: Final = (
    r"pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|signing[_-]?key|authorization|credentials?"
)
_SHORTEST_OPAQUE: Final = 20
_LONGEST_KEY: Final = 64  # characters of a key that is remembered


def _random(text: str) -> int:
    """Keep what people don't write: a digit in it, capitals inside, or a long run."""
    inside = text[1:]
    mixed = inside != inside.lower() and inside != inside.upper()
    opaque = len(text) >= _SHORTEST_OPAQUE or mixed or any(c.isdigit() for c in text)
    return len(text) if opaque else 0


def _assigned(text: str) -> int:
    return 0 if text.lower() in _SCHEMES else len(text)


def _card(text: str) -> int:
    return len(text) if digits.is_card(text) else 0


def _secret(
    name: str,
    regex: str,
    *,
    everywhere: bool = True,
    check: Callable[[str], int] | None = None,
) -> Pattern:
    return Pattern(name=name, kind=_SECRET, regex=regex, everywhere=everywhere, check=check)


def _personal(name: str, regex: str, check: Callable[[str], int] | None = None) -> Pattern:
    return Pattern(name=name, kind=_PERSONAL, regex=regex, everywhere=False, check=check)


CLOUD: Final = (
    _secret("cloud_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _secret("cloud_key", r"\bAIza[0-9A-Za-z_-]{35}"),
    _secret("cloud_token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    _secret("cloud_key", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    _secret("cloud_key", r"(?i)\b(?:AccountKey|SharedAccessKey)=([0-9A-Za-z+/]{30,}={0,2})"),
    _secret("cloud_token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    _secret("vault_token", r"\bhv[sbr]\.[0-9A-Za-z_-]{24,}"),
    _secret("cloud_token", r"\bdapi[0-9a-f]{32}"),
)
FORGES: Final = (
    _secret("forge_token", r"\bgh[opsur]_[0-9A-Za-z]{36,}"),
    _secret("forge_token", r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    _secret("forge_token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|oas|soat|agent)-[0-9A-Za-z_-]{16,}"),
    _secret("forge_token", r"\bAT(?:BB|ATT3)[0-9A-Za-z_=-]{24,}"),
    _secret("registry_token", r"\bnpm_[0-9A-Za-z]{36}"),
    _secret("registry_token", r"\bpypi-[0-9A-Za-z_-]{50,}"),
    _secret("registry_token", r"\b(?:rubygems_[0-9a-f]{48}|dckr_pat_[0-9A-Za-z_-]{20,})"),
)
CHATS: Final = (
    _secret("chat_token", r"\bxox[abceoprs]-[0-9A-Za-z-]{10,}"),
    _secret("chat_token", r"\bxapp-[0-9]-[0-9A-Za-z-]{10,}"),
    _secret("chat_hook", r"\bhooks\.slack\.com/[a-z]+/([0-9A-Za-z/_-]{20,})"),
    _secret("chat_hook", r"\bdiscord(?:app)?\.com/api/webhooks/([0-9]+/[0-9A-Za-z_-]{30,})"),
    _secret("chat_token", r"\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}"),
)
SERVICES: Final = (
    _secret("model_key", r"\bsk-(?:proj-|svcacct-|admin-|ant-|or-)?[0-9A-Za-z_-]{20,}"),
    _secret("model_key", r"\b(?:hf|gsk|r8)_[0-9A-Za-z]{30,}"),
    _secret("payment_key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    _secret("payment_key", r"\bwhsec_[0-9A-Za-z+/]{24,}={0,2}"),
    _secret("mail_key", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    _secret("shop_token", r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _secret("monitoring_key", r"\b(?:glsa_|glc_|NRAK-|lin_api_)[0-9A-Za-z_=-]{20,}"),
    _secret("gateway_key", r"\bwb_[0-9A-Za-z-]{1,40}_[0-9A-Za-z_-]{16,}"),
)
FORMS: Final = (
    _secret("jwt", r"\beyJ[0-9A-Za-z_-]{6,}(?:\.[0-9A-Za-z_-]*){2,4}"),
    _secret(
        "private_key",
        r"-----BEGIN [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^-]*"
        r"(?:-----END [0-9A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    _secret("private_key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _secret("bearer", r"(?i)\bbearer\s+([0-9A-Za-z._~+/-]{5,}=*)", check=_random),
    _secret("basic", r"(?i)\bbasic\s+([0-9A-Za-z+/]{8,}={0,2})", everywhere=False, check=_random),
    _secret("url_password", r"\b[A-Za-z][0-9A-Za-z+.-]*://[^\s/?#:@\[\]]*:([^\s/?#@\[\]]+)@"),
    _secret("url_token", r"\b[A-Za-z][0-9A-Za-z+.-]*://([^\s/?#:@\[\]]{12,})@"),
    _secret(
        "url_secret",
        r"(?i)[?&#;](?:[a-z_-]*token|[a-z_-]*api_?key|[a-z_-]*secret|pass(?:word|wd)|pwd|sig"
        r"|[a-z-]*signature|[a-z-]*credential)=([^&\s#\"'<>\[\]]{3,})",
    ),
)
LOOSE: Final = (
    _secret(
        "header",
        r"(?i)\b(?:set-)?cookie[\"'\\]*\s*[:=]\s*([^\r\n]{3,})",
        everywhere=False,
    ),
    _secret(
        "assigned",
        rf"(?i)(?:{_NAMES})[\"'\\]*\s*[:=]\s*[\"'\\]*(?:(?:bearer|basic|token|digest)\s+)?"
        r"([^\s\"'\\,;&\[\]{}()]{3,})",
        everywhere=False,
        check=_assigned,
    ),
    _secret(
        "spoken",
        rf"(?i)\b(?:{_NAMES}|api key)s?(?:\s+is)?\s+[\"'`]*([^\s\"'`,;\[\]{{}}()]{{5,}})",
        everywhere=False,
        check=_random,
    ),
)
PERSONAL: Final = (
    _personal("email", r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*\.[A-Za-z]{2,}\b"),
    _personal(
        "iban",
        r"(?i)\b[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,4})?\b",
        digits.iban_length,
    ),
    _personal("card", r"\b[0-9](?:[ -]?[0-9]){12,18}\b", _card),
)
PATTERNS: Final[tuple[Pattern, ...]] = (
    *CLOUD,
    *FORGES,
    *CHATS,
    *SERVICES,
    *FORMS,
    *LOOSE,
    *PERSONAL,
)

# Keys as they are without case and separators.
SECRET_KEYS: Final = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apitoken",
        "auth",
        "authorization",
        "authtoken",
        "bearer",
        "bearertoken",
        "clientassertion",
        "clientsecret",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "csrftoken",
        "cvc",
        "cvv",
        "encryptionkey",
        "idtoken",
        "jwt",
        "onetimepassword",
        "otp",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "proxyauthorization",
        "pwd",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "secrets",
        "sessioncookie",
        "sessiontoken",
        "setcookie",
        "signingkey",
        "token",
        "xapikey",
        "xauthtoken",
    }
)
_SECRET_ENDS: Final = (
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authtoken",
    "clientsecret",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secretkey",
)


def names_secret(key: str) -> bool:
    """Whether a key of an object says that its value is a secret, in any way of writing it."""
    return _names_secret(key) if len(key) > _LONGEST_KEY else _known(key)


def _names_secret(key: str) -> bool:
    plain = "".join(filter(str.isalnum, key.casefold()))
    return plain in SECRET_KEYS or plain.endswith(_SECRET_ENDS)


_known = lru_cache(maxsize=4_096)(_names_secret)  # most calls have the keys of others

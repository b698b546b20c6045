"""TLS towards servers behind a URL: who is trusted, and in words why a handshake failed."""

import os
import ssl
from functools import lru_cache
from typing import Final

from gateway.errors import ConfigurationError
from gateway.servers.entry import Entry

# X509_V_ERR_* of OpenSSL, x509_vfy.h.
_REFUSED: Final = {
    9: "its TLS certificate is not valid yet",
    10: "its TLS certificate has expired",
    18: "its TLS certificate is self-signed; name it under `tls.ca` to trust it",
    19: "the authority of its TLS certificate is not trusted; name it under `tls.ca`",
    20: "the authority of its TLS certificate is not trusted; name it under `tls.ca`",
    21: "the authority of its TLS certificate is not trusted; name it under `tls.ca`",
    23: "its TLS certificate has been revoked",
    62: "its TLS certificate is for another host",
    64: "its TLS certificate is for another address",
}
# What OpenSSL makes of bytes that are no TLS record.
_NOT_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}
)


def of_entry(entry: Entry) -> ssl.SSLContext | None:
    """Return the TLS context of a server, None for plain HTTP. Raises ConfigurationError."""
    if not entry.url.lower().startswith("https:"):
        return None
    return trusting(entry.tls_ca, verify=entry.tls_verify)


@lru_cache(maxsize=64)
def trusting(ca: str, *, verify: bool) -> ssl.SSLContext:
    """Return what trusts the authorities in a PEM file, or the system's for an empty name.

    Made once for each: reading the authorities takes longer than many calls. Raises
    ConfigurationError when the file can't be used.
    """
    try:
        context = ssl.create_default_context(cafile=ca or None)
    except ssl.SSLError as error:
        raise ConfigurationError(f"`tls.ca`: `{ca}` holds no certificate in PEM form") from error
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise ConfigurationError(f"`tls.ca`: `{ca}`: {reason}") from error
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def reason_of(error: ssl.SSLError) -> str:
    """Say why a handshake failed, and what mends it where that is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        known = _REFUSED.get(error.verify_code)
        return known or f"its TLS certificate was refused: {error.verify_message}"
    reason = getattr(error, "reason", None) or "no reason given"  # made outside OpenSSL: none
    if reason in _NOT_TLS:
        return "it does not speak TLS; write its URL with `http://`, or its TLS port"
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return "it ended the TLS handshake"
    return f"the TLS handshake failed: {reason.lower().replace('_', ' ')}"

"""Addresses and URLs as people write them, and whether they leave this machine."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from gateway.config.units import Word

_ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})", re.ASCII)
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A host without brackets and a port; port 0 lets the system choose one."""

    host: str
    port: int


def endpoint(address: str) -> Endpoint:
    """Split `host:port`; IPv6 hosts are written in brackets."""
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[2]) > 65535:
        raise PydanticCustomError(
            "address",
            "is not an address; write `host:port`, such as `127.0.0.1:8700` or `[::1]:8700`",
        )
    return Endpoint(host=found[1].strip("[]"), port=int(found[2]))


def is_loopback(host: str) -> bool:
    """Tell whether a host stands for this machine only; a name other than `localhost` doesn't."""
    name = host.lower().strip("[]").rstrip(".")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def split_url(text: str) -> SplitResult:
    """Return the parts of an http(s) URL without credentials and fragment, or refuse it."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        raise PydanticCustomError("url", "is not a URL; write it as `https://host/path`")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise PydanticCustomError("url", "holds blanks or control characters; remove them")
    if parts.username is not None or parts.password is not None:
        raise PydanticCustomError(
            "url", "holds credentials; give them in `headers`, from a `${VAR}`"
        )
    if parts.fragment:
        raise PydanticCustomError("url", "has a `#fragment`; remove it")
    return parts


def is_private_url(text: str) -> bool:
    """Tell whether what is sent to this URL can't be read on the way: https, or this machine."""
    parts = urlsplit(text)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def _check_address(text: str) -> str:
    endpoint(text)
    return text


def _check_url(text: str) -> str:
    split_url(text)
    return text


def _check_endpoint_url(text: str) -> str:
    if split_url(text).query:
        raise PydanticCustomError("url", "has a `?query`; remove it")
    return text


def _check_trusted_url(text: str) -> str:
    split_url(text)
    if not is_private_url(text):
        raise PydanticCustomError("url", "has to begin with `https://`, except on this machine")
    return text


def _check_host(text: str) -> str:
    if not _HOST.fullmatch(text):
        raise PydanticCustomError(
            "host", "is not a host; write `name` or `name:port`, without scheme and path"
        )
    return text.lower()


def _check_origin(text: str) -> str:
    parts = split_url(text)
    if parts.path or parts.query or text.endswith("?"):
        raise PydanticCustomError(
            "origin", "is not an origin; write `https://host` or `https://host:port` without a path"
        )
    return text.lower()


Address = Annotated[str, AfterValidator(_check_address), Word("host:port")]
Url = Annotated[str, AfterValidator(_check_url), Word("URL")]
EndpointUrl = Annotated[str, AfterValidator(_check_endpoint_url), Word("URL")]
TrustedUrl = Annotated[str, AfterValidator(_check_trusted_url), Word("URL")]
Host = Annotated[str, AfterValidator(_check_host), Word("host")]
Origin = Annotated[str, AfterValidator(_check_origin), Word("origin")]

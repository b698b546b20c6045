"""The `servers` section: entries in the shape that agent clients use, so they can be pasted."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gateway.config.addresses import Url
from gateway.config.section import Many, Section
from gateway.config.units import Duration, Size

_SERVER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
_HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?|", re.ASCII)
# Set by the connection itself: an entry that could set them could break the framing.
_OWN_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def _check_server_name(name: str) -> str:
    if not _SERVER_NAME.fullmatch(name):
        raise PydanticCustomError(
            "server_name",
            "is not a server name; use at most 40 letters, digits, `-` and `_`, such as `{mend}`",
            {"mend": re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")[:40] or "billing"},
        )
    return name


def _check_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise PydanticCustomError(
            "variable", "is not the name of an environment variable; use letters, digits and `_`"
        )
    return name


def _check_no_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError(
            "nul", "holds a NUL character, which can't be handed to a process; remove it"
        )
    return text


ServerName = Annotated[
    str,
    AfterValidator(_check_server_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_SERVER_NAME.pattern}$"}),
]
Variable = Annotated[
    str,
    AfterValidator(_check_variable),
    WithJsonSchema({"type": "string", "pattern": f"^{_VARIABLE.pattern}$"}),
]
ProcessText = Annotated[str, AfterValidator(_check_no_nul)]


class RestartSettings(Section):
    """How a server that ended, or can't be reached, is started again."""

    first: Duration = Field(default=0.5, ge=0.01, description="wait before the first new start")
    longest: Duration = Field(
        default=60.0, ge=0.01, description="the wait doubles with each failure, up to this"
    )
    stable_after: Duration = Field(
        default=60.0, gt=0, description="a server that ran this long starts again at `first`"
    )

    @model_validator(mode="after")
    def _longest_is_longest(self) -> Self:
        if self.longest < self.first:
            raise PydanticCustomError(
                "restart", "has a `longest` that is shorter than `first`; raise it"
            )
        return self


class TlsSettings(Section):
    """How the certificate of a server behind a URL is checked."""

    ca: Path | None = Field(
        default=None, description="PEM file with the authorities to trust instead of the system's"
    )
    verify: bool = Field(
        default=True, description="`false` accepts any certificate; for tests on one machine"
    )


class ServerSettings(Section):
    """One downstream server: a `command` to start, or a `url` to reach."""

    command: ProcessText | None = Field(
        default=None,
        min_length=1,
        description="program to start; a name is looked up in `PATH`, a relative path beside "
        "this file; no shell is involved",
    )
    args: Many[ProcessText] = Field(default=(), description="arguments, passed exactly as written")
    env: dict[Variable, ProcessText] = Field(
        default_factory=dict,
        description="environment of the process, besides a small safe base (`PATH`, `HOME`, …)",
    )
    inherit_env: Many[Variable] = Field(
        default=(), description="variables of the gateway that the process gets too, when set"
    )
    cwd: Path | None = Field(
        default=None, description="working directory; a relative path starts beside this file"
    )
    url: Url | None = Field(default=None, description="Streamable HTTP endpoint of the server")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="headers of every request to `url`; the caller's own credential is never "
        "passed on",
    )
    tls: TlsSettings = Field(default_factory=TlsSettings, description=TlsSettings.__doc__)
    type: Literal["stdio", "http", "streamable-http"] | None = Field(
        default=None, description="accepted for pasted entries; `command` or `url` decides"
    )
    protocol: Literal["auto", "legacy", "modern"] = Field(
        default="auto",
        description="family of MCP revisions to speak: with a handshake (`legacy`), stateless "
        "since 2026-07-28 (`modern`), or whichever the server knows",
    )
    disabled: bool = Field(default=False, description="keep the entry, but don't use the server")
    required: bool = Field(
        default=False, description="`/readyz` fails while this server can't be used"
    )
    timeout: Duration | None = Field(
        default=None, gt=0, description="longest time for one call; default: `limits.call_timeout`"
    )
    start_timeout: Duration = Field(
        default=30.0, gt=0, description="longest time to start or connect, and to list the tools"
    )
    max_calls: int = Field(
        default=32,
        ge=1,
        le=10_000,
        description="calls under way at the same time, without those whose caller is being asked "
        "something",
    )
    max_lanes: int = Field(
        default=16,
        ge=1,
        le=1_000,
        description="connections, or processes, for single callers that a server of the handshake "
        "family may ask or log to; one caller gets at most half of them, and others wait",
    )
    lane_idle: Duration = Field(
        default=300.0, ge=1, description="such a connection closes after so long without a call"
    )
    max_message_bytes: Size = Field(
        default=8 << 20, ge=1024, le=1 << 30, description="largest message that is read from it"
    )
    restart: RestartSettings = Field(
        default_factory=RestartSettings, description=RestartSettings.__doc__
    )

    _misconfigured: str = PrivateAttr(default="")
    _written: dict[str, str] = PrivateAttr(default_factory=dict[str, str])
    _credentials: tuple[str, ...] = PrivateAttr(default=())

    @property
    def misconfigured(self) -> str:
        """Why this server must not be started or contacted, such as `API_KEY is not set`."""
        return self._misconfigured

    @property
    def written(self) -> Mapping[str, str]:
        """Keys whose values hold variables, with what stands in the file: `${COMMAND}`."""
        return self._written

    @property
    def credentials(self) -> tuple[str, ...]:
        """Values that must not come back in a result, longest first."""
        return self._credentials

    def written_as(self, written: dict[str, str], credentials: tuple[str, ...]) -> Self:
        """Return this entry with what stands in the file for some keys, and its credentials."""
        told = self.model_copy()
        told._written, told._credentials = written, credentials
        return told

    def without_values(self, reason: str) -> Self:
        """Return this entry as misconfigured, emptied of values that could be sent by mistake."""
        blank = self.model_copy(update={"headers": {}, "env": {}, "args": ()})
        blank._misconfigured = reason
        return blank

    @field_validator("type", mode="before")
    @classmethod
    def _sse_is_gone(cls, value: object) -> object:
        if value == "sse":
            raise PydanticCustomError(
                "sse", "is `sse`, a withdrawn transport; use the server's Streamable HTTP `url`"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _headers_are_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        seen: set[str] = set()
        for name, value in headers.items():
            _check_header(name, value)
            if name.lower() in seen:
                raise PydanticCustomError(
                    "header", "names the header `{name}` twice; remove one", {"name": name}
                )
            seen.add(name.lower())
        return headers

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise PydanticCustomError(
                "transport",
                "has `command` and `url`; one of them is enough"
                if self.command
                else "needs `command` or `url`",
            )
        given = self.model_fields_set
        others = (
            ("url", "headers", "tls") if self.command else ("args", "env", "inherit_env", "cwd")
        )
        kind = "command" if self.command else "url"
        for name in others:
            if name in given:
                raise PydanticCustomError(
                    "transport",
                    "has `{name}`, which means nothing beside `{kind}`; remove it",
                    {"name": name, "kind": kind},
                )
        if self.type is not None and (self.type == "stdio") != (self.command is not None):
            raise PydanticCustomError(
                "transport",
                "has `type: {type}`, which contradicts `{kind}`; remove `type`",
                {"type": self.type, "kind": kind},
            )
        return self


def is_own_header(name: str) -> bool:
    """Whether the connection itself sets a header, so that no entry may."""
    return name.lower() in _OWN_HEADERS


def _check_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise PydanticCustomError(
            "header",
            "names `{name}`, which is not a header; use letters, digits and `-`",
            {"name": name},
        )
    if is_own_header(name):
        raise PydanticCustomError(
            "header", "names `{name}`, which the gateway sets itself; remove it", {"name": name}
        )
    if not _HEADER_VALUE.fullmatch(value):
        raise PydanticCustomError(
            "header",
            "has a value for `{name}` with characters that a header can't carry, or with blanks "
            "at its ends; remove them",
            {"name": name},
        )

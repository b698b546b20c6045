"""One entry of `servers`: how a downstream is reached, and what it may take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MIB = 1024 * 1024


class Protocol(StrEnum):
    """Which family of MCP revisions to speak with a server."""

    AUTO = "auto"  # ask with `server/discover`, fall back to `initialize`
    LEGACY = "legacy"
    MODERN = "modern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long things may take, in seconds."""

    start_s: float = 60.0  # process start, handshake and nothing else
    probe_s: float = 5.0  # an old server may stay silent on `server/discover`
    list_s: float = 30.0  # one whole list, all pages
    connect_s: float = 10.0  # one TCP and TLS connect
    start_wait_s: float = 10.0  # a call waits so long for a server's first start
    wake_wait_s: float = 1.0  # a call waits so long for the attempt that it wakes in an outage
    wake_gap_s: float = 5.0  # calls wake at most one attempt in this time
    stop_eof_s: float = 2.0  # between closing stdin and SIGTERM
    stop_term_s: float = 2.0  # between SIGTERM and SIGKILL
    backoff_min_s: float = 0.5
    backoff_slow_s: float = 10.0  # first delay for faults that don't mend themselves
    backoff_max_s: float = 60.0
    healthy_s: float = 30.0  # after so long a connection, the back-off starts over
    settle_s: float = 0.1  # change notes within this time cause one list
    lane_idle_s: float = 300.0  # after so long without a call, one caller's own connection closes


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much a server may take or send."""

    message_bytes: int = 8 * MIB  # one message, as it is on the wire
    list_bytes: int = 16 * MIB  # all pages of one list
    pages: int = 50
    tools: int = 1_000  # or prompts, resources, templates: entries of one list
    stderr_bytes: int = 8_192  # the tail that is kept
    bad_lines: int = 10  # lines in a row that answer nothing, then a restart
    queue: int = 256  # calls that wait for one of `max_calls`
    progress: int = 1_000  # progress notes that wait for one caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A server as the operator configured it: a command to run or a URL to call."""

    name: str  # the alias: prefix of exposed names, subject of policies
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)  # may hold secrets
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)  # may as well
    tls_ca: str = ""  # PEM file with the authorities to trust instead of the system's
    tls_verify: bool = True
    protocol: Protocol = Protocol.AUTO
    timeouts: Timeouts = field(default_factory=Timeouts)
    caps: Caps = field(default_factory=Caps)
    max_calls: int = 64  # at the same time
    max_lanes: int = 16  # connections of callers that it may ask, in the handshake era
    required: bool = False  # the gateway isn't ready without it
    credentials: tuple[str, ...] = field(default=(), repr=False)  # longest first
    # What to show instead of a `command` or `cwd` that came from the environment: `${COMMAND}`.
    written: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_http(self) -> bool:
        """Whether the server is reached over Streamable HTTP."""
        return bool(self.url)

    @property
    def shown_command(self) -> str:
        """The command as texts about it may show it."""
        return self.written.get("command", self.command)

    @property
    def shown_cwd(self) -> str:
        """The folder as texts about it may show it."""
        return self.written.get("cwd", self.cwd)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Configured values that must not show up in texts; longest first."""
        values = {*self.env.values(), *self.headers.values()}
        # `Authorization: Bearer X` is repeated by servers as X as often as in full.
        values.update(word for value in self.headers.values() for word in value.split())
        return tuple(sorted((v for v in values if len(v) >= _SHORTEST_SECRET), key=len)[::-1])


_SHORTEST_SECRET = 6  # shorter values are words such as `Bearer` or `true`

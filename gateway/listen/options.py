"""What an HTTP front is told when it is built."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Names and limits of an HTTP front; sizes in bytes, times in seconds."""

    path: str = "/mcp"
    run_header: str = "X-Run-Id"  # names the run of a call
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = 1024 * 1024
    body_deadline_s: float = 10.0
    max_requests: int = 512  # in flight, `subscriptions/listen` streams included
    max_requests_per_principal: int = 256
    max_streams: int = 256  # open `subscriptions/listen` streams
    max_streams_per_principal: int = 16
    max_sessions: int = 1000
    max_sessions_per_principal: int = 20
    session_idle_s: float = 30 * 60.0

"""From the `servers` section to what the servers floor works with."""

from collections.abc import Mapping

from gateway.config.servers import ServerSettings
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError
from gateway.servers import tls
from gateway.servers.entry import Caps, Entry, Protocol, Timeouts


def entries(settings: Settings, environ: Mapping[str, str]) -> tuple[Entry, ...]:
    """Return the servers to run: enabled ones whose entries lack nothing."""
    return tuple(
        _entry(name, server, environ)
        for name, server in settings.servers.items()
        if not server.disabled and not _lack(server)
    )


def misconfigured(settings: Settings) -> dict[str, str]:
    """Return the servers that are left alone, with the reason."""
    found = {
        name: _lack(server) for name, server in settings.servers.items() if not server.disabled
    }
    return {name: reason for name, reason in found.items() if reason}


def _lack(server: ServerSettings) -> str:
    """Say what an entry lacks: a variable, or a file of authorities that can be read."""
    if server.misconfigured or server.tls.ca is None:
        return server.misconfigured
    try:
        tls.trusting(str(server.tls.ca), verify=server.tls.verify)
    except ConfigurationError as error:
        return str(error)
    return ""


def _entry(name: str, server: ServerSettings, environ: Mapping[str, str]) -> Entry:
    inherited = {key: environ[key] for key in server.inherit_env if key in environ}
    return Entry(
        name=name,
        command=server.command or "",
        args=server.args,
        env={**inherited, **server.env},
        cwd=str(server.cwd) if server.cwd is not None else "",
        url=server.url or "",
        headers=server.headers,
        tls_ca=str(server.tls.ca) if server.tls.ca is not None else "",
        tls_verify=server.tls.verify,
        protocol=Protocol(server.protocol),
        timeouts=Timeouts(
            start_s=server.start_timeout,
            list_s=server.start_timeout,
            backoff_min_s=server.restart.first,
            backoff_max_s=server.restart.longest,
            healthy_s=server.restart.stable_after,
            lane_idle_s=server.lane_idle,
        ),
        caps=Caps(message_bytes=server.max_message_bytes),
        max_calls=server.max_calls,
        max_lanes=server.max_lanes,
        required=server.required,
        written=server.written,
        credentials=server.credentials,
    )

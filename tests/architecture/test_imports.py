"""What a command imports before it does anything: each of these takes long, and a start waits.

What is left out is imported when it is first needed, at one place that says so.
"""

import subprocess
import sys
from typing import Final

import pytest

SDK: Final = ("mcp", "mcp_types")  # the handshake era over HTTP, and resource templates
PAGES: Final = ("gateway.admin.entrance", "gateway.admin.rendering", "jinja2")
REPLAY: Final = ("gateway.replay",)
EXPORTERS: Final = ("opentelemetry.sdk", "opentelemetry.exporter", "requests")
DRIVER: Final = ("psycopg",)  # an extra, and for PostgreSQL alone
NETWORK: Final = ("aiohttp", "uvicorn", "starlette", "httptools")
NEVER: Final = (*DRIVER, "gateway.demo", "hypothesis", "jsonschema", "pytest")

LEFT_OUT: Final = {
    "gateway.cli.serve": (*SDK, *PAGES, *REPLAY, *EXPORTERS, *NEVER),
    # All that a host says over stdio goes through the SDK; it comes while servers start.
    "gateway.cli.stdio": (
        "gateway.admin",
        "gateway.listen.http",
        *PAGES,
        *REPLAY,
        *EXPORTERS,
        *NEVER,
    ),
    "gateway.cli.doctor": (*SDK, *PAGES, *REPLAY, *NEVER),
    "gateway.cli.tools": (*SDK, *PAGES, *REPLAY, *EXPORTERS, *NEVER),
    "gateway.cli.policy": (*SDK, *PAGES, *EXPORTERS, *NETWORK, *NEVER),
    "gateway.cli.schema": (*SDK, *PAGES, *REPLAY, *EXPORTERS, *NETWORK, *NEVER),
    "gateway.cli.main": ("gateway.config", "pydantic", *SDK, *PAGES, *REPLAY, *NETWORK, *NEVER),
}


@pytest.mark.parametrize("command", LEFT_OUT)
def test_a_command_imports_at_start_what_it_needs_at_start(command: str) -> None:
    code = f"import sys, {command}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    unneeded = {
        name
        for name in LEFT_OUT[command]
        if any(module == name or module.startswith(f"{name}.") for module in imported)
    }
    assert unneeded == set()

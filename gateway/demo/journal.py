"""What the gateway wrote down: its events, read with its own command."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gateway import jsontext
from gateway.demo.processes import DemoFault, weighbridge
from gateway.errors import JsonError
from gateway.types.json import JsonObject

_QUERY_S: Final = 30.0


def events(config: Path) -> Sequence[JsonObject]:
    """Return what `weighbridge events query` finds, oldest first; raises DemoFault."""
    query = ["events", "query", "--config", str(config), "--limit", "1000", "--json"]
    command = [*weighbridge(), *query]
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, timeout=_QUERY_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise DemoFault("`weighbridge events query` gave no answer") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise DemoFault(f"`weighbridge events query` failed: {said[-1] if said else 'no word why'}")
    return tuple(_event(line) for line in done.stdout.splitlines() if line.strip())


def _event(line: bytes) -> JsonObject:
    try:
        value = jsontext.parse_result(line)
    except JsonError as error:
        raise DemoFault(f"`weighbridge events query` printed no JSON: {error}") from None
    if not isinstance(value, dict):
        raise DemoFault("`weighbridge events query` printed no objects")
    return value

"""What the gateway wrote down, and what can be done about it: asked with its own commands."""

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gateway import jsontext
from gateway.demo.processes import DemoFault, weighbridge
from gateway.errors import JsonError
from gateway.types.json import Json, JsonObject
from gateway.types.operations import OpState

_ANSWER_S: Final = 90.0  # one of the commands waits for a minute
_ALL: Final = "1000"
_IN_TIME: Final = "in time"  # how the evidence ends of what nobody decided, or used, in time
EXPIRED: Final = "expired"  # how calls end whose operation is `abandoned` for that


def events(config: Path) -> Sequence[JsonObject]:
    """Return what `weighbridge events query` finds, oldest first; raises DemoFault."""
    return asked(config, "events", "query", "--limit", _ALL)


def operations(config: Path) -> Mapping[str, int]:
    """Count what `weighbridge ops list` finds, by state or as `EXPIRED`; raises DemoFault."""
    return Counter(_end(each) for each in asked(config, "ops", "list", "--limit", _ALL))


def _end(row: JsonObject) -> str:
    is_expired = row.get("state") == OpState.ABANDONED and str(row.get("evidence")).endswith(
        _IN_TIME
    )
    return EXPIRED if is_expired else str(row.get("state", ""))


def asked(config: Path, *words: str, is_refused: bool = False) -> Sequence[JsonObject]:
    """Return the objects that a `weighbridge` command prints, one a line or in a list.

    Raises DemoFault when it prints anything else, or ends otherwise than it has to: with 0, or with
    1 where it has to refuse.
    """
    name = f"`weighbridge {' '.join(words[:2])}`"
    command = [*weighbridge(), *words, "--config", str(config), "--json"]
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, timeout=_ANSWER_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise DemoFault(f"{name} gave no answer") from None
    if done.returncode != int(is_refused) or (is_refused and not done.stdout.strip()):
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise DemoFault(f"{name} failed: {said[-1] if said else 'no word why'}")
    values = [_parsed(line, name) for line in done.stdout.splitlines() if line.strip()]
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    objects = [each for each in flat if isinstance(each, dict)]
    if len(objects) != len(flat):
        raise DemoFault(f"{name} printed no objects")
    return tuple(objects)


def _parsed(line: bytes, name: str) -> Json:
    try:
        return jsontext.parse_result(line)
    except JsonError as error:
        raise DemoFault(f"{name} printed no JSON: {error}") from None

"""What is measured, and how each is started."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench.downstream import TOOL, WRITE
from gateway.contracts import pins, writing
from gateway.identity.apikeys import hash_key, new_api_key
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.tools import Contract, Effect, Risk

ROOT = Path(__file__).resolve().parent.parent
Command: TypeAlias = Callable[[int, int, Path], tuple[list[str], str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One row: `command(port, backend_port, folder)` gives argv and the caller's key."""

    name: str
    tool: str
    command: Command
    traced: bool = False  # exports spans and metrics to a collector


_ONWARD = Compensation(kind=CompensationClass.PIVOT, reason="a note stays")
POLICY = """\
rules:
  - id: bench.other-tenants
    decision: deny
    code: other_tenant
    match: {tools: ["bench.*"], tenants: [elsewhere]}
  - id: bench.long
    decision: deny
    code: too_long
    match: {tools: [bench.echo]}
    when: size(args.text) > 90000
  - id: bench.echo
    decision: allow
    match: {tools: [bench.echo], roles: {any: [agent]}, scopes: {all: [bench:read]}}
"""

WRITE_POLICY = """\
  - id: bench.note
    decision: allow
    match: {tools: [bench.note], roles: {any: [agent]}, scopes: {all: [bench:write]}}
"""


def direct(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    return [], ""


def passthrough(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    return [sys.executable, "-m", "bench.passthrough", str(port), str(backend)], ""


def weighbridge(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    return _gateway(port, backend, folder, [_contract(TOOL, Effect.READ)], POLICY)


def weighbridge_in_a_run(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """The same where every call belongs to the run that its caller's first call has begun."""
    runs = {"enabled": True, "implicit": True}
    contracts = [_contract(TOOL, Effect.READ)]
    return _gateway(port, backend, folder, contracts, POLICY, runs=runs)


def weighbridge_writes(store: str = "") -> Command:
    """A gateway that lets `note` write too; `store` is the URL of an empty one, or a new file."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        contracts = [_contract(TOOL, Effect.READ), _contract(WRITE, Effect.WRITE)]
        return _gateway(port, backend, folder, contracts, POLICY + WRITE_POLICY, store)

    return command


def _contract(tool: dict, effect: Effect) -> Contract:
    return Contract(
        tool=f"bench.{tool['name']}",
        pin=pins.pin(tool),
        effect=effect,
        risk=Risk.LOW,
        definition=dict(tool),
        scopes=frozenset({f"bench:{effect.value}"}),
        compensation=None if effect is Effect.READ else _ONWARD,
    )


def _gateway(
    port: int,
    backend: int,
    folder: Path,
    contracts: list[Contract],
    policy: str,
    store: str = "",
    **sections: dict,
) -> tuple[list[str], str]:
    key = new_api_key("bench", user="bench", tenant="acme").key
    (folder / "policies" / "contracts").mkdir(parents=True)
    (folder / "policies" / "contracts" / "bench.yaml").write_text(writing.dump(contracts))
    (folder / "policies" / "bench.yaml").write_text(policy)
    entry = {
        "id": "bench",
        "hash": hash_key(key),
        "user": "bench",
        "tenant": "acme",
        "roles": ["agent"],
        "scopes": sorted({scope for contract in contracts for scope in contract.scopes}),
    }
    config = {
        "servers": {"bench": {"url": f"http://127.0.0.1:{backend}/mcp"}},
        "listen": {"address": f"127.0.0.1:{port}"},
        "admin": {"address": "127.0.0.1:0"},
        "store": store or f"sqlite:///{folder}/store.db",
        "policies": f"{folder}/policies",
        "identity": {"api_keys": [entry]},
        **sections,
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    command = [str(ROOT / ".venv/bin/weighbridge"), "serve", "--config", f"{folder}/config.yaml"]
    return command, key


def fastmcp(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    python = ROOT / "bench/.venv-fastmcp/bin/python"
    return [str(python), str(ROOT / "bench/fastmcp_proxy.py"), str(port), str(backend)], ""


def targets() -> list[Target]:
    """All targets that this machine can start."""
    found = [
        Target(name="direct", tool="echo", command=direct),
        Target(name="pass-through", tool="echo", command=passthrough),
        Target(name="weighbridge", tool="bench__echo", command=weighbridge),
        Target(name="weighbridge in a run", tool="bench__echo", command=weighbridge_in_a_run),
        Target(name="weighbridge traced", tool="bench__echo", command=weighbridge, traced=True),
    ]
    if (ROOT / "bench/.venv-fastmcp/bin/python").exists():
        found.append(Target(name="fastmcp proxy", tool="echo", command=fastmcp))
    return found

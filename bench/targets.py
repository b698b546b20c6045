"""What is measured, and how each is started."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from bench import peers
from bench.downstream import MANY, ROWS, TOOL, WRITE
from bench.envs import program
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
    era: str = "modern"  # that its callers speak
    kind: str = "echo"  # of its calls, as `bench.load` has them
    backend: str = ""  # words for the downstream
    is_stdio: bool = False  # callers sit at its pipes
    is_other: bool = False  # somebody else's: where it fails, the rest is measured all the same
    more: dict = field(default_factory=dict)  # for the load


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
_ROWS_POLICY = """\
  - id: bench.rows
    decision: allow
    match: {tools: [bench.rows], roles: {any: [agent]}, scopes: {all: [bench:read]}}
"""
_KEPT = "    output: {keep: [/n, /rows/*/id, /rows/*/state]}\n"
_ANY = "  - {id: any, decision: allow, match: {tools: ['*'], roles: {any: [agent]}}}\n"
_RULE = """\
  - id: bench.rule-{n}
    decision: deny
    code: other
    match: {{tools: [bench.echo], roles: {{any: [role-{n}]}}}}
    when: size(args.text) > {n}
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


def weighbridge_to(protocol: str) -> Command:
    """A gateway whose server speaks `legacy` or `modern` over HTTP, or sits at pipes (`stdio`)."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        entry = {"url": f"http://127.0.0.1:{backend}/mcp", "protocol": protocol}
        if protocol == "stdio":
            words = ["-m", "bench.stdio_server"]
            entry = {"command": sys.executable, "args": words, "cwd": str(ROOT)}
        contracts = [_contract(TOOL, Effect.READ)]
        return _gateway(port, backend, folder, contracts, POLICY, servers={"bench": entry})

    return command


def weighbridge_stdio(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """A gateway that a host started: its callers sit at its pipes, without a key."""
    local = {"user": "bench", "tenant": "acme", "roles": ["agent"], "scopes": ["bench:read"]}
    contracts = [_contract(TOOL, Effect.READ)]
    argv, _ = _gateway(port, backend, folder, contracts, POLICY, identity={"local": local})
    return [argv[0], "stdio", *argv[2:]], ""


def weighbridge_workers(workers: int) -> Command:
    """A gateway of several processes."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        argv, key = weighbridge(port, backend, folder)
        return [*argv, "--workers", str(workers)], key

    return command


def weighbridge_rows(*, is_kept: bool) -> Command:
    """A gateway whose result of 32 KB is minimised, or leaves as it came."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        contracts = [_contract(TOOL, Effect.READ), _contract(ROWS, Effect.READ)]
        policy = POLICY + _ROWS_POLICY + (_KEPT if is_kept else "")
        return _gateway(port, backend, folder, contracts, policy)

    return command


def weighbridge_rules(count: int) -> Command:
    """A gateway with this many rules more, all about the tool that is called."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        policy = POLICY + "".join(_RULE.format(n=number) for number in range(count))
        return _gateway(port, backend, folder, [_contract(TOOL, Effect.READ)], policy)

    return command


def weighbridge_many(servers: int, tools: list[dict] | None = None) -> Command:
    """A gateway in front of several servers, all tools of each under contract."""

    def command(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
        url = f"http://127.0.0.1:{backend}/mcp"
        names = ["bench", *(f"bench{number}" for number in range(2, servers + 1))]
        contracts = [
            _contract(tool, Effect.READ, server=name) for name in names for tool in tools or MANY
        ]
        entries = {name: {"url": url} for name in names}
        return _gateway(port, backend, folder, contracts, "rules:\n" + _ANY, servers=entries)

    return command


def _contract(tool: dict, effect: Effect, server: str = "bench") -> Contract:
    return Contract(
        tool=f"{server}.{tool['name']}",
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


DIRECT = Target(name="direct", tool="echo", command=direct)
PASS = Target(name="pass-through", tool="echo", command=passthrough)
GATEWAY = Target(name="weighbridge", tool="bench__echo", command=weighbridge)
IN_A_RUN = Target(name="weighbridge in a run", tool="bench__echo", command=weighbridge_in_a_run)
TRACED = Target(name="weighbridge traced", tool="bench__echo", command=weighbridge, traced=True)


def others() -> list[Target]:
    """The peers and plain proxies whose environments are there."""
    every = {
        "nginx": Target(name="nginx", tool="echo", command=peers.nginx),
        "envoy": Target(
            name="envoy mcp_router", tool="bench__echo", command=peers.envoy, era="handshake"
        ),
        "fastmcp": Target(name="fastmcp proxy", tool="echo", command=peers.fastmcp),
        "hangar": Target(
            name="mcp-hangar", tool="hangar_call", command=peers.hangar, kind="hangar"
        ),
    }
    return [
        replace(target, is_other=True)
        for name, target in every.items()
        if program(name) is not None
    ]

"""The folder of one demo: the books, the gateway's configuration, and a key for each tenant."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

import gateway
from gateway.demo.helpdesk import HelpDesk
from gateway.demo.scene import ACME, GLOBEX
from gateway.identity.apikeys import ADMIN_PREFIX, hash_key, new_api_key
from gateway.types.json import Json, JsonObject
from gateway.yamltext.editors import schema_line

CONFIG: Final = "config.yaml"  # in the folder of a demo
ROOT: Final = Path(gateway.__file__).resolve().parent.parent  # a checkout, or site-packages

# What each key is for. The script's refusals come from these differences and from the policies.
_AGENTS: Final[Mapping[str, JsonObject]] = {
    ACME: {
        "user": "ana",
        "roles": ["support"],
        "scopes": ["crm:read", "crm:write", "desk:read", "payments:write"],
    },
    GLOBEX: {
        "user": "gus",
        "roles": ["viewer"],
        "scopes": ["crm:read", "crm:write"],
    },
}

# The program around the agents of one tenant. It begins and reads runs of their users, and may see
# what the CRM says; of the desk it has no business to know.
_HOST: Final[JsonObject] = {
    "id": "desk-host",
    "user": "desk-host",
    "tenant": ACME,
    "scopes": ["run:manage", "crm:read"],
}

# People who decide in the terminal, as users of the same names. `ana` is the one for whom the agent
# works, so her role is worth nothing where her own calls are decided.
_PEOPLE: Final[tuple[JsonObject, ...]] = (
    {"user": "ana", "tenant": ACME, "roles": ["finance-lead"]},
    {"user": "fern", "tenant": ACME, "roles": ["finance-lead"]},
    {"user": "ben", "tenant": ACME, "roles": ["finance-lead"]},
)
_RULE: Final = """\
# The one rule that does not ship with Weighbridge. Its time is so short that the demo can wait for
# its end.
apiVersion: weighbridge/v1
kind: PolicySet
metadata: {name: demo}

rules:
  - id: demo.refund.goodwill
    decision: require_approval
    reason: what nobody is owed is paid by a person
    match: {tools: [desk.refund], roles: {any: [support]}}
    when: args.reason == "goodwill"
    approval: {approvers: {roles: [finance-lead]}, expires: 1s}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where the gateway listens for agents, and for people and hosts; 0: wherever there is room."""

    listen: int = 0
    admin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where everything of one demo lies, and the keys that open the gateway."""

    folder: Path
    books: HelpDesk
    keys: Mapping[str, str]  # of agents, by tenant
    host_key: str  # opens `/v1`, and nothing else

    @property
    def config(self) -> Path:
        """The gateway's configuration file."""
        return self.folder / CONFIG

    @classmethod
    def create(cls, folder: Path) -> "Workspace":
        """Make the books, the keys and the policies in an empty folder.

        The policies are those that ship with us, with one rule more.
        """
        books = HelpDesk.create(folder / "helpdesk.db")
        keys = {
            tenant: new_api_key(f"{tenant}-agent", user=str(agent["user"]), tenant=tenant).key
            for tenant, agent in _AGENTS.items()
        }
        host = new_api_key(
            str(_HOST["id"]), user=str(_HOST["user"]), tenant=ACME, prefix=ADMIN_PREFIX
        )
        shutil.copytree(policies(), folder / "policies")
        rule = folder / "policies" / "demo.yaml"
        rule.write_text(schema_line("policy") + _RULE, encoding="utf-8")
        return cls(folder=folder, books=books, keys=keys, host_key=host.key)

    def write_config(
        self, *, python: str, desk_port: int, time_server: Path | None, ports: Ports
    ) -> None:
        """Write the configuration: three servers, keys, and people who decide."""
        servers: JsonObject = {
            "crm": {
                "command": python,
                "args": ["-m", "gateway.demo.crm", "--db", str(self.books.path)],
                "cwd": str(ROOT),
            },
            # It dies once in the demo; nobody wants to watch the usual pauses.
            "desk": {
                "url": f"http://127.0.0.1:{desk_port}/mcp",
                "restart": {"first": "100ms", "longest": "500ms"},
            },
        }
        if time_server is not None:
            servers["time"] = {"command": str(time_server), "args": ["--local-timezone=UTC"]}
        settings: JsonObject = {
            "servers": servers,
            "listen": {"address": f"127.0.0.1:{ports.listen}"},
            "admin": {
                "address": f"127.0.0.1:{ports.admin}",
                "accounts": list(_PEOPLE),
                # So that /events, /policies and /replay open for them, on a store that is kept.
                "auditors": [{"tenant": "acme", "roles": ["finance-lead"], "sees": ["*"]}],
                "api_keys": [{**_HOST, "hash": hash_key(self.host_key)}],
            },
            "approvals": {"hold": {"default": "1200ms"}},  # by then the agent is told to come back
            "identity": {"api_keys": [self._entry(tenant) for tenant in self.keys]},
            "events": {"checkpoints": {"to": [{"file": str(self.copies)}]}},
            "store": "sqlite:///weighbridge.db",
            "policies": "policies",
        }
        text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        self.config.write_text(schema_line("config") + text, encoding="utf-8")

    @property
    def copies(self) -> Path:
        """Where checkpoints go as well, for whoever has the log verified against them."""
        return self.config.parent / "checkpoints.jsonl"

    def _entry(self, tenant: str) -> Json:
        identity: JsonObject = {"id": f"{tenant}-agent", "hash": hash_key(self.keys[tenant])}
        return {**identity, "tenant": tenant, **_AGENTS[tenant]}


def policies() -> Path:
    """Return the shipped policies: inside an installed package, else at the top of the checkout."""
    packaged = Path(__file__).parent / "policies"
    return packaged if packaged.is_dir() else ROOT / "policies"


def time_server() -> Path | None:
    """Return the PyPI reference server that `scripts/demo` installs into a checkout."""
    program = ROOT / ".venv-demo" / "bin" / "mcp-server-time"
    return program if os.access(program, os.X_OK) else None

"""The whole configuration file as frozen values; every key with its meaning and default."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self, cast
from urllib.parse import SplitResult

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from gateway.approvals.agreeing import Say
from gateway.config.activation import ActivationSettings
from gateway.config.addresses import (
    Address,
    Endpoint,
    EndpointUrl,
    Host,
    Origin,
    endpoint,
    is_loopback,
    split_url,
)
from gateway.config.admin import AccountSettings, AdminSettings
from gateway.config.agreeing import say_of
from gateway.config.approvals import ApprovalsSettings
from gateway.config.events import EventsSettings
from gateway.config.identity import IdentitySettings
from gateway.config.runs import RunsSettings
from gateway.config.section import Section, Unique, or_text
from gateway.config.servers import ServerName, ServerSettings
from gateway.config.units import Duration, Size, Word
from gateway.types.actors import person
from gateway.types.decisions import Mode
from gateway.types.own import Own

_OWN: Final = [each.value for each in Own]
_UNRESERVED: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
)


def _check_path(path: str) -> str:
    if not path.startswith("/") or path != "/" + path.strip("/") or "//" in path:
        raise PydanticCustomError(
            "path", "is not a path; write it as `/mcp`, without a `/` at its end"
        )
    if not set(path) <= _UNRESERVED or ".." in path.split("/"):
        raise PydanticCustomError(
            "path", "has to consist of letters, digits, `-`, `.`, `_` and `~`"
        )
    if path.startswith("/.well-known"):
        raise PydanticCustomError(
            "path",
            "begins with `/.well-known`, which is taken by the protected-resource metadata; choose "
            "another",
        )
    return path


def _check_store(url: str) -> str:
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return url
    if url.startswith(("postgresql://", "postgres://")):
        return url
    raise PydanticCustomError(
        "store", "is not a store; write `sqlite:///weighbridge.db` or `postgresql://user@host/name`"
    )


def _check_own(value: object) -> object:
    if isinstance(value, bool | frozenset):
        return cast("object", value)
    named = cast("list[object]", value) if isinstance(value, list) else None
    if named is None or not all(each in _OWN for each in named):
        raise PydanticCustomError(
            "own_tools",
            "has to be `true`, `false` or a list of tools of the gateway's own: {known}",
            {"known": ", ".join(f"`{each}`" for each in _OWN)},
        )
    return frozenset(named)


OwnTools = Annotated[
    bool | frozenset[Own],
    BeforeValidator(_check_own),
    Word("`true` \\| `false` \\| list of names"),
]
HttpPath = Annotated[str, AfterValidator(_check_path), Word("path of a URL")]
StoreUrl = Annotated[str, AfterValidator(_check_store), Word("URL")]


class ExposeSettings(Section):
    """How the tools of the servers are named towards agents."""

    transparent: bool = Field(
        default=False, description="keep original names; for a gateway with one server"
    )
    max_name: int = Field(
        default=64,
        ge=16,
        le=128,
        description="longest name; shorter leaves room for a host's prefix",
    )
    own_tools: OwnTools = Field(
        default=True,
        description="tools of the gateway's own, all or some by name, where they are of use: "
        "`gateway_wait` where a rule has calls held, `gateway_repeat` where a contract lets calls "
        "be repeated, `run_…` where calls belong to runs; never with `transparent`",
    )

    def shows(self, tool: Own) -> bool:
        """Whether agents may see a tool of the gateway's own."""
        named = self.own_tools if isinstance(self.own_tools, bool) else tool in self.own_tools
        return named and not self.transparent


class ListenSettings(Section):
    """The MCP endpoint for agents."""

    address: Address = Field(
        default="127.0.0.1:8700", description="any but a loopback address needs authentication"
    )
    path: HttpPath = Field(default="/mcp", description="path of the endpoint")
    public_url: EndpointUrl | None = Field(
        default=None,
        description="URL of the endpoint as clients reach it, path included; default: from "
        "`address` and `path`",
    )
    allowed_hosts: Unique[Host] = Field(
        default=frozenset(),
        description="accepted `Host` headers, besides the address and the host of `public_url`",
    )
    allowed_origins: Unique[Origin] = Field(
        default=frozenset(),
        description="web pages that may call: accepted `Origin` headers, besides our own",
    )
    max_body: Size = Field(
        default=1 << 20, ge=1024, le=64 << 20, description="largest request, in bytes"
    )
    max_concurrency: int = Field(
        default=256, ge=1, le=100_000, description="requests under way at the same time"
    )
    max_concurrency_per_principal: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="those of one principal, so that others are served; default: half of "
        "`max_concurrency`",
    )

    @property
    def share(self) -> int:
        """Requests of one principal that may be under way at the same time."""
        return self.max_concurrency_per_principal or (self.max_concurrency + 1) // 2

    @property
    def endpoint(self) -> Endpoint:
        """The address as host and port."""
        return endpoint(self.address)

    @property
    def resource(self) -> str:
        """The URL of the endpoint as clients know it: the resource that tokens are made for."""
        return self.public_url or f"http://{self.address}{self.path}"

    @property
    def hosts(self) -> frozenset[str]:
        """Accepted `Host` headers beside loopback ones; `:*` stands for any port and none."""
        own = {self._public.netloc} if self._public is not None else set[str]()
        if self.endpoint.host not in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
            own.add(self.address.rpartition(":")[0].lower() + ":*")
        return self.allowed_hosts | own

    @property
    def origins(self) -> frozenset[str]:
        """Accepted `Origin` headers beside loopback ones."""
        own = {f"{self._public.scheme}://{self._public.netloc}"} if self._public else set[str]()
        return self.allowed_origins | own

    @property
    def _public(self) -> SplitResult | None:
        return split_url(self.public_url.lower()) if self.public_url is not None else None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the endpoint, as far as the file says."""
        hosts = [self.endpoint.host, *(host.rsplit(":", 1)[0] for host in self.allowed_hosts)]
        if self.public_url is not None:
            hosts.append(split_url(self.public_url).hostname or "")
        return all(is_loopback(host) for host in hosts)


class StoreSettings(Section):
    """Where events, runs, operations and approvals are kept; a text is short for its `url`."""

    model_config = ConfigDict(json_schema_extra=or_text)

    url: StoreUrl = Field(
        default="sqlite:///weighbridge.db",
        description="`sqlite:///` and a path (relative ones start beside this file), or "
        "`postgresql://user:password@host/name` (docs/how-to/postgresql.md)",
    )
    reads_when_unavailable: Literal["refuse", "allow"] = Field(
        default="allow",
        description="reads while the event log can't be written: `allow` serves them for as long "
        "as their events find room in memory; writes are always refused then",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"url": value} if isinstance(value, str) else value


class ContractsSettings(Section):
    """What happens to tools that nobody has reviewed."""

    unreviewed: Literal["refuse", "observe"] = Field(
        default="refuse", description="`observe` lets policy decide on a drafted contract"
    )


class TelemetrySettings(Section):
    """What traces and metrics carry; where they go is told by the `OTEL_*` variables."""

    service_name: str = Field(
        default="weighbridge", min_length=1, max_length=128, description="`service.name`"
    )
    incoming_context: Literal["parent", "link", "ignore"] = Field(
        default="parent", description="what a caller's `traceparent` becomes"
    )
    capture_content: bool = Field(
        default=False, description="put redacted arguments and results on spans"
    )


class LimitsSettings(Section):
    """Bounds that hold for every call, unless a contract says less."""

    call_timeout: Duration = Field(
        default=60.0, gt=0, le=86400, description="longest time for one call to a server"
    )
    ask_timeout: Duration = Field(
        default=300.0,
        gt=0,
        le=86400,
        description="longest time for a client to answer one question of a server",
    )
    max_result_bytes: Size = Field(
        default=256 << 10, ge=1024, le=64 << 20, description="largest result that leaves"
    )


class OperationsSettings(Section):
    """How calls that change something are told apart, and what is kept of them."""

    window: Duration = Field(
        default=86400.0,
        gt=0,
        le=90 * 86400,
        description="how long the same call gets the answer of the first one, where a contract "
        "has an `idempotency` section without a `window`, or the host sends a key",
    )
    assumed_window: Duration = Field(
        default=300.0,
        gt=0,
        le=90 * 86400,
        description="the same for tools whose contract has no `idempotency` section",
    )
    lease: Duration = Field(
        default=15.0,
        ge=1,
        le=3600,
        description="after this time without a sign of life of the gateway that sent it, the "
        "outcome of a call is unknown",
    )
    late_window: Duration = Field(
        default=600.0,
        ge=0,
        le=86400,
        description="how long an answer is taken after its caller has gone",
    )
    keep: Duration = Field(
        default=90 * 86400.0,
        ge=86400,
        description="how long ended operations are listed; unknown ones stay until they are "
        "settled, and those whose contract has a longer `window` until that is over",
    )


class Settings(Section):
    """The configuration of one gateway."""

    mode: Mode = Field(
        default=Mode.ENFORCE,
        description="`observe` lets every call pass as it came and records what would have been "
        "decided; `weighbridge enforce` switches (docs/how-to/observe.md)",
    )
    env_file: Path | None = Field(
        default=None,
        description="file of variables for `${VAR}`, `NAME=value` a line, readable by its owner "
        "alone; a value in it comes before one of the environment",
    )
    servers: dict[ServerName, ServerSettings] = Field(
        default_factory=dict, description="the tool servers behind the gateway, by name"
    )
    expose: ExposeSettings = Field(
        default_factory=ExposeSettings, description=ExposeSettings.__doc__
    )
    listen: ListenSettings = Field(
        default_factory=ListenSettings, description=ListenSettings.__doc__
    )
    admin: AdminSettings = Field(default_factory=AdminSettings, description=AdminSettings.__doc__)
    identity: IdentitySettings = Field(
        default_factory=IdentitySettings, description=IdentitySettings.__doc__
    )
    store: StoreSettings = Field(default_factory=StoreSettings, description=StoreSettings.__doc__)
    events: EventsSettings = Field(
        default_factory=EventsSettings, description=EventsSettings.__doc__
    )
    policies: Path = Field(
        default=Path("policies"), description="folder of policies, contracts and their tests"
    )
    activation: ActivationSettings = Field(
        default_factory=ActivationSettings, description=ActivationSettings.__doc__
    )
    contracts: ContractsSettings = Field(
        default_factory=ContractsSettings, description=ContractsSettings.__doc__
    )
    telemetry: TelemetrySettings = Field(
        default_factory=TelemetrySettings, description=TelemetrySettings.__doc__
    )
    limits: LimitsSettings = Field(
        default_factory=LimitsSettings, description=LimitsSettings.__doc__
    )
    operations: OperationsSettings = Field(
        default_factory=OperationsSettings, description=OperationsSettings.__doc__
    )
    approvals: ApprovalsSettings = Field(
        default_factory=ApprovalsSettings, description=ApprovalsSettings.__doc__
    )
    runs: RunsSettings = Field(default_factory=RunsSettings, description=RunsSettings.__doc__)

    @property
    def accounts(self) -> tuple[AccountSettings, ...]:
        """Who decides without an identity provider: `admin.accounts`, or who acts locally."""
        if self.admin.asks_who:
            return self.admin.accounts
        local = self.identity.local
        return (AccountSettings(user=local.user, tenant=local.tenant, roles=local.roles),)

    @property
    def say(self) -> Say:
        """Who may agree with a changed policy."""
        return say_of(self.activation, self.admin, self.accounts)

    @model_validator(mode="after")
    def _people_can_agree(self) -> Self:
        if not self.activation.is_shared:
            return self
        say, wanted = self.say, self.activation.people
        if not say.tenant:
            raise PydanticCustomError(
                "activation",
                "`activation.people` is {wanted}, and people of several tenants can log in; say "
                "in `activation.tenant` whose people agree, for all of them",
                {"wanted": wanted},
            )
        able = {
            person(user)
            for (tenant, user), roles in say.accounts.items()
            if tenant == say.tenant and (not say.roles or say.roles & roles)
        }
        is_provided = self.admin.oidc is not None and (not say.tenants or say.tenant in say.tenants)
        if not is_provided and len(able) < wanted:
            raise PydanticCustomError(
                "activation",
                "`activation.people` is {wanted}, and {able} can agree; add `admin.accounts` of "
                "`activation.tenant` with one of `activation.roles`, or `admin.oidc`",
                {"wanted": wanted, "able": len(able)},
            )
        return self

    @model_validator(mode="after")
    def _transparent_has_one_server(self) -> Self:
        used = [name for name, entry in self.servers.items() if not entry.disabled]
        if self.expose.transparent and len(used) > 1:
            raise PydanticCustomError(
                "expose", "`expose.transparent` works with one server; disable the others"
            )
        return self

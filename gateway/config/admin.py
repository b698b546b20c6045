"""The `admin` section: where people decide, how they get there, and who they are."""

from typing import Annotated, Final, Self
from urllib.parse import SplitResult

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from gateway.config.addresses import (
    Address,
    Endpoint,
    Host,
    TrustedUrl,
    endpoint,
    is_loopback,
    split_url,
)
from gateway.config.identity import (
    Algorithm,
    ApiKeySettings,
    ClaimPath,
    Name,
    Scope,
    check_ids,
)
from gateway.config.section import Many, Section, Unique
from gateway.config.units import Duration, Word
from gateway.types.actors import person

# Browsers take every name below `localhost` for this machine (RFC 6761, 6.3), and keep what they
# hold for this one from all others: `127.0.0.1` belongs to the programs of all its ports together.
OWN_HOST: Final = "weighbridge.localhost"
_LOCAL: Final = frozenset({"127.0.0.1", "::1", "localhost"})
RUN_SCOPES: Final = frozenset({"run:read", "run:phase", "run:manage"})


def _check_base_url(text: str) -> str:
    parts = split_url(text)
    if parts.path.strip("/") or parts.query:
        raise PydanticCustomError(
            "base_url",
            "has a path; the pages are at the top, as in `https://approvals.example.com`",
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


BaseUrl = Annotated[str, AfterValidator(_check_base_url), Word("URL")]


class AccountSettings(Section):
    """Somebody who logs in by a one-time link, or decides in the terminal."""

    user: Name = Field(
        description="name of the user; as in the credentials of his agents, so that nobody "
        "approves what he asked for"
    )
    tenant: Name = Field(description="name of the tenant whose calls he sees")
    roles: Unique[Name] = Field(default=frozenset(), description="roles, for rules and approvals")


class AdminKeySettings(ApiKeySettings):
    """One key for `/v1`, sent as `Authorization: Bearer wba_<id>_<secret>`; only a hash is kept."""

    user: Name = Field(description="whose runs it is for, unless it has `run:manage`")
    tenant: Name = Field(description="name of the tenant; it sees no other one's runs")
    scopes: Unique[Scope] = Field(
        description="at least one of `run:read`, `run:phase` and `run:manage`; others say which "
        "values of a hand-over it may see"
    )

    @field_validator("scopes")
    @classmethod
    def _opens_something(cls, scopes: frozenset[str]) -> frozenset[str]:
        if not scopes & RUN_SCOPES:
            raise PydanticCustomError(
                "scopes", "opens nothing; add one of `run:read`, `run:phase` and `run:manage`"
            )
        return scopes


class PersonClaimsSettings(Section):
    """Where an ID token says who logs in: a claim, a dotted path or a JSON Pointer."""

    user: ClaimPath = Field(
        default="sub",
        description="the user; the same name as in `identity`, so that nobody approves what he "
        "asked for",
    )
    tenant: ClaimPath | None = Field(
        default=None, description="the tenant; a login without it is refused"
    )
    roles: ClaimPath = Field(default="roles", description="the roles: a text or a list of texts")


class OidcSettings(Section):
    """The organisation's identity provider (OpenID Connect, authorization code with PKCE)."""

    issuer: TrustedUrl = Field(
        description="its exact `iss`; `/.well-known/openid-configuration` below it says the rest"
    )
    client_id: Name = Field(description="name of this gateway at the provider")
    client_secret: Name | None = Field(
        default=None, description="its secret, from a `${VAR}`; none for a public client"
    )
    scopes: Many[Scope] = Field(
        default=("openid",), description="what is asked for; `openid` is asked for in any case"
    )
    algorithms: Many[Algorithm] = Field(
        default=("RS256", "ES256", "EdDSA"), description="accepted signatures of ID tokens"
    )
    clock_skew: Duration = Field(
        default=60.0, ge=0, le=300, description="how far its clock may differ from ours, up to 5m"
    )
    claims: PersonClaimsSettings = Field(
        default_factory=PersonClaimsSettings, description=PersonClaimsSettings.__doc__
    )
    tenant: Name | None = Field(
        default=None, description="tenant of everybody who logs in here, instead of a claim"
    )
    tenants: Unique[Name] = Field(
        default=frozenset(), description="the only tenants that this provider may speak for"
    )

    @model_validator(mode="after")
    def _names_tenants(self) -> Self:
        if (self.tenant is None) == (self.claims.tenant is None):
            raise PydanticCustomError(
                "oidc", "needs `claims.tenant` or a fixed `tenant`, and not both"
            )
        if self.tenant is not None and self.tenants:
            raise PydanticCustomError(
                "oidc", "has `tenants`, which means nothing beside a fixed `tenant`; remove it"
            )
        return self

    @property
    def only_tenants(self) -> frozenset[str]:
        """The tenants whose people can come from this provider; empty: any."""
        return self.tenants if self.tenant is None else frozenset({self.tenant})


class AuditorSettings(Section):
    """People who see more of what happened than that of their own tenant, and judge it again."""

    tenant: Name = Field(description="the tenant whose people these are")
    roles: Unique[Name] = Field(
        default=frozenset(), description="who of them: those with one of these roles; empty: all"
    )
    sees: Unique[Name] = Field(
        default=frozenset(),
        description="the tenants whose events they see and whose calls they replay, beside their "
        "own; `*` is all of them, and events of the gateway itself",
    )


class SessionSettings(Section):
    """How long a login lasts."""

    idle: Duration = Field(
        default=1800.0, ge=60, le=86400, description="without a request; then it ends"
    )
    lifetime: Duration = Field(
        default=28800.0, ge=60, le=7 * 86400, description="in any case, used or not"
    )


class AdminSettings(Section):
    """The listener for people and for programs that manage runs; `/healthz` and `/readyz`."""

    address: Address = Field(
        default="127.0.0.1:8701",
        description="any but a loopback address needs `oidc` or `accounts`, and a `public_url` "
        "with `https://`",
    )
    public_url: BaseUrl | None = Field(
        default=None,
        description="where people reach the pages, without a path; links in notices begin so; "
        "default: `http://weighbridge.localhost` and the port, where `address` is a loopback one",
    )
    hosts: Unique[Host] = Field(
        default=frozenset(),
        description="accepted `Host` headers, besides the address and the host of `public_url`",
    )
    accounts: Many[AccountSettings] = Field(default=(), description=AccountSettings.__doc__)
    oidc: OidcSettings | None = Field(default=None, description=OidcSettings.__doc__)
    api_keys: Many[AdminKeySettings] = Field(default=(), description=AdminKeySettings.__doc__)
    auditors: Many[AuditorSettings] = Field(
        default=(),
        description="who sees policies, replays past calls under others, and sees events of other "
        "tenants; without `accounts` and `oidc` it is `identity.local`, else nobody",
    )
    session: SessionSettings = Field(
        default_factory=SessionSettings, description=SessionSettings.__doc__
    )

    @field_validator("api_keys")
    @classmethod
    def _ids_differ(cls, keys: tuple[AdminKeySettings, ...]) -> tuple[AdminKeySettings, ...]:
        check_ids(keys)
        return keys

    @field_validator("accounts")
    @classmethod
    def _accounts_differ(cls, accounts: tuple[AccountSettings, ...]) -> tuple[AccountSettings, ...]:
        names = {(each.tenant, person(each.user)) for each in accounts}
        if len(names) < len(accounts):
            raise PydanticCustomError(
                "accounts", "has the same `user` of one `tenant` twice; join the entries"
            )
        return accounts

    @property
    def endpoint(self) -> Endpoint:
        """The address as host and port."""
        return endpoint(self.address)

    @property
    def url(self) -> str:
        """Where people reach the pages, without a path."""
        return self.url_at(self.endpoint.port)

    def url_at(self, port: int) -> str:
        """Return where people reach the pages when the listener has this port."""
        if self.public_url is not None:
            return self.public_url
        host = OWN_HOST if self._has_own_host else self.address.rpartition(":")[0]
        return f"http://{host}:{port}"

    @property
    def is_https(self) -> bool:
        """Whether browsers talk to it in a way that nobody else can read."""
        return self.url.startswith("https://")

    @property
    def asks_who(self) -> bool:
        """Whether the configuration says who may log in."""
        return bool(self.accounts) or self.oidc is not None

    @property
    def accepted_hosts(self) -> frozenset[str]:
        """Accepted `Host` headers beside loopback ones; `:*` stands for any port and none."""
        own = {self._public.netloc} if self._public is not None else set[str]()
        if self.endpoint.host not in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
            own.add(self.address.rpartition(":")[0].lower() + ":*")
        if self._has_own_host:
            own.add(f"{OWN_HOST}:*")
        return self.hosts | own

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the listener, as far as the file says."""
        hosts = [self.endpoint.host, *(host.rsplit(":", 1)[0] for host in self.hosts)]
        if self._public is not None:
            hosts.append(self._public.hostname or "")
        return all(is_loopback(host) for host in hosts)

    @property
    def _has_own_host(self) -> bool:
        return self.public_url is None and self.endpoint.host.lower() in _LOCAL

    @property
    def _public(self) -> SplitResult | None:
        return split_url(self.public_url) if self.public_url is not None else None

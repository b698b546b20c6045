"""The `approvals` section: who decides by default, how long callers wait, and who is told."""

import base64
import binascii
import re
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from gateway.config.addresses import TrustedUrl
from gateway.config.identity import Name
from gateway.config.section import Many, Section, Unique
from gateway.config.units import Duration, Word
from gateway.types.actors import person
from gateway.types.approvals import ApprovalClause, Factor, NoticeStage

_WEBHOOK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
_SECRET: Final = "whsec_"  # noqa: S105 - the prefix that Standard Webhooks gives its secrets
_SECRET_BYTES: Final = range(24, 65)  # by the same

_LONGEST_HOLD_S: Final = 3600.0
_SHARE: Final = 4  # of all requests under way, those that only wait get a quarter

# How long clients wait for a tool, by the name that they give themselves; a minute for the others.
# A hint for comfort: who is held too long calls again and finds the same request.
_PATIENT: Final = {
    "claude-code": 600.0,
    "visual studio code*": 600.0,
    "claude-ai": 210.0,  # Claude Desktop gives up after four minutes
}


def _check_webhook_name(text: str) -> str:
    if not _WEBHOOK.fullmatch(text):
        raise PydanticCustomError("name", "is not a name; up to 40 letters, digits, `-` and `_`")
    return text


def _check_secret(text: str) -> str:
    try:
        key = base64.b64decode(text.removeprefix(_SECRET), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(_SECRET) or len(key) not in _SECRET_BYTES:
        raise PydanticCustomError(
            "secret",
            "is not a secret; it reads `whsec_` and 24 to 64 random bytes in base64, such as "
            "`openssl rand -base64 32` prints",
        )
    return text


WebhookName = Annotated[str, AfterValidator(_check_webhook_name)]
Secret = Annotated[str, AfterValidator(_check_secret), Word("secret")]


class ApproversSettings(Section):
    """Who decides about calls that are held by something else than a rule of the policy."""

    roles: Many[Name] = Field(default=(), description="roles whose people may decide")
    users: Many[Name] = Field(default=(), description="users who may decide")
    count: int = Field(default=1, ge=1, le=16, description="how many different people it takes")

    @property
    def clause(self) -> ApprovalClause | None:
        """The clause of such a request; None where nobody is named, and nobody could decide."""
        if not self.roles and not self.users:
            return None
        factor = Factor(name="approvers", roles=self.roles, users=self.users, count=self.count)
        return ApprovalClause(factors=(factor,))

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        if not self.roles and self.users and self.count > len({*map(person, self.users)}):
            raise PydanticCustomError(
                "count", "`count` is larger than the number of `users`; lower it, or add some"
            )
        return self


class HoldSettings(Section):
    """How long a call is held for a decision, before its caller is told to call again."""

    default: Duration = Field(
        default=45.0,
        ge=0,
        le=_LONGEST_HOLD_S,
        description="for clients that nothing is known of: many give up after a minute",
    )
    clients: dict[Name, Duration] = Field(
        default_factory=dict,
        description="for clients by the name that they give themselves; `*` stands for any "
        "characters, capitals don't matter, the first that fits counts",
    )
    rounds: Many[Name] = Field(
        default=(),
        description="clients, by name as in `clients`, that answer a bare `requestState` by "
        "themselves (MCP 2026-07-28): their calls wait in up to nine requests, each of them held "
        "so long",
    )
    most: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="calls that are held at the same time, a quarter of them for one principal "
        "and 4 for one request; one more is told `approval_pending` at once; default: a quarter "
        "of `listen.max_concurrency`",
    )

    @field_validator("clients")
    @classmethod
    def _bounded(cls, clients: dict[str, float]) -> dict[str, float]:
        if any(seconds > _LONGEST_HOLD_S for seconds in clients.values()):
            raise PydanticCustomError("hold", "holds a client for more than `1h`; shorten it")
        return clients

    def seconds(self, client: str) -> float:
        """Return for how many seconds a call of a client with this name is held."""
        name = client.casefold()
        for pattern, seconds in (*self.clients.items(), *_PATIENT.items()):
            if fnmatchcase(name, pattern.casefold()):
                return seconds
        return self.default

    def places(self, max_concurrency: int) -> int:
        """Return how many calls are held at once, of a gateway that serves so many requests."""
        return self.most or max(1, max_concurrency // _SHARE)

    def comes_back(self, client: str) -> bool:
        """Tell whether a client with this name makes the next request of a call by itself."""
        name = client.casefold()
        return any(fnmatchcase(name, pattern.casefold()) for pattern in self.rounds)


class WebhookSettings(Section):
    """One address that is told of requests; what it gets names a page and carries no right."""

    name: WebhookName = Field(description="what logs and `weighbridge approvals show` call it")
    url: TrustedUrl = Field(description="where it is posted to; redirects are not followed")
    format: Literal["cloudevents", "slack"] = Field(
        default="cloudevents",
        description="`cloudevents`: CloudEvents 1.0 in structured JSON; `slack`: for an incoming "
        "webhook of Slack, or what takes the same",
    )
    secret: Secret | None = Field(
        default=None,
        description="signs what is sent (Standard Webhooks); required with `cloudevents`",
    )
    tenants: Unique[Name] = Field(
        default=frozenset(), description="whose requests it is told of; empty: of all tenants"
    )
    stages: Unique[NoticeStage] = Field(
        default=frozenset(), description="what it is told of; empty: of every stage"
    )

    @model_validator(mode="after")
    def _signed(self) -> Self:
        if self.format == "cloudevents" and self.secret is None:
            raise PydanticCustomError(
                "secret",
                "needs a `secret`, or the receiver can't tell who sent something",
            )
        return self

    @property
    def key(self) -> bytes:
        """The bytes that the secret stands for; empty without one."""
        return base64.b64decode((self.secret or "").removeprefix(_SECRET))

    def wants(self, tenant: str, stage: NoticeStage) -> bool:
        """Tell whether this address is told of a stage of a request of a tenant."""
        return (not self.tenants or tenant in self.tenants) and (
            not self.stages or stage in self.stages
        )


class ApprovalsSettings(Section):
    """How people decide about calls: who, for how long callers wait, and who is told."""

    approvers: ApproversSettings = Field(
        default_factory=ApproversSettings, description=ApproversSettings.__doc__
    )
    hold: HoldSettings = Field(default_factory=HoldSettings, description=HoldSettings.__doc__)
    max_pending: int = Field(
        default=10,
        ge=1,
        le=10_000,
        description="requests of one user that may wait at the same time; more are refused, so "
        "that nobody tires approvers into a yes",
    )
    max_requests: int = Field(
        default=60,
        ge=1,
        le=100_000,
        description="requests of one user in an hour, however they ended; more are refused",
    )
    webhooks: Many[WebhookSettings] = Field(default=(), description=WebhookSettings.__doc__)

    @field_validator("webhooks")
    @classmethod
    def _names_differ(cls, webhooks: tuple[WebhookSettings, ...]) -> tuple[WebhookSettings, ...]:
        if len({each.name for each in webhooks}) < len(webhooks):
            raise PydanticCustomError(
                "webhooks", "has two webhooks with the same `name`; rename one"
            )
        return webhooks

    def targets(self, tenant: str, stage: NoticeStage) -> tuple[str, ...]:
        """Return the names of the addresses that are told of a stage of a tenant's request."""
        return tuple(each.name for each in self.webhooks if each.wants(tenant, stage))

    def webhook(self, name: str) -> WebhookSettings | None:
        """Return an address by its name; None when it is no longer configured."""
        return next((each for each in self.webhooks if each.name == name), None)

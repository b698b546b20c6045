"""The `events` section: how the event log is made provable."""

import base64
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from gateway.config.addresses import TrustedUrl
from gateway.config.approvals import Secret
from gateway.config.section import Many, Section
from gateway.config.units import Duration, Word
from gateway.types.audit import Level

_LONGEST_ORIGIN = 200


def _check_origin(text: str) -> str:
    if not text or len(text) > _LONGEST_ORIGIN or not text.isprintable() or {" ", "+"} & {*text}:
        raise PydanticCustomError(
            "origin", "is no name of a log; write it like `example.com/weighbridge`, without blanks"
        )
    return text


LogOrigin = Annotated[str, AfterValidator(_check_origin), Word("name of a log")]


class CopySettings(Section):
    """One place outside of the store that is handed each checkpoint: `file`, `log` or `url`."""

    file: Path | None = Field(
        default=None, description="a file that a line is added to; keep it where the store isn't"
    )
    log: Literal[True] | None = Field(
        default=None, description="`true`: a line of the gateway's own log, on standard error"
    )
    url: TrustedUrl | None = Field(
        default=None,
        description="a webhook that gets a CloudEvent; redirects are not followed",
    )
    secret: Secret | None = Field(
        default=None, description="signs what is sent to `url` (Standard Webhooks); required there"
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(each is not None for each in (self.file, self.log, self.url)) != 1:
            raise PydanticCustomError("copy", "needs one of `file`, `log` and `url`")
        if (self.url is None) != (self.secret is None):
            raise PydanticCustomError("secret", "needs a `secret` with a `url`, and only there")
        return self

    @property
    def name(self) -> str:
        """What logs and `weighbridge status` call it."""
        return str(self.file or self.url or "log")

    @property
    def signing_key(self) -> bytes:
        """The bytes that the secret stands for; empty without one."""
        return base64.b64decode((self.secret or "").removeprefix("whsec_"))


class CheckpointsSettings(Section):
    """Signed checkpoints of the log: without a copy outside, whoever owns both can rewrite all."""

    key: Path | None = Field(
        default=None,
        description="file with the private key, which `weighbridge events keys new` makes; "
        "default: beside a store in a file, where the first start makes it; with PostgreSQL there "
        "are no checkpoints without one",
    )
    origin: LogOrigin | None = Field(
        default=None,
        description="name of this log in its checkpoints; default: the name of the key",
    )
    every: Duration = Field(
        default=60.0, ge=1, le=86400, description="longest time that an event waits for one"
    )
    events: int = Field(
        default=1000, ge=1, le=1_000_000, description="one is made early for so many events"
    )
    to: Many[CopySettings] = Field(default=(), description=CopySettings.__doc__)


class SealingSettings(Section):
    """Sealed copies of arguments, for contracts that say `audit: {seal: true}`."""

    key: Path | None = Field(
        default=None,
        description="file with the secret that they are encrypted under, which `weighbridge events "
        "keys seal` makes; default: beside a store in a file, where the first sealed call makes "
        "it; with PostgreSQL calls of such contracts are refused without one",
    )
    keep: Duration | None = Field(
        default=None,
        ge=3600,
        description="for how long; older ones are destroyed, but for what is on hold. By default "
        "until somebody does, or their events are archived",
    )


class EventsSettings(Section):
    """The event log."""

    level: Level = Field(
        default=Level.REQUEST,
        description="what it keeps of arguments and results where the contract says nothing",
    )
    sealing: SealingSettings = Field(
        default_factory=SealingSettings, description=SealingSettings.__doc__
    )
    checkpoints: CheckpointsSettings = Field(
        default_factory=CheckpointsSettings, description=CheckpointsSettings.__doc__
    )

"""How calls belong to runs, as the configuration says it."""

import string
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from gateway.config.identity import Name
from gateway.config.section import Many, Section, Unique
from gateway.config.units import Duration, Word
from gateway.runs.binding import CONVERSATIONS, SESSIONS
from gateway.types.runs import Phase

# RFC 9110, 5.6.2; and what means something else already.
_TOKEN: Final = frozenset(string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~")
_TAKEN: Final = frozenset(
    {
        "accept",
        "authorization",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "idempotency-key",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "origin",
        "traceparent",
    }
)


def _check_header(name: str) -> str:
    if not name or not set(name) <= _TOKEN or name.lower() in _TAKEN:
        raise PydanticCustomError(
            "header", "is not a header of its own; write a name such as `X-Run-Id`"
        )
    return name


HeaderName = Annotated[str, AfterValidator(_check_header), Word("name of a header")]


class CorrelateSettings(Section):
    """Keys of `_meta` that hosts send by themselves, and that lead a call to its run."""

    conversations: Many[str] = Field(
        default=CONVERSATIONS,
        description="what a host calls its conversation; the first that there is counts",
    )
    sessions: Many[str] = Field(
        default=SESSIONS,
        description="the same of what may change from one call to the next: it is no part of what "
        "makes calls equal",
    )


class RunsSettings(Section):
    """How calls belong to runs."""

    enabled: bool | None = Field(
        default=None,
        description="look for the run of each call; default: where `policies` has templates of "
        "runs",
    )
    default_phase: Phase = Field(
        default=Phase.ACTING, description="phase of a call that belongs to no run of its own"
    )
    header: HeaderName = Field(
        default="X-Run-Id", description="HTTP header that names the run of a call"
    )
    correlate: CorrelateSettings = Field(
        default_factory=CorrelateSettings, description=CorrelateSettings.__doc__
    )
    implicit: bool = Field(
        default=False,
        description="begin a run for each conversation, session or caller that has none, instead "
        "of only for those that ask for one",
    )
    operators: Unique[Name] = Field(
        default=frozenset(),
        description="roles of the people who pause runs, go on with them and take them over on "
        "the page; without one, everybody who can log in",
    )
    idle: Duration = Field(
        default=1800.0,
        ge=0,
        le=90 * 86400,
        description="a run without a call for so long is stopped, and can be resumed; `0s`: never",
    )
    reads_while_paused: bool = Field(
        default=True, description="let reads through while a run is paused"
    )

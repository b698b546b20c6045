"""The sections about repeated writes, checks of outcomes and the way back, as people write them."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, JsonValue, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from gateway.contracts.sections import (
    Duration,
    OneField,
    Pointer,
    Section,
    ToolName,
    Window,
    Words,
)
from gateway.types.approvals import Execute
from gateway.types.guarantees import CompensationClass, Normal, OnVariant, Repeat
from gateway.types.operations import RetryClass

_DAY_S: Final = 86_400.0
_FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110, 5.6.2
# What carries credentials, frames the message or is the gateway's own to say.
_RESERVED_HEADER: Final = re.compile(
    r"authorization|cookie|set-cookie|host|connection|keep-alive|te|trailer|transfer-encoding"
    r"|upgrade|expect|accept|user-agent|origin|referer|last-event-id|traceparent|tracestate|baggage"
    r"|(?:mcp|content|proxy|sec|x-forwarded)-.*|forwarded|via",
    re.IGNORECASE,
)
# MCP keeps these names of `_meta` for itself.
_RESERVED_META: Final = re.compile(
    r"progressToken|traceparent|tracestate|baggage"
    r"|(?:[^/]*\.)?(?:modelcontextprotocol|mcp)(?:\.[^/]*)?/.*"
)


def _header(value: str) -> str:
    if not _FIELD_NAME.fullmatch(value):
        raise PydanticCustomError(
            "header", "should be the name of a header, such as `Idempotency-Key`"
        )
    if _RESERVED_HEADER.fullmatch(value):
        raise PydanticCustomError("header", "is a header with another use; name one for keys")
    return value


def _meta_key(value: str) -> str:
    if _RESERVED_META.fullmatch(value):
        raise PydanticCustomError("meta", "is a key of MCP's own; name one of the server's")
    return value


class InjectSection(Section):
    """Where the server wants a key that it knows a repeated request by."""

    arg: OneField | None = None
    meta: Annotated[Words, AfterValidator(_meta_key)] | None = None
    header: Annotated[str, AfterValidator(_header)] | None = None
    format: Literal["uuid5", "hex"] = "uuid5"
    known_for: Annotated[Duration, Field(gt=0)] = _DAY_S

    @model_validator(mode="after")
    def _one_place(self) -> "InjectSection":
        if sum(each is not None for each in (self.arg, self.meta, self.header)) != 1:
            raise PydanticCustomError("inject", "should have one of `arg`, `meta` and `header`")
        return self


class CallSection(Section):
    """A call to be made of what is known; texts may hold references such as `$args.id`."""

    tool: ToolName
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class LookupSection(CallSection):
    """A read that shows whether a write took place."""

    found: Words = Field(description="CEL over `args`, `result` and `op`")
    absent_after: Duration = 60.0


class IdempotencySection(Section):
    """Which arguments make two calls the same intent, and whether to send one again."""

    intent: list[Pointer] | None = Field(default=None, min_length=1)
    ignore: list[Pointer] = Field(default_factory=list[str])
    from_: OneField | None = Field(default=None, alias="from")
    normalise: dict[Pointer, Normal] = Field(default_factory=dict[str, Normal])
    window: Window | None = None
    on_variant: OnVariant = OnVariant.CONFLICT
    repeat: Repeat = Repeat.DENY
    retry: RetryClass = RetryClass.NEVER
    inject: InjectSection | None = None
    not_executed_on: list[StrictInt | Words] = Field(default_factory=list[int | str])
    lookup: LookupSection | None = None
    cancel: Literal["safe"] | None = None


class EnsureSection(Section):
    """A postcondition on a successful result."""

    when: Words = Field(description="CEL over `args` and `result`")
    message: Words


class WaitSection(Section):
    """How long a change may take to show."""

    pending: Words | None = Field(default=None, description="CEL over `args` and `result`")
    not_found_ok_for: Duration = 0.0
    interval: Annotated[Duration, Field(gt=0)] = 2.0
    max: Duration = 60.0


class ReadbackSection(CallSection):
    """A read that shows whether a write did what it says."""

    expect: Words = Field(description="CEL over `args`, `result`, `answer` and `old`")
    wait: WaitSection | None = None


class ChecksumSection(Section):
    """A digest that the server has to have come to as well."""

    of: Words
    equals: Words
    alg: Literal["sha256", "sha384", "sha512"] = "sha256"


class ObjectSection(Section):
    """What is written, as events name it."""

    type: Words = Field(description="such as `crm.ticket`")
    id: Words = Field(description="a text with references, such as `$result.id`")


class OutcomeSection(Section):
    """How to tell that a call did what it says."""

    ensure: list[EnsureSection] = Field(default_factory=list[EnsureSection])
    readback: ReadbackSection | None = None
    old: CallSection | None = None
    checksum: ChecksumSection | None = None
    object: ObjectSection | None = None


class CompensationSection(Section):
    """The operation that undoes a write, or why there is none."""

    tool: ToolName | None = None
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    class_: CompensationClass | None = Field(default=None, alias="class")
    reason: Words | None = None
    capture: list[Pointer] = Field(default_factory=list[str])
    deadline: Duration | None = None
    idempotent: bool = False
    verify: ReadbackSection | None = None


Label = Annotated[str, Field(min_length=1, max_length=60)]


class ApprovalSection(Section):
    """How people are asked about a call, and how it goes on once they agreed."""

    summary: Words | None = Field(
        default=None, description="a text with references to arguments, such as `$args.amount`"
    )
    show: dict[Label, OneField] = Field(
        default_factory=dict[str, str], description="label to pointer: shown on top"
    )
    confirm: OneField | None = Field(
        default=None, description="a value that who confirms in the caller's client has to type"
    )
    execute: Execute = Execute.ON_REENTRY
    on_disconnect: Literal["keep", "cancel"] = "keep"
    on_pin_change: Literal["reapprove", "deny"] = "reapprove"

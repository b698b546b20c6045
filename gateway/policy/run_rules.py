"""The files of templates as people write them; what a field may hold is said here only."""

import re
from typing import Annotated, Final, Literal, TypeAlias, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from gateway.jsontext import tokens
from gateway.policy.rules import API_VERSION, Model, Name, Names, Seconds
from gateway.types.runs import Mode, Phase
from gateway.types.tools import Risk

# The CEL specification's list, which no field can be named after.
_RESERVED: Final = re.compile(
    r"as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package"
    r"|return|true|var|void|while"
)
_TOOL: Final = re.compile(r"[^.\s]+\.\S+")
ENTERED: Final = (Phase.PLANNING, Phase.RETRIEVING, Phase.ACTING, Phase.FINALIZING)


def _field_name(value: str) -> str:
    if _RESERVED.fullmatch(value):
        raise ValueError(f"`{value}` is a word of expressions; name the field otherwise")
    return value


def _tool(value: str) -> str:
    if not _TOOL.fullmatch(value):
        raise ValueError("should name a tool as `server.name`")
    return value


def _pointer(value: str) -> str:
    try:
        named = tokens(value)
    except ValueError as error:
        raise ValueError(f"value {error}") from None
    if not named or "*" in named:
        raise ValueError("has to name one argument, such as `/amount`")
    return value


def _listed(value: object) -> object:
    return cast("object", value) if isinstance(value, list) else [value]


def _phases(value: object) -> object:
    if not isinstance(value, dict):
        return value
    for name in cast("dict[object, object]", value):
        if name in set(Phase) - set(ENTERED):
            raise ValueError(f"has `{name}`, which no guard leads to; use {_words(ENTERED)}")
    return cast("object", value)


def _words(phases: tuple[Phase, ...]) -> str:
    return ", ".join(f"`{each}`" for each in phases)


FieldName: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"), AfterValidator(_field_name)
]
TemplateName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
ToolName: TypeAlias = Annotated[
    str, AfterValidator(_tool), WithJsonSchema({"type": "string", "pattern": r"^[^.\s]+\.\S+$"})
]
EnteredPhase: TypeAlias = Literal["planning", "retrieving", "acting", "finalizing"]
ToolNames: TypeAlias = tuple[ToolName, ...]
Guards: TypeAlias = tuple[Name, ...]
Count: TypeAlias = Annotated[StrictInt, Field(ge=1)]


class FieldSection(Model):
    """A field that the work collects; `from` says whose word is taken for it."""

    required: StrictBool = False
    sources: Annotated[Names | None, Field(alias="from")] = None


class PhaseSection(Model):
    """What lets a run into a phase, and which tools it has there."""

    enter_when: Guards = ()
    tools: ToolNames | None = None


class MoneySection(Model):
    """At most so much in total of one argument."""

    argument: Annotated[str, AfterValidator(_pointer)]
    max: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    tools: ToolNames = ()


class LimitsSection(Model):
    """How long and how much a run may take, in all."""

    wall: Seconds | None = None
    idle: Seconds | None = None
    calls: Count | None = None
    writes: Annotated[StrictInt, Field(ge=0)] | None = None
    tokens: Count | None = None
    money: Annotated[
        tuple[MoneySection, ...],
        BeforeValidator(_listed, json_schema_input_type=MoneySection | tuple[MoneySection, ...]),
        Field(max_length=4),
    ] = ()


class TemplateSection(Model):
    """One kind of work."""

    mode: Mode = Mode.AUTO
    objective: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    fields: dict[FieldName, FieldSection] = Field(default_factory=dict[str, FieldSection])
    phases: Annotated[
        dict[Phase, PhaseSection],
        BeforeValidator(_phases, json_schema_input_type=dict[EnteredPhase, PhaseSection]),
    ] = Field(default_factory=dict[Phase, PhaseSection])
    during_wait: ToolNames = ()
    completed_when: Guards = ()
    limits: LimitsSection = LimitsSection()
    explicit_for: tuple[Risk, ...] = ()

    @model_validator(mode="after")
    def _writes_have_their_phase(self) -> "TemplateSection":
        acting = self.phases.get(Phase.ACTING)
        named = acting.tools if acting is not None else None
        strange = [] if named is None else [tool for tool in self.during_wait if tool not in named]
        if strange:
            raise ValueError(
                f"has `{strange[0]}` in `during_wait` and not among the tools of `acting`; add it "
                "there"
            )
        return self


class RunTemplates(Model):
    """One file of templates."""

    api_version: Annotated[Literal["weighbridge/v1"], Field(alias="apiVersion")] = API_VERSION
    kind: Literal["RunTemplates"] = "RunTemplates"
    metadata: dict[str, str] = Field(default_factory=dict[str, str])
    runs: Annotated[dict[TemplateName, TemplateSection], Field(min_length=1)]

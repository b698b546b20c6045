"""Tools of the gateway's own, which agents see beside those of the servers: one table of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from gateway import jsontext
from gateway.contracts.schemas import Schema, compile_tool
from gateway.errors import StoreUnavailable
from gateway.relay.errands import Errands
from gateway.results import envelope
from gateway.steps import contract
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Answer, Refusal, Status

_META: Final = "weighbridge/tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTool:
    """One tool; what it is given has been held against its schema."""

    definition: JsonObject
    is_offered: Callable[[], bool]
    """Whether it is of use by the revision in force, and the configuration shows it."""
    answer: Callable[[ProposedCall], Awaitable[Answer | Refusal]]
    """Answer a call; raises StoreUnavailable."""
    shown: Callable[[], JsonObject] | None = None
    """The definition as lists have it by the revision in force; None: as it is."""
    stands_for: Callable[[ProposedCall], Awaitable[ProposedCall | None]] | None = None
    """The call that one of this tool stands for, which is weighed in its place; None: no other.

    Raises StoreUnavailable.
    """

    @property
    def name(self) -> str:
        """The name that agents call."""
        return str(self.definition["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTools:
    """Lists and answers them; whoever sees none of them is told that there is no such tool."""

    tools: Sequence[OwnTool] = ()
    errands: Errands
    """Tasks of the gateway's own."""
    _by_name: dict[str, OwnTool] = field(init=False, default_factory=dict[str, OwnTool])

    def __post_init__(self) -> None:
        """Have each tool found by its name: every call asks."""
        self._by_name.update({each.name: each for each in self.tools})

    def definitions(self) -> tuple[JsonObject, ...]:
        """Return what tools/list shows of them."""
        return tuple(
            each.definition if each.shown is None else each.shown()
            for each in self.tools
            if each.is_offered()
        )

    def has(self, call: ProposedCall) -> bool:
        """Whether a call is of one of them, or about a task of our own."""
        if call.method is Method.CALL_TOOL:  # asked of every call, and mostly of no tool of ours
            tool = self._by_name.get(call.name)
            return tool is not None and tool.is_offered()
        return call.method.is_task and self.errands.find(call) is not None

    def names(self, tool: str) -> bool:
        """Whether one of them has that name, though it may not be offered now."""
        return tool in self._by_name

    async def meant(self, call: ProposedCall) -> ProposedCall:
        """Return the call that is weighed for one of them: most stand for themselves."""
        tool = self._called(call) if call.method is Method.CALL_TOOL else None
        if tool is None or tool.stands_for is None or _fault(tool, call) is not None:
            return call
        try:
            return await tool.stands_for(call) or call
        except StoreUnavailable:  # the tool itself says so
            return call

    async def handle(self, call: ProposedCall) -> Answer | Refusal:
        """Answer such a call; raises StoreUnavailable."""
        errand = self.errands.find(call) if call.method.is_task else None
        if errand is not None:
            return await self.errands.handle(call, errand)
        tool = self._called(call)
        if tool is None:  # it was hidden a moment ago
            return envelope.missing(call.name, call.method)
        return _fault(tool, call) or await tool.answer(call)

    def _called(self, call: ProposedCall) -> OwnTool | None:
        tool = self._by_name.get(call.name)
        return tool if tool is not None and tool.is_offered() else None


def define(
    name: str,
    title: str,
    description: str,
    properties: Mapping[str, JsonObject],
    *,
    required: Sequence[str] = (),
    effect: str = "read",
) -> JsonObject:
    """Return the definition of a tool that takes nothing but these properties."""
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {**properties},
            "required": [*required],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": effect == "read",
            "destructiveHint": False,
            "openWorldHint": False,
        },
        "_meta": {_META: {"own": True, "effect": effect, "risk": "low"}},
    }


def told(text: str, said: JsonObject, *, notes: tuple[str, ...] = ()) -> Answer:
    """Return an answer for a model: a sentence, and the same for programs."""
    content: list[Json] = [{"type": "text", "text": text}]
    return Answer(result={"content": content, "structuredContent": said}, notes=notes)


def invalid(reason: str, *, code: str, next: str = "") -> Refusal:
    """Return a refusal of an argument that no schema could have found."""
    return Refusal(status=Status.INVALID_ARGUMENTS, code=code, reason=reason, next=next)


def _fault(tool: OwnTool, call: ProposedCall) -> Refusal | None:
    if call.input_error:
        return replace(invalid(call.input_error, code="not_json"))
    schema = _schema(jsontext.dump(tool.definition))
    if schema.is_valid(call.arguments):
        return None
    return contract.invalid(schema.violations(call.arguments))


@lru_cache(maxsize=32)
def _schema(definition: bytes) -> Schema:
    value = jsontext.parse(definition)
    assert isinstance(value, dict)  # noqa: S101 - it was dumped from one
    return compile_tool(value).input

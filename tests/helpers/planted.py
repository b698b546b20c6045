"""Edits of a made-up company whose way is known: ten let more through, ten let less."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gateway.contracts import pins
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, OnFail, ProvenanceRule, Source, SourceKind
from tests.helpers.worlds import World

Edit = Callable[[World], World]
FIND, GET, NOTE = ("crm.find",), ("crm.get",), ("crm.find", "crm.note")
REFUND, MAIL, WEB = ("crm.find", "pay.refund"), ("web.fetch", "mail.send"), ("web.fetch",)
_REDACT: Final = "      redact: [{path: '/customers/*/email', as: hash}]\n"
_NO_WEB: Final = """
  - id: web.none
    decision: deny
    code: no_web
    reason: nothing from outside
    match: {tools: [web.fetch]}
"""


def _words(old: str, new: str) -> Edit:
    return lambda world: world.edited(old, new)


def _property(tool: str, name: str, schema: JsonObject) -> Edit:
    """Give an argument of a tool another schema, in the definition that is reviewed."""

    def edit(world: World) -> World:
        before = next(each for each in world.contracts if each.tool == tool)
        inputs = before.definition["inputSchema"]
        assert isinstance(inputs, dict)
        properties = inputs["properties"]
        assert isinstance(properties, dict)
        changed: Json = {**inputs, "properties": {**properties, name: schema}}
        definition: JsonObject = {**before.definition, "inputSchema": changed}
        return world.with_contract(tool, definition=definition, pin=pins.pin(definition))

    return edit


def _threshold(world: World, most: str) -> World:
    return world.edited("args.amount <= 100.0 &&", f"args.amount <= {most} &&").edited(
        "args.amount > 100.0 &&", f"args.amount > {most} &&"
    )


def _templates(old: str, new: str) -> Edit:
    def edit(world: World) -> World:
        assert old in world.templates
        return replace(world, templates=world.templates.replace(old, new))

    return edit


def _traced(world: World) -> World:
    source = Source(kind=SourceKind.ALLOWLIST, operands=("c-1",))
    rule = ProvenanceRule(pointer="/id", sources=(source,), on_fail=OnFail.DENY)
    return world.with_contract("crm.get", provenance=(rule,))


WIDER: Final[Mapping[str, Edit]] = {
    "more money without a person": lambda world: _threshold(world, "160.0"),
    "mails though strangers wrote": _words("when: run.tainted &&", "when: false &&"),
    "a larger bound": _words("max: {limit: 10}", "max: {limit: 50}"),
    "addresses in the clear": _words(_REDACT, ""),
    "one more role": _words(
        "{tools: [crm.get], roles: {any: [support, viewer]}}",
        "{tools: [crm.get], roles: {any: [support, viewer, lead]}}",
    ),
    "a limit with more room": _words("max: 3, window: 5m", "max: 30, window: 5m"),
    "no scope": lambda world: world.with_contract("crm.find", scopes=frozenset[str]()),
    "a schema that takes more": _property("crm.get", "id", {"type": ["string", "integer"]}),
    "no origin": lambda world: world.with_contract("pay.refund", provenance=()),
    "a phase without a guard": _templates("        enter_when: [evidence >= 1]\n", ""),
}
NARROWER: Final[Mapping[str, Edit]] = {
    "less money without a person": lambda world: _threshold(world, "40.0"),
    "a new denial": lambda world: world.edited("  - id: web\n", _NO_WEB + "  - id: web\n"),
    "a smaller bound": _words("max: {limit: 10}", "max: {limit: 1}"),
    "no names": _words(
        _REDACT, _REDACT.replace("}]", "}, {path: '/customers/*/name', as: remove}]")
    ),
    "one role less": _words(
        "{tools: [crm.find], roles: {any: [support, viewer]}}",
        "{tools: [crm.find], roles: {any: [viewer]}}",
    ),
    "a limit with less room": _words("max: 3, window: 5m", "max: 1, window: 5m"),
    "a scope": lambda world: world.with_contract("crm.get", scopes=frozenset({"crm:read"})),
    "a schema that takes less": _property("crm.find", "limit", {"type": "integer", "maximum": 100}),
    "an origin": _traced,
    "a read that is none": lambda world: world.with_contract(
        "web.fetch",
        effect=Effect.WRITE,
        compensation=next(
            each.compensation for each in world.contracts if each.tool == "pay.cancel"
        ),
    ),
}

# The tools that each edit is about, and what leads to their being called.
ABOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "more money without a person": REFUND,
    "mails though strangers wrote": MAIL,
    "a larger bound": FIND,
    "addresses in the clear": FIND,
    "one more role": GET,
    "a limit with more room": NOTE,
    "no scope": FIND,
    "a schema that takes more": GET,
    "no origin": REFUND,
    "a phase without a guard": ("pay.refund",),
    "less money without a person": REFUND,
    "a new denial": WEB,
    "a smaller bound": FIND,
    "no names": FIND,
    "one role less": FIND,
    "a limit with less room": NOTE,
    "a scope": GET,
    "a schema that takes less": FIND,
    "an origin": GET,
    "a read that is none": WEB,
}

# Of tools, what their servers publish: each lets less through than before, and more the other way.
DEFINITIONS: Final[Mapping[str, Edit]] = {
    "a bound": _property("crm.find", "limit", {"type": "integer", "maximum": 100}),
    "fewer words": _property("pay.cancel", "reference", {"enum": ["r-1", "r-2", "r-3"]}),
    "a length": _property("crm.get", "id", {"type": "string", "maxLength": 3}),
    "a beginning": _property("web.fetch", "url", {"type": "string", "pattern": "^https"}),
    "a pattern": _property("crm.delete", "customer_id", {"type": "string", "pattern": "^c-.$"}),
}
DEFINED: Final[Mapping[str, str]] = {
    "a bound": "crm.find",
    "fewer words": "pay.cancel",
    "a length": "crm.get",
    "a beginning": "web.fetch",
    "a pattern": "crm.delete",
}


def published(world: World, tool: str) -> Mapping[str, Mapping[str, JsonObject]]:
    """Return what the server of a tool publishes in a world."""
    server = tool.partition(".")[0]
    return {
        server: {
            each.tool.partition(".")[2]: {"name": each.tool.partition(".")[2], **each.definition}
            for each in world.contracts
            if each.tool.partition(".")[0] == server
        }
    }

"""Checks of what contracts promise of writes: their conditions, the calls in them, the way back."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway.jsontext import escape
from gateway.jsontext.references import Reference, references
from gateway.policy.cel import Environment, ExpressionError, Issue
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_tools import about, schema_at
from gateway.policy.lint_types import ArgumentTypes
from gateway.policy.phrases import phrase
from gateway.policy.survey import Survey
from gateway.types.guarantees import CallTemplate, InjectPlace, Readback
from gateway.types.json import Json
from gateway.types.tools import Contract, Effect
from gateway.yamltext.models import suggest


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = {contract.tool: contract for contract in survey.contracts}
    for contract in survey.contracts:
        yield from _way_back(contract)
        yield from _pointers(contract)
        for each in _calls(contract):
            yield from _call(contract, each, known)
        yield from _object(contract, known)
        yield from _conditions(contract)


# --- the way back -------------------------------------------------------------------------------


def _way_back(contract: Contract) -> Iterator[Finding]:
    if contract.compensation is not None or not _may_write(contract):
        return
    yield about(
        contract,
        "no-compensation",
        f"nobody says how `{contract.tool}` is undone; write `compensation` with its `tool`, "
        "or `class: irreversible` with a `reason`",
        # What nobody has reviewed yet may be there before somebody has thought about it.
        Level.ERROR if contract.reviewed else Level.WARNING,
    )


def _may_write(contract: Contract) -> bool:
    raised = (each.effect for each in contract.raises)
    return any(effect not in {None, Effect.READ} for effect in (contract.effect, *raised))


# --- arguments ----------------------------------------------------------------------------------


def _pointers(contract: Contract) -> Iterator[Finding]:
    known, schema = contract.idempotency, contract.input_schema
    named = {
        "intent": known.intent or (),
        "ignore": known.ignore,
        "from": (known.key_from,) if known.key_from else (),
        "normalise": tuple(known.normalise),
    }
    if known.inject is not None and known.inject.place is InjectPlace.ARGUMENT:
        named["inject"] = (known.inject.name,)
    for section, pointers in named.items():
        for pointer in pointers:
            if schema_at(schema, pointer) is None:
                message = f"`idempotency.{section}`: `{contract.tool}` has no argument `{pointer}`"
                yield about(contract, "unknown-argument", message, Level.ERROR)


# --- calls --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call that a contract wants made, and where it says so."""

    section: str
    template: CallTemplate
    is_read: bool = True


def _calls(contract: Contract) -> Iterator[_Call]:
    lookup, back = contract.idempotency.lookup, contract.compensation
    if lookup is not None:
        yield _Call(section="idempotency.lookup", template=lookup.call)
    if contract.old is not None:
        yield _Call(section="outcome.old", template=contract.old)
    if contract.readback is not None:
        yield _Call(section="outcome.readback", template=contract.readback.call)
    if back is not None and back.call is not None:
        yield _Call(section="compensation", template=back.call, is_read=False)
    if back is not None and back.verify is not None:
        yield _Call(section="compensation.verify", template=back.verify.call)


def _call(contract: Contract, call: _Call, known: Mapping[str, Contract]) -> Iterator[Finding]:
    name = call.template.tool
    called = known.get(name)
    if called is None:
        found = [("unknown-tool", f"`{name}` has no contract{suggest(name, [*known])}")]
    else:
        found = [
            *_effect(call, called),
            *_arguments(call.template, called),
            *_fields(dict(call.template.args), contract, known),
        ]
    for check_name, message in found:
        yield about(contract, check_name, f"`{call.section}`: {message}", Level.ERROR)


def _effect(call: _Call, called: Contract) -> Iterator[tuple[str, str]]:
    if call.is_read and called.effect is not Effect.READ:
        message = f"`{called.tool}` is a {called.effect.value}, and only reads may check"
        yield "not-a-read", message
    if not call.is_read and called.effect is Effect.READ:
        yield "not-a-write", f"`{called.tool}` is a read, and undoes nothing"


def _arguments(template: CallTemplate, called: Contract) -> Iterator[tuple[str, str]]:
    for argument in template.args:
        if schema_at(called.input_schema, f"/{escape(argument)}") is None:
            yield "unknown-argument", f"`{called.tool}` has no argument `{argument}`"
    for argument in _required(called):
        if argument not in template.args:
            yield "missing-argument", f"`{called.tool}` can't be called without `{argument}`"


def _object(contract: Contract, known: Mapping[str, Contract]) -> Iterator[Finding]:
    if contract.object is not None:
        for check_name, message in _fields(contract.object.id, contract, known):
            yield about(contract, check_name, f"`outcome.object`: {message}", Level.ERROR)


def _fields(
    template: Json, contract: Contract, known: Mapping[str, Contract]
) -> Iterator[tuple[str, str]]:
    """Find references to what, by its schema, is never there."""
    old = known.get(contract.old.tool) if contract.old is not None else None
    for reference in references(template):
        schema = _schema_of(reference, contract, old)
        if schema is not None and schema_at(schema, _pointer(reference)) is None:
            yield "unknown-field", f"there is no `{reference.text}`"


def _required(contract: Contract) -> list[str]:
    schema = contract.input_schema
    required = schema.get("required") if isinstance(schema, dict) else None
    return (
        [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    )


def _schema_of(reference: Reference, contract: Contract, old: Contract | None) -> Json:
    match reference.root:
        case "args":
            return contract.input_schema
        case "result":
            return contract.output_schema
        case "old":
            return None if old is None else old.output_schema
        case _:
            return None


def _pointer(reference: Reference) -> str:
    return "".join(f"/{escape(str(step))}" for step in reference.steps)


# --- conditions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Condition:
    """A condition of a contract, where it stands, and the names that it may use."""

    section: str
    text: str
    names: tuple[str, ...]
    level: Level = Level.ERROR


def _conditions(contract: Contract) -> Iterator[Finding]:
    for each in _written(contract):
        for check_name, issue in _issues(each, contract):
            said = phrase(issue.message, each.names)
            message = f"`{each.section}` of `{contract.tool}`: {said}"
            yield about(contract, check_name, message, each.level)


def _written(contract: Contract) -> Iterator[_Condition]:
    old = ("old",) if contract.old is not None else ()
    # These two were in use before anybody checked them: the gateway has its own answer to each.
    for rule in contract.raises:
        yield _Condition(section="risk_when", text=rule.when, names=("args",), level=Level.WARNING)
    for one in contract.ensure:
        yield _Condition(
            section="outcome.ensure",
            text=one.when,
            names=("args", "result", *old),
            level=Level.WARNING,
        )
    lookup, back = contract.idempotency.lookup, contract.compensation
    if lookup is not None:
        yield _Condition(
            section="idempotency.lookup.found", text=lookup.found, names=("args", "result", "op")
        )
    if contract.readback is not None:
        yield from _of_readback("outcome.readback", contract.readback, old)
    if back is not None and back.verify is not None:
        yield from _of_readback("compensation.verify", back.verify, old)


def _of_readback(section: str, readback: Readback, old: tuple[str, ...]) -> Iterator[_Condition]:
    names = ("args", "result", "answer", *old)
    yield _Condition(section=f"{section}.expect", text=readback.expect, names=names)
    if readback.wait.pending:
        names = ("args", "result")
        yield _Condition(section=f"{section}.wait.pending", text=readback.wait.pending, names=names)


def _issues(each: _Condition, contract: Contract) -> Iterable[tuple[str, Issue]]:
    """Return what is wrong with a condition: by itself, or else for the types of the arguments."""
    names = dict.fromkeys(each.names, "dyn")
    try:
        Environment(names).condition(each.text)
    except ExpressionError as error:
        return [("condition", issue) for issue in error.issues]
    types = ArgumentTypes(contract.input_schema, (), names)
    return [("condition-type", issue) for issue in types.issues(each.text)]

"""Step 2: is the call what people reviewed, and are its arguments what the schema asks for?"""

import re
from typing import Final

from gateway import jsontext
from gateway.case import Case
from gateway.contracts import spelling
from gateway.contracts.schemas import Schema, Violation, compile_tool
from gateway.contracts.spelling import Misspelt
from gateway.operations import keys
from gateway.types.calls import Method
from gateway.types.guarantees import Injection
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Contract, Effect, Kind
from gateway.types.values import replaced

_SHOWN: Final = 100  # characters of a name that is repeated to who sent it
# Of every prompt (MCP, server/prompts): texts by name.
_TEXTS: Final[Schema] = compile_tool(
    {"inputSchema": {"type": "object", "additionalProperties": {"type": "string"}}}
).input

# What servers take for another URI than it is for rules: `.` and `..` as segments, however they
# are separated, and escaped characters that need no escape (RFC 3986, 6.2.2).
_UNCLEAR: Final = re.compile(
    r"(?:^|[/\\]|%2f|%5c)\.\.?(?=$|[/\\?#]|%2f|%5c)|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)",
    re.IGNORECASE,
)
# Empty segments, which servers leave out; a URI inside of another one has its own `//`.
_PATH: Final = re.compile(r"(?:[^:/?#\\]+:)?(?://[^/?#\\]*)?([^?#]*)", re.DOTALL)
_EMPTY: Final = re.compile(r"(?<!:)(?<!%3a)(?:[/\\]|%2f|%5c){2}", re.IGNORECASE)


def check_definition(case: Case) -> Case | Refusal:
    """Refuse a tool whose definition can't be enforced, isn't known yet, or isn't as reviewed."""
    if case.tool.quarantine is not None:
        where = case.tool.quarantine.pointer
        place = f" at `{where}`" if where else ""
        return Refusal(
            status=Status.TOOL_QUARANTINED,
            code="tool_quarantined",
            reason=f"the definition of `{case.tool.exposed_name}` can't be enforced: "
            f"{case.tool.quarantine.reason}{place}",
        )
    away = case.tool.away
    if away is not None:  # what its server publishes has yet to be compared with the contract
        return Refusal(
            status=Status.UNAVAILABLE,
            code=away.code,
            reason=away.reason,
            retry_after_s=away.retry_after_s,
        )
    if case.tool.pin != case.contract.pin:
        return Refusal(
            status=Status.TOOL_CHANGED,
            code="pin_mismatch",
            reason=f"the definition of `{case.tool.exposed_name}` is not the reviewed one",
        )
    return case


def admit(case: Case) -> Case | Refusal:
    """Let arguments in as they are where no schema is published; a prompt's are texts."""
    unusable = _unusable(case)
    if unusable is not None:
        return unusable
    if case.tool.kind is Kind.RESOURCE and _is_unclear(case):
        return Refusal(
            status=Status.INVALID_ARGUMENTS,
            code="unclear_uri",
            reason="the URI has `.`, `..` or nothing as a segment, or escapes what needs no escape",
        )
    arguments = case.call.arguments
    if case.call.method is Method.GET_PROMPT and not _TEXTS.is_valid(arguments):
        return invalid(_TEXTS.violations(arguments), "what prompts take")
    return replaced(case, arguments=arguments)


def _is_unclear(case: Case) -> bool:
    """Whether rules over URIs could be got round; not by what the server itself lists."""
    uri, definition = case.tool.name, case.tool.definition
    is_listed = "name" in definition and uri in (
        definition.get("uri"),
        definition.get("uriTemplate"),
    )
    return not is_listed and (_UNCLEAR.search(uri) is not None or _has_empty_segment(uri))


def _has_empty_segment(uri: str) -> bool:
    path = _PATH.match(uri)
    assert path is not None  # noqa: S101 - each part may be empty
    return _EMPTY.search(uri, *path.span(1)) is not None


def _unusable(case: Case) -> Refusal | None:
    answer = check_definition(case)
    if isinstance(answer, Refusal):
        return answer
    if case.call.input_error:
        return Refusal(
            status=Status.INVALID_ARGUMENTS, code="not_json", reason=case.call.input_error
        )
    return None


def check(case: Case) -> Case | Refusal:
    """Let checked arguments into the case; anything else is refused with what was expected."""
    unusable = _unusable(case)
    if unusable is not None:
        return unusable
    injection = injected(case.contract)
    arguments = keys.own(case.call.arguments, injection)  # the model has no key of the server's
    try:
        judged = keys.filled(arguments, injection)
    except keys.KeyRefused as error:
        return Refusal(status=Status.INVALID_ARGUMENTS, code="idempotency_key", reason=str(error))
    schemas = case.revision.schemas_for(case.contract)
    if not schemas.input.is_valid(judged):
        return invalid(schemas.input.violations(judged))
    ruled = [jsontext.tokens(each.pointer)[0] for each in case.contract.provenance]
    wrong = spelling.misspelt(case.contract.input_schema, arguments, ruled)
    if wrong is not None:
        return misspelt(wrong)
    return replaced(case, arguments=arguments)


def misspelt(wrong: Misspelt) -> Refusal:
    """Refuse a name that a server may take for one which rules are about."""
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="argument_name",
        reason=f"`{wrong.pointer[:_SHOWN]}` is no argument, and could be taken for `{wrong.name}`",
        next=f"write `{wrong.name}`, or leave it out",
    )


def injected(contract: Contract) -> Injection | None:
    """Return what the gateway adds to every call of a tool: a read has no key."""
    return None if contract.effect is Effect.READ else contract.idempotency.inject


def invalid(violations: tuple[Violation, ...], against: str = "the tool's schema") -> Refusal:
    """Name each field, what was expected and what came; values are never repeated."""
    said = "; ".join(
        f"`{violation.pointer or '/'}`: expected {violation.expected}, got {violation.received}"
        for violation in violations
    )
    return Refusal(
        status=Status.INVALID_ARGUMENTS,
        code="schema",
        reason=f"the arguments do not match {against}: {said or 'not valid'}",
        details=tuple(
            {
                "pointer": violation.pointer,
                "expected": violation.expected,
                "received": violation.received,
            }
            for violation in violations
        ),
    )

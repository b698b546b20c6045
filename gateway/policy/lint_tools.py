"""Checks of rules against the tools they name, and of the tools against all the rules."""

from collections.abc import Iterator

from gateway.policy.constraints import tokens_of
from gateway.policy.findings import Finding, Level
from gateway.policy.lint_types import target
from gateway.policy.obligations import pointer_of
from gateway.policy.patterns import glob
from gateway.policy.survey import Survey, Surveyed, tool_target
from gateway.types.calls import Method
from gateway.types.json import Json
from gateway.types.tools import Contract, Effect, Risk
from gateway.yamltext.models import suggest


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    for each in survey.rules:
        yield from _unknown_tools(each, survey)
        yield from _unknown_servers(each, survey)
        yield from _nothing_selected(each, survey)
        yield from _constrained_arguments(each)
        yield from _kept_fields(each)
    for contract in survey.contracts:
        yield from _contract(contract, survey)


def _unknown_tools(each: Surveyed, survey: Survey) -> Iterator[Finding]:
    names = [contract.tool for contract in survey.contracts]
    servers = {name.partition(".")[0] for name in names}
    for index, pattern in enumerate(each.rule.match.tools or ()):
        if not any(_selects(pattern, name) for name in names):
            nearest = suggest(pattern, names)
            # On a server whose tools are known, a name that isn't there is a slip of the pen. A
            # pattern, or a server that nobody has drafted contracts for yet, may come true later.
            slip = "*" not in pattern and (nearest or pattern.partition(".")[0] in servers)
            yield each.finding(
                Level.ERROR if slip else Level.WARNING,
                "unknown-tool",
                f"`{pattern}` matches no known tool{nearest}",
                *("match", "tools", index),
            )


def _unknown_servers(each: Surveyed, survey: Survey) -> Iterator[Finding]:
    is_about_calls = Method.CALL_TOOL in each.matcher.methods
    for index, server in enumerate(each.rule.match.servers or ()):
        nearest = suggest(server, survey.servers)
        if server in survey.servers:
            continue
        # One that offers no tools has no contracts that it could be known from.
        if not (survey.configured or is_about_calls or nearest):
            continue
        said = "is configured, and none is under a contract" if survey.configured else "is known"
        yield each.finding(
            Level.ERROR if is_about_calls and nearest else Level.WARNING,
            "unknown-server",
            f"no server `{server}` {said}{nearest}",
            *("match", "servers", index),
        )


def _nothing_selected(each: Surveyed, survey: Survey) -> Iterator[Finding]:
    named = [
        contract
        for contract in survey.contracts
        if each.matcher.selects_target(tool_target(contract))
    ]
    if named and not each.tools:
        yield each.finding(
            Level.WARNING,
            "never-decides",
            f"rule `{each.rule.id}` can never decide: "
            "no tool it names has such an effect and class",
            "match",
        )


def _constrained_arguments(each: Surveyed) -> Iterator[Finding]:
    constrain = each.rule.constrain
    if constrain is None:
        return
    for kind in ("set", "max", "min", "default"):
        for name in getattr(constrain, kind):
            path = ("constrain", kind, name)
            for contract in each.tools:
                found = schema_at(contract.input_schema, pointer_of(name))
                if found is None:
                    yield each.finding(
                        Level.ERROR,
                        "unknown-argument",
                        f"`{contract.tool}` has no argument `{name}`"
                        + suggest(name, _names(contract.input_schema)),
                        *path,
                    )
                elif kind in ("max", "min") and not may_be_number(found):
                    yield each.finding(
                        Level.ERROR,
                        "not-a-number",
                        f"argument `{name}` of `{contract.tool}` is no number and has no {kind}",
                        *path,
                    )
                elif kind in ("max", "min") and _is_unbounded_when_absent(each, contract, name):
                    yield each.finding(
                        Level.INFO,
                        "unbounded",
                        f"`{contract.tool}` may be called without `{name}`, "
                        f"which then has no {kind}; add a `default`",
                        *path,
                    )


def _is_unbounded_when_absent(each: Surveyed, contract: Contract, name: str) -> bool:
    schema, constrain = contract.input_schema, each.rule.constrain
    required = schema.get("required") if isinstance(schema, dict) else None
    is_required = isinstance(required, list) and name in required
    return (
        not is_required
        and constrain is not None
        and (name not in constrain.default and name not in constrain.set)
    )


def _kept_fields(each: Surveyed) -> Iterator[Finding]:
    if each.rule.output is None:
        return
    for contract in each.tools:
        if contract.output_schema is None:
            continue
        for index, pointer in enumerate(each.rule.output.keep or ()):
            if schema_at(contract.output_schema, pointer) is None:
                yield each.finding(
                    Level.ERROR,
                    "unknown-field",
                    f"results of `{contract.tool}` have no field `{pointer}`",
                    *("output", "keep", index),
                )


def _contract(contract: Contract, survey: Survey) -> Iterator[Finding]:
    if not contract.reviewed or not contract.pin:
        yield about(
            contract,
            "unreviewed-tool",
            f"the contract of `{contract.tool}` is not reviewed; "
            "look at it and set `reviewed: true`",
        )
    if contract.effect is Effect.DESTRUCTIVE and contract.risk.rank < Risk.HIGH.rank:
        yield about(
            contract,
            "low-risk",
            f"`{contract.tool}` is destructive but of class `{contract.risk}`; "
            "it counts as `high`, so write that",
        )
    for section in _without_effect(contract):
        yield about(
            contract,
            "no-effect",
            f"`{section}` of `{contract.tool}` does nothing: the tool only reads",
        )
    spoken = any(
        contract in each.tools
        and each.is_enforced
        and each.rule.decision != "obligation"
        and (each.rule.match.tools or each.rule.match.servers or each.rule.decision != "deny")
        for each in survey.rules
    )
    if contract.effect is not Effect.READ and not spoken:
        yield about(
            contract,
            "no-rule",
            f"no rule ever allows or denies `{contract.tool}`; it can't be used",
        )


def _without_effect(contract: Contract) -> Iterator[str]:
    """Name what is promised of writes by a tool that makes none, unless a condition says so."""
    if contract.effect is not Effect.READ or any(each.effect for each in contract.raises):
        return
    if contract.compensation is not None:
        yield "compensation"
    if contract.readback is not None:
        yield "readback"
    if contract.idempotency.is_declared:
        yield "idempotency"


def about(
    contract: Contract, check_name: str, message: str, level: Level = Level.WARNING
) -> Finding:
    """Make a finding that points at the entry of a contract."""
    file, _, line = contract.place.rpartition(":")
    is_line = line.isdigit()
    return Finding(
        level=level,
        check=check_name,
        message=message,
        file=file if is_line else contract.place or "contracts",
        line=int(line) if is_line else 0,
        column=1 if is_line else 0,
    )


def _selects(pattern: str, name: str) -> bool:
    return glob([pattern])(name)


def schema_at(schema: Json, pointer: str) -> Json:
    """Return the schema of what a pointer names; True when it can't be told, None if absent."""
    root, current = schema, schema
    for token in tokens_of(pointer):
        current = _resolved(current, root)
        if not isinstance(current, dict):
            return True
        properties, items = current.get("properties"), current.get("items")
        if isinstance(items, dict) and (token == "*" or token.isdigit()):  # noqa: S105 - a wildcard
            current = items
        elif isinstance(properties, dict) and token == "*":  # noqa: S105 - a wildcard
            return True
        elif isinstance(properties, dict) and token in properties:
            current = properties[token]
        elif isinstance(properties, dict):
            return None if _is_closed_enough(current) else True
        else:
            return None if current.get("type") in _PLAIN else True
    return _resolved(current, root)


_PLAIN = ("string", "integer", "number", "boolean", "null")


def _is_closed_enough(schema: dict[str, Json]) -> bool:
    """Say whether a name that isn't among the properties is a mistake rather than a liberty."""
    is_open = schema.get("additionalProperties") not in (None, False)
    return not is_open and not any(word in schema for word in ("allOf", "anyOf", "oneOf", "$ref"))


def _resolved(schema: Json, root: Json) -> Json:
    if not isinstance(schema, dict) or not isinstance(root, dict) or "$ref" not in schema:
        return schema
    return target(schema["$ref"], root)


def may_be_number(schema: Json) -> bool:
    """Say whether a value of this schema may be a number."""
    if not isinstance(schema, dict):
        return True
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return kind is None or "number" in kinds or "integer" in kinds


def _names(schema: Json) -> list[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []

"""Checks of run templates: the tools, sources and arguments that they name, and what they bound."""

from collections.abc import Iterator, Mapping

from gateway.policy.findings import Finding, Level
from gateway.policy.lint_tools import about, may_be_number, schema_at
from gateway.policy.run_files import WrittenTemplate
from gateway.policy.survey import Survey, effects_of
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect, Risk, SourceKind
from gateway.yamltext.models import suggest

# Whose word is a source by itself; every other is a type that some result yields.
SPEAKERS = frozenset({"host", "user", "model"})
_READING = (Phase.PLANNING, Phase.RETRIEVING)


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    known = {contract.tool: contract for contract in survey.contracts}
    for template in survey.templates:
        yield from _sources(template, survey)
        yield from _phases(template, known)
        yield from _small_writes(template, known)
        yield from _money(template, known)
        yield from _times(template)
    if survey.templates:
        yield from _collected(survey)


def finding(
    template: WrittenTemplate, level: Level, name: str, message: str, *path: str | int
) -> Finding:
    """Make a finding that points at a value of a template."""
    line, column = template.file.document.place(template.path(*path))
    return Finding(
        level=level,
        check=name,
        message=message,
        file=template.file.name,
        line=line,
        column=column,
    )


def unknown_tool(
    template: WrittenTemplate, tool: str, known: Mapping[str, Contract], *path: str | int
) -> Finding:
    """Say that a tool has no contract: a slip of the pen where its server's tools are known."""
    nearest = suggest(tool, [*known])
    servers = {name.partition(".")[0] for name in known}
    slip = nearest or tool.partition(".")[0] in servers
    level = Level.ERROR if slip else Level.WARNING
    return finding(template, level, "unknown-tool", f"`{tool}` has no contract{nearest}", *path)


def writes(contract: Contract) -> bool:
    """Say whether a call of the tool may write."""
    return bool(effects_of(contract) - {Effect.READ})


def _sources(template: WrittenTemplate, survey: Survey) -> Iterator[Finding]:
    types = {each.type for contract in survey.contracts for each in contract.yields}
    for name, field in template.section.fields.items():
        for index, source in enumerate(field.sources or ()):
            if source not in types | SPEAKERS:
                yield finding(
                    template,
                    Level.ERROR,
                    "unknown-source",
                    f"no result yields `{source}`, and it is none of host, user and model"
                    + suggest(source, [*types, *SPEAKERS]),
                    *("fields", name, "from", index),
                )


def _phases(template: WrittenTemplate, known: Mapping[str, Contract]) -> Iterator[Finding]:
    for phase in template.section.phases:
        for index, tool in enumerate(template.tools(phase) or ()):
            at = ("phases", phase.value, "tools", index)
            contract = known.get(tool)
            if contract is None:
                yield unknown_tool(template, tool, known, *at)
            elif phase in _READING and contract.effect is not Effect.READ:
                message = f"`{tool}` is a {contract.effect}, and while {phase} there are only reads"
                yield finding(template, Level.ERROR, "never-allowed", message, *at)
            elif phase not in _READING and not writes(contract):
                message = f"`{tool}` is a read; while {phase}, `tools` names writes, and reads pass"
                yield finding(template, Level.INFO, "no-effect", message, *at)


def _small_writes(template: WrittenTemplate, known: Mapping[str, Contract]) -> Iterator[Finding]:
    """Find tools of class high where only low and medium ones pass, whoever allows them."""
    named = [
        ("while finalizing", tool, ("phases", "finalizing", "tools", index))
        for index, tool in enumerate(template.tools(Phase.FINALIZING) or ())
    ]
    named += [
        ("while people decide", tool, ("during_wait", index))
        for index, tool in enumerate(template.section.during_wait)
    ]
    for when, tool, path in named:
        contract = known.get(tool)
        if contract is None:
            if path[0] == "during_wait":
                yield unknown_tool(template, tool, known, *path)
            continue
        if contract.effect is Effect.DESTRUCTIVE or contract.risk.rank >= Risk.HIGH.rank:
            message = f"`{tool}` is of class high, and {when} only low and medium ones pass"
            yield finding(template, Level.ERROR, "never-allowed", message, *path)


def _money(template: WrittenTemplate, known: Mapping[str, Contract]) -> Iterator[Finding]:
    for index, limit in enumerate(template.section.limits.money):
        # One may stand alone, without a list around it.
        money = template.path("limits", "money")
        is_list = (*money, 0) in template.file.document.values
        at = ("limits", "money", *([index] if is_list else []))
        for place, tool in enumerate(limit.tools):
            contract = known.get(tool)
            if contract is None:
                yield unknown_tool(template, tool, known, *at, "tools", place)
                continue
            schema = schema_at(contract.input_schema, limit.argument)
            if schema is None:
                message = f"`{tool}` has no argument `{limit.argument}`"
                yield finding(template, Level.ERROR, "unknown-argument", message, *at, "argument")
            elif not may_be_number(schema):
                message = f"argument `{limit.argument}` of `{tool}` is no number and has no sum"
                yield finding(template, Level.ERROR, "not-a-number", message, *at, "argument")
        if not limit.tools and not any(_has(each, limit.argument) for each in known.values()):
            message = f"no write has an argument `{limit.argument}` that is a number"
            yield finding(template, Level.WARNING, "no-effect", message, *at, "argument")


def _has(contract: Contract, pointer: str) -> bool:
    schema = schema_at(contract.input_schema, pointer)
    return writes(contract) and schema is not None and may_be_number(schema)


def _collected(survey: Survey) -> Iterator[Finding]:
    """Find arguments that have to come from a field which no template collects."""
    fields = {name for template in survey.templates for name in template.section.fields}
    for contract in survey.contracts:
        for rule in contract.provenance:
            for source in rule.sources:
                name = source.operands[0] if source.operands else ""
                if source.kind is SourceKind.COLLECTED and name not in fields:
                    message = (
                        f"`provenance` of `{contract.tool}`: no run template has a field `{name}`"
                        + suggest(name, [*fields])
                    )
                    yield about(contract, "unknown-field", message)


def _times(template: WrittenTemplate) -> Iterator[Finding]:
    limits = template.section.limits
    if limits.wall is not None and limits.idle is not None and limits.idle >= limits.wall:
        message = "`idle` is no shorter than `wall`, which ends the run first"
        yield finding(template, Level.WARNING, "no-effect", message, "limits", "idle")

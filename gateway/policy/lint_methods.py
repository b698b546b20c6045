"""Checks of what rules say about anything but calls of tools: resources, prompts, questions."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from gateway.policy.cel import ConditionError, Environment
from gateway.policy.compile import environment_of
from gateway.policy.findings import Finding, Level
from gateway.policy.methods import ASKS, EVERY, OF
from gateway.policy.survey import Survey, Surveyed
from gateway.types.calls import Method
from gateway.types.json import Json
from gateway.types.tools import Kind
from gateway.yamltext.models import suggest

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # RFC 3986, 3.1
_OWN_SCHEME: Final = "weighbridge:"
_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)


def check(survey: Survey) -> Iterator[Finding]:
    """Run every check of this module."""
    for each in survey.rules:
        yield from _only_for_calls(each)
        yield from _only_for_requests(each)
        yield from _uris(each)
        yield from _prompts(each, survey)
        yield from _denies_more(each, survey)


def _only_for_calls(each: Surveyed) -> Iterator[Finding]:
    """Nobody can be asked about anything but a call, and only its arguments can be written."""
    # Tasks come with the tools that begin them, and what is demanded of calls isn't of them.
    others = each.matcher.methods - (
        {Method.CALL_TOOL} if each.matcher.names_methods else OF[Kind.TOOL]
    )
    if not others or each.rule.decision == "deny":
        return
    if each.rule.decision == "require_approval":
        yield each.finding(
            Level.ERROR,
            "approval-without-call",
            f"only `tools/call` can be approved, so this refuses {_named(others)}; "
            "write a `deny` or an `allow` rule",
            "decision",
        )
    if each.rule.constrain is not None:
        yield each.finding(
            Level.ERROR,
            "constrain-without-call",
            f"only arguments of `tools/call` can be written, so this refuses {_named(others)}; "
            "name `tools` only",
            "constrain",
        )


def _only_for_requests(each: Surveyed) -> Iterator[Finding]:
    questions = each.matcher.methods & ASKS
    if not questions or each.rule.decision == "deny":
        return
    for section in ("limits", "output"):
        if getattr(each.rule, section):
            yield each.finding(
                Level.ERROR,
                "obliged-question",
                f"questions of servers have no `{section}`, so this refuses {_named(questions)}; "
                "write a rule of its own for them",
                section,
            )


def _uris(each: Surveyed) -> Iterator[Finding]:
    for index, pattern in enumerate(each.rule.match.resources or ()):
        place = ("match", "resources", index)
        if pattern.lower().startswith(_OWN_SCHEME):
            yield each.finding(
                Level.ERROR,
                "unknown-resource",
                f"`{pattern}` is how callers name it; "
                "write the server's own URI, and the server in `match.servers`",
                *place,
            )
        elif pattern[0] not in "*?" and not _SCHEME.match(_example(pattern)):
            yield each.finding(
                Level.ERROR,
                "unknown-resource",
                f"`{pattern}` matches no URI, which begins with a scheme such as `file:`",
                *place,
            )


def _example(pattern: str) -> str:
    return pattern.replace("*", ":").replace("?", "x")


def _prompts(each: Surveyed, survey: Survey) -> Iterator[Finding]:
    servers = survey.servers
    for index, pattern in enumerate(each.rule.match.prompts or ()):
        place = ("match", "prompts", index)
        server, dot, _ = pattern.partition(".")
        if not dot and "*" not in pattern:
            message = f"`{pattern}` matches no prompt; write `server.{pattern}`"
            yield each.finding(Level.ERROR, "unknown-prompt", message, *place)
        elif server not in servers and (nearest := suggest(server, servers)):
            message = f"no server `{server}` is known{nearest}"
            yield each.finding(Level.WARNING, "unknown-prompt", message, *place)


def _denies_more(each: Surveyed, survey: Survey) -> Iterator[Finding]:
    """A denial of everything looks at arguments that only some requests have."""
    when = each.rule.when
    if each.matcher.methods != EVERY or each.matcher.names_methods or when is None:
        return
    missing = _missing(when, survey) if each.is_enforced else ""
    if missing:
        yield each.finding(
            Level.WARNING,
            "denies-more",
            f"`{missing}` is no argument of resources, prompts and questions, which are all "
            "denied then; add `match.tools`, or `has(...) &&` to the condition",
            "when",
        )


def _missing(text: str, survey: Survey) -> str:
    """Name the argument without which a condition fails, or return an empty string."""
    types = environment_of(survey.sets)
    values: dict[str, Json | datetime] = {
        name: _NOW if kind == "timestamp" else ["x"] if kind == "list<string>" else "x"
        for name, kind in types.items()
    }
    values.update({f"sets.{name}": [*entries] for name, entries in survey.sets.items()})
    values["args"] = {}
    try:
        Environment(types).compile(text).evaluate(values)
    except ConditionError as error:
        return error.missing
    return ""


def _named(methods: Iterable[Method]) -> str:
    first, *others = sorted(methods)
    return f"`{first}` and {len(others)} more" if others else f"`{first}`"

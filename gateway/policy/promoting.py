"""Recorded calls as policy tests: named callers, one line a case."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.policy.inline import inline
from gateway.policy.past import Past
from gateway.policy.rules import API_VERSION
from gateway.types.actors import Actor
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind
from gateway.yamltext.editors import schema_line

_TARGET: Final = {Kind.TOOL: "call", Kind.RESOURCE: "resource", Kind.PROMPT: "prompt"}
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """One recorded call as a case, or why it can't be one."""

    past: Past
    arguments: JsonObject
    run: JsonObject | None
    notes: tuple[str, ...] = ()  # what of the call is not in the case
    fault: str = ""  # then there is no case


def expected(past: Past) -> JsonObject:
    """Return what a case has to come to: as it was decided, and by which rule."""
    found: JsonObject = {"decision": past.decided.value}
    if past.rule:
        found["rule"] = past.rule
    elif past.code:
        found["code"] = past.code
    return found


def case(one: Promoted, caller: str, *, timed: bool) -> JsonObject:
    """Return a case as its file has it; `timed` where something depends on the time."""
    past = one.past
    found: JsonObject = {"name": f"{past.call} {past.decided.value} {past.key}", "as": caller}
    found[_TARGET[past.kind]] = past.key
    if past.kind is Kind.RESOURCE and past.server:
        found["server"] = past.server
    if not past.is_use:
        found["method"] = past.method.value
    if past.cause is not Cause.CALLER:
        found["cause"] = past.cause.value
    if one.run is not None:
        found["run"] = one.run
    else:
        found["phase"] = past.phase.value
    if one.arguments:
        found["args"] = one.arguments
    if past.pin:
        found["schema_hash"] = past.pin
    if timed:
        found["now"] = past.at.isoformat()
    return {**found, "expect": expected(past)}


def file(promoted: Sequence[Promoted], *, of: str, timed: bool) -> str:
    """Return the text of a file of tests; what could not be promoted is a comment in it."""
    names = callers(each.past.actor for each in promoted if not each.fault)
    lines = [
        schema_line("policy-test").rstrip(),
        f"# Recorded: {of}. The origin of arguments counts as shown in tests.",
        f"apiVersion: {API_VERSION}",
        "kind: PolicyTest",
        f"now: {_moment(promoted)}",
        "callers:" if names else "callers: {}",
        *(f"  {inline(name)}: {inline(_caller(actor))}" for actor, name in names.items()),
        "tests:",
    ]
    for each in promoted:
        lines += [f"  # {each.past.call}: {_on_one_line(note)}" for note in each.notes]
        if each.fault:
            lines.append(f"  # {each.past.call} is no case: {_on_one_line(each.fault)}")
        else:
            written = case(each, names[each.past.actor], timed=timed)
            lines.append(f"  - {inline(written)}")
    return "\n".join(lines) + "\n"


def callers(actors: Iterable[Actor]) -> Mapping[Actor, str]:
    """Name each actor by his user; a second one of that name gets a number."""
    found: dict[Actor, str] = {}
    taken: set[str] = set()
    for actor in actors:
        if actor in found:
            continue
        base = name = _NAME.sub("-", actor.user).strip("-.") or "somebody"
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        found[actor] = name
    return found


def _caller(actor: Actor) -> JsonObject:
    return {
        "user": actor.user,
        "tenant": actor.tenant,
        "roles": list[Json](sorted(actor.roles)),
        "scopes": list[Json](sorted(actor.scopes)),
        "client": actor.client,
        "authenticated_by": actor.method,
    }


def _moment(promoted: Sequence[Promoted]) -> str:
    moments: list[datetime] = [each.past.at for each in promoted]
    return min(moments).isoformat() if moments else "2026-01-01T00:00:00+00:00"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())

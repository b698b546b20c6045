"""Where a call may find its run: what its host, its model or its client say of that, surest first.

Nothing in here is a right. A run is looked up for the principal of the call, so that a name that
was guessed or overheard leads nowhere.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from gateway.types.calls import ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.runs import BindingKind, Phase, Place
from gateway.types.values import value

KEY: Final = "weighbridge/run"  # of `_meta`, which models can't see
_RUN: Final = re.compile(r"run_[0-9A-HJKMNP-TV-Z]{26}")
_LONGEST: Final = 512  # characters of a value that is kept as it is; of longer ones their digest
_SHOWN: Final = 64

# What hosts send by themselves, by the keys of `_meta` that they send it under.
CONVERSATIONS: Final = (
    "vscode.conversationId",
    "threadId",  # Codex
    "ai.opencode/sessionID",
    "antigravity.google/conversation_id",
    "openai/session",
)
SESSIONS: Final = ("sessionId",)  # Codex


class BadRun(ValueError):
    """What a call says of its run can't be used; one line for its caller."""


class Conflict(BadRun):
    """Two sources that each name a run name different ones."""


@value
class Chain:
    """Which values of a call lead to a run, in the order in which they are looked up."""

    conversations: tuple[str, ...] = CONVERSATIONS
    sessions: tuple[str, ...] = SESSIONS
    environment: str = ""  # the session that a host started this process for
    process: str = ""  # what tells this process from others, where it is itself the session


def places(call: ProposedCall, chain: Chain, *, of_tool: str = "") -> tuple[Place, ...]:
    """Return where to look for the run of a call, surest first; `of_tool` is an argument `run_id`.

    Raises BadRun for a run that has no name of one, and Conflict where two are named.
    """
    named = _named(call, of_tool)
    return named or tuple(_values(call, chain))


def within(found: Sequence[Place]) -> tuple[str, ...]:
    """Return what calls with these places have in common when they are the same.

    The run that is named, or what a host calls its conversation: never the run that this leads to,
    which may have ended, or begun, between two attempts. A session changes from one attempt to the
    next, and so is none.
    """
    first = found[0]
    if first.kind.is_explicit:
        return ("run", first.value)  # in whatever way it is named
    return () if first.kind.is_weak else (first.kind.value, first.value)


def asked_phase(meta: JsonObject) -> Phase | None:
    """Return the phase that a host wants the run to be in; raises BadRun for one that is none."""
    said = meta.get(KEY)
    phase = said.get("phase") if isinstance(said, dict) else None
    if phase is None:
        return None
    if isinstance(phase, str) and phase in [*Phase]:
        return Phase(phase)
    raise BadRun(f"`{KEY}` names a `phase` that there is not")


def _named(call: ProposedCall, of_tool: str) -> tuple[Place, ...]:
    """Return the runs that are named; all of them have to be the same."""
    if not call.run_header and not of_tool and KEY not in call.meta:  # as with most
        return ()
    said = {
        BindingKind.META: _of_meta(call.meta.get(KEY)),
        BindingKind.HEADER: call.run_header.strip(),
        BindingKind.TOOL: of_tool,
    }
    found = [Place(kind=kind, value=_run(name)) for kind, name in said.items() if name]
    if len({place.value for place in found}) > 1:
        sources = " and ".join(_SOURCES[place.kind] for place in found)
        raise Conflict(f"{sources} name different runs")
    return tuple(found[:1])


_SOURCES: Final = {
    BindingKind.META: f"`_meta` (`{KEY}`)",
    BindingKind.HEADER: "the header",
    BindingKind.TOOL: "the argument `run_id`",
}


def _of_meta(said: Json) -> str:
    name = said.get("id") if isinstance(said, dict) else said
    if said is None:
        return ""
    if not isinstance(name, str) or not name:
        raise BadRun(f"`{KEY}` needs the `id` of a run")
    return name


def _run(name: str) -> str:
    if not _RUN.fullmatch(name):
        shown = name if len(name) <= _SHOWN and name.isprintable() else "its value"
        raise BadRun(f"`{shown}` is not the id of a run: that begins with `run_`")
    return name


def _values(call: ProposedCall, chain: Chain) -> list[Place]:
    found = _of_keys(call.meta, chain.conversations, BindingKind.CONVERSATION)
    found += _of_keys(call.meta, chain.sessions, BindingKind.SESSION)
    if chain.environment:
        found.append(Place(kind=BindingKind.SESSION, value=f"env={chain.environment}"))
    session = call.caller.session
    if session and call.caller.transport != "stdio":
        found.append(Place(kind=BindingKind.SESSION, value=f"mcp={session}"))
    elif call.caller.transport == "stdio" and chain.process:
        found.append(Place(kind=BindingKind.SESSION, value=f"stdio={chain.process}"))
    # Whoever calls is all that is left. Where a host tells its conversations or sessions apart, the
    # run of one is not that of another, nor of calls which belong to neither.
    return found or [Place(kind=BindingKind.PRINCIPAL, value="")]


def _of_keys(meta: JsonObject, keys: Sequence[str], kind: BindingKind) -> list[Place]:
    """Return the first value there is: hosts that send several mean one conversation by them."""
    if meta.keys().isdisjoint(keys):  # as with most
        return []
    for key in keys:
        said = meta.get(key)
        text = str(said) if isinstance(said, int) and not isinstance(said, bool) else said
        if isinstance(text, str) and text:
            return [Place(kind=kind, value=f"{key}={_short(text)}")]
    return []


def _short(text: str) -> str:
    """Return a text, or what tells a long one from every other: all of it counts."""
    if len(text) <= _LONGEST:
        return text
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"

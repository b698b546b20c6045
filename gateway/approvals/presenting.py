"""The document that approvers are shown: made once, when the request is made, and kept sealed.

It holds values as they are; `gateway.approvals.lines` makes of them what an eye may trust. Its
digest is in the log, so that afterwards nobody has to wonder what somebody had before him.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.approvals import summary
from gateway.approvals.changes import changes
from gateway.approvals.masking import Digest, Sight, is_masked
from gateway.types.actors import Actor
from gateway.types.guarantees import Compensation, Injection
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Contract, Effect, Risk

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call that people have to decide about, as far as they are told of it."""

    contract: Contract
    server: str
    arguments: Sight  # final, without what the gateway adds when it sends
    before: Sight | None = None  # those of the request that this one replaces
    effect: Effect
    risk: Risk
    risk_reason: str
    actor: Actor
    run_id: str
    phase: str
    rule: str
    reason: str  # the policy's
    provenance: tuple[str, ...] = ()  # what is doubtful about the origin of arguments
    note: str = ""  # words of the model or its host; nobody has verified them


def present(asked: Asked, digest: Digest) -> JsonObject:
    """Return the document; `digest` gives the keyed digest that stands where a value is hidden."""
    contract, actor = asked.contract, asked.actor
    arguments, masked = asked.arguments.masked(digest)
    before = asked.before
    return {
        "v": VERSION,
        "summary": _summary(asked, arguments, frozenset(masked)),
        "server": asked.server,
        "tool": contract.tool,
        "title": _title(contract),
        "effect": str(asked.effect),
        "risk": str(asked.risk),
        "risk_reason": asked.risk_reason,
        "arguments": arguments,
        "masked": list[Json](masked),
        "top": [*_top(contract.approval.show or {}, arguments, frozenset(masked))],
        "confirm": contract.approval.confirm,
        "changes": [] if before is None else [*changes(before, asked.arguments, digest)],
        "requester": {
            "user": actor.user,
            "client": actor.client,
            "tenant": actor.tenant,
            "roles": list[Json](sorted(actor.roles)),
        },
        "run": {"id": asked.run_id, "phase": asked.phase},
        "rule": asked.rule,
        "reason": asked.reason,
        "undo": _undo(contract.compensation, asked.effect),
        "injected": _injected(contract.idempotency.inject),
        "size": len(jsontext.dump(asked.arguments.whole)),
        "provenance": list[Json](asked.provenance),
        "note": asked.note,
    }


def _summary(asked: Asked, arguments: JsonObject, masked: frozenset[JsonPointer]) -> str:
    template = asked.contract.approval.summary
    if template:
        return summary.filled(template, arguments, masked)
    return summary.plain(asked.contract.tool, asked.effect, arguments)


def _title(contract: Contract) -> str:
    """Return the tool's own title, as it was reviewed."""
    hints = contract.definition.get("annotations")
    titles = (contract.definition, hints if isinstance(hints, dict) else {})
    found = (each.get("title") for each in titles)
    return next((title for title in found if isinstance(title, str) and title), "")


def _top(
    show: Mapping[str, JsonPointer], arguments: JsonObject, masked: frozenset[JsonPointer]
) -> Iterator[JsonObject]:
    for label, pointer in show.items():
        row: JsonObject = {"label": label, "pointer": pointer}
        if is_masked(pointer, masked):
            row["hidden"] = True
        else:
            try:
                row["value"] = jsontext.get(arguments, pointer)
            except KeyError:
                row["absent"] = True
        yield row


def _undo(back: Compensation | None, effect: Effect) -> JsonObject:
    """Say whether the call can be undone: `unknown` where nobody has said anything about it."""
    if effect is Effect.READ:
        return {"kind": "not_needed", "tool": "", "deadline_s": None, "reason": ""}
    if back is None:
        return {"kind": "unknown", "tool": "", "deadline_s": None, "reason": ""}
    return {
        "kind": str(back.kind),
        "tool": "" if back.call is None else back.call.tool,
        "deadline_s": back.deadline_s,
        "reason": back.reason,
    }


def _injected(injection: Injection | None) -> JsonObject | None:
    """Say where the gateway puts a key of its own: it is not among the arguments yet."""
    if injection is None:
        return None
    return {"where": str(injection.place), "name": injection.name}

"""Events about changes of the policy that wait for people: proposed, agreed with, turned down."""

from datetime import datetime
from typing import Final

from gateway.events.forms import COUNT, TEXT, TEXTS, about, an_action, an_object, one_of
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean
from gateway.types.proposals import Proposal

_TEXT: Final = 1_000
_PERSON: Final[JsonObject] = {
    "by": about(TEXT, "who; empty where nobody said that it was him"),
    "tenant": TEXT,
    "roles": TEXTS,
    "channel": one_of(Channel),
    "assurance": one_of(Assurance),
    "issuer": about(
        TEXT, "of the login; `os:` and an account for a command, or a link, of that account"
    ),
}
_ABOUT: Final[JsonObject] = {
    "proposal": TEXT,
    "revision": about(TEXT, "exactly this, by its digest"),
    "lacks": about(COUNT, "how many more people have to agree"),
}
_OPTIONAL: Final = frozenset({"tenant", "roles", "channel", "assurance", "issuer"})
ACTIONS: Final[tuple[JsonObject, ...]] = (
    an_action(
        "policy_proposed",
        {
            **_ABOUT,
            "from": about(TEXT, "the revision in force"),
            "because": about(TEXT, "what brought it about, such as `a file changed`"),
            "warnings": about(COUNT, "of the linter"),
            "tests": about(COUNT, "of the policy, all of which passed"),
            "change": about(
                an_object(dict.fromkeys(("requests", *map(str, Lean)), COUNT)),
                "as of `policy_activated`",
            ),
            **_PERSON,
        },
        _OPTIONAL | {"change"},
    ),
    an_action("policy_approved", {**_ABOUT, "reason": TEXT, **_PERSON}, _OPTIONAL),
    an_action("policy_rejected", {**_ABOUT, "reason": TEXT, **_PERSON}, _OPTIONAL),
)


def proposed(proposal: Proposal, who: Approver | None, *, id: str, lacks: int) -> Event:
    """Say that a changed policy waits for people."""
    body: JsonObject = {
        **_about(proposal, lacks),
        "from": proposal.base,
        "because": proposal.because,
        "warnings": proposal.warnings,
        "tests": proposal.tests,
    }
    if proposal.change:
        body["change"] = proposal.change
    return _event("policy_proposed", id, proposal.at, {**body, **_person(who)})


def approved(
    proposal: Proposal, who: Approver, *, id: str, at: datetime, lacks: int, reason: str
) -> Event:
    """Say that somebody agrees with exactly this revision."""
    body: JsonObject = {**_about(proposal, lacks), "reason": reason[:_TEXT]}
    return _event("policy_approved", id, at, {**body, **_person(who)})


def rejected(
    proposal: Proposal, who: Approver, *, id: str, at: datetime, lacks: int, reason: str
) -> Event:
    """Say that somebody turned it down: it will not take force."""
    body: JsonObject = {**_about(proposal, lacks), "reason": reason[:_TEXT]}
    return _event("policy_rejected", id, at, {**body, **_person(who)})


def _about(proposal: Proposal, lacks: int) -> JsonObject:
    return {"proposal": proposal.id, "revision": proposal.revision, "lacks": lacks}


def _person(who: Approver | None) -> JsonObject:
    if who is None:
        return {"by": ""}
    return {
        "by": who.user,
        "tenant": who.tenant,
        "roles": list[Json](sorted(who.roles)),
        "channel": str(who.channel),
        "assurance": str(who.assurance),
        "issuer": who.issuer,
    }


def _event(action: str, id: str, at: datetime, body: JsonObject) -> Event:
    return Event(
        id=id, at=at, kind=EventKind.ADMIN, stage=Stage.RECORDED, body={"action": action, **body}
    )

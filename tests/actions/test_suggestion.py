"""A draft of rules, tried on the calls that it is made from."""

import random
from dataclasses import replace
from typing import Any

from gateway.actions import revisions
from gateway.actions.suggestion import drafted, request
from gateway.policy.findings import Level
from gateway.policy.past import Past
from gateway.revision import Unreviewed
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Kind, Risk
from tests.helpers.edits import AT, TEXTS, a_revision
from tests.helpers.pasts import a_past
from tests.policy.example import SAM

REVISION = a_revision()


def refund(number: int, **changes: Any) -> Past:
    fields: dict[str, Any] = {
        "call": f"call_{number}",
        "key": "pay.refund",
        "server": "pay",
        "arguments": {"amount": number, "currency": "EUR"},
        "rule": "refund.small",
        "does": Effect.WRITE,
        "risk": Risk.CRITICAL,
    }
    return a_past(**(fields | changes))


def of_all_kinds() -> list[Past]:
    chance = random.Random(5)
    calls = [
        refund(
            number,
            arguments={
                "amount": chance.choice([chance.randint(1, 90), chance.random() * 90]),
                "currency": chance.choice(["EUR", "USD"]),
                **({"note": "it's"} if chance.random() < 0.5 else {}),
            },
            actor=replace(
                SAM,
                user=chance.choice(["sam", "kim", "lee"]),
                tenant=chance.choice(["acme", "globex"]),
                roles=frozenset(chance.sample(["support", "lead", "viewer"], 2)),
            ),
        )
        for number in range(200)
    ]
    run = {"template": "case", "phase": "acting", "fields": {"customer": "c-1"}, "evidence": 1}
    return [
        *calls,
        a_past(
            key="crm.find", server="crm", arguments={"query": "x", "limit": 3}, phase=Phase.PLANNING
        ),
        a_past(key="crm.close", server="crm", arguments={"customer": "c-1"}, run=run),
        a_past(
            kind=Kind.RESOURCE,
            method=Method.READ_RESOURCE,
            key="file:///h/a?b=*",
            server="files",
            arguments={},
        ),
        a_past(
            kind=Kind.PROMPT, method=Method.GET_PROMPT, key="desk.reply", arguments={"tone": "kind"}
        ),
        a_past(
            key="mail.send",
            server="mail",
            arguments={"to": ["a@b"], "body": "x"},
            actor=replace(SAM, roles=frozenset(), scopes=frozenset()),
        ),
    ]


def test_every_call_that_a_draft_is_made_from_replays_to_allow() -> None:
    found = drafted(of_all_kinds(), REVISION, of="from yesterday")
    assert found.calls == 205
    assert found.missed == ()
    assert len(found.rules) == 6


def test_the_draft_goes_into_the_folder_as_it_is_and_changes_no_decision() -> None:
    found = drafted(of_all_kinds(), REVISION, of="from yesterday")
    folder = revisions.folder_of({**TEXTS, "draft.yaml": found.text})
    built = revisions.build(folder, unreviewed=Unreviewed.REFUSE, at=AT)
    assert built.problem == ""
    assert [each for each in built.findings if each.level is Level.ERROR] == []
    assert built.revision is not None
    drafts = [rule for rule in built.revision.policy.rules if rule.place.startswith("draft.yaml")]
    assert len(drafts) == 6
    assert all(rule.shadow for rule in drafts)
    past = refund(50)
    decision = built.revision.policy.decide(request(past, built.revision))
    assert decision.rule == "refund.small"
    assert "suggested.pay.refund" in [each.rule for each in decision.shadow]


def test_the_draft_allows_no_more_than_was_seen() -> None:
    found = drafted([refund(50), refund(20)], REVISION, of="x")
    enforced = {"draft.yaml": found.text.replace("mode: shadow\n", "")}
    new = a_revision({**{k: v for k, v in TEXTS.items() if k != "rules.yaml"}, **enforced})

    def effect(past: Past) -> DecisionEffect:
        return new.policy.decide(request(past, new)).effect

    allow, deny = DecisionEffect.ALLOW, DecisionEffect.DENY
    assert effect(refund(50)) is allow
    assert effect(refund(51)) is deny
    assert effect(refund(50, arguments={"amount": 50, "currency": "USD"})) is deny
    assert effect(refund(50, phase=Phase.FINALIZING)) is deny
    assert effect(refund(50, actor=replace(SAM, tenant="globex"))) is deny
    assert effect(refund(50, actor=replace(SAM, roles=frozenset({"viewer"})))) is deny
    unscoped = refund(50, actor=replace(SAM, scopes=frozenset()))
    assert effect(unscoped) is DecisionEffect.ALLOW  # neither contract nor rule asks for a scope
    assert effect(refund(50, arguments={"amount": 5, "currency": "EUR", "note": "x"})) is deny


def test_only_what_was_allowed_counts_and_what_was_granted_in_vain_is_named() -> None:
    denied = refund(1, decided=DecisionEffect.DENY, rule="own-tenant")
    held = refund(2, decided=DecisionEffect.REQUIRE_APPROVAL, rule="refund.large")
    found = drafted([refund(3), denied, held], REVISION, of="x")
    assert found.calls == 1
    assert any(each.startswith("rule `mail` never decided") for each in found.unused)
    assert not any("`refund.large`" in each or "`own-tenant`" in each for each in found.unused)
    only = drafted([refund(3)], REVISION, of="x", tool="pay.refund")
    assert [each.partition(" (")[0] for each in only.unused] == [
        "rule `refund.large` never decided"
    ]


def test_a_call_that_the_draft_can_t_allow_is_named() -> None:
    odd = refund(7, arguments={"amount": "?", "currency": "EUR"}, unknown={"/amount": "redacted"})
    found = drafted([refund(3), odd], REVISION, of="x")
    assert found.missed == ()  # what is not known bounds nothing
    assert "`amount` is not bounded: of 1 call it is not known" in found.text
    gone = drafted([replace_contract(refund(3))], REVISION, of="x")
    assert gone.missed == ()


def replace_contract(past: Past) -> Past:
    """Return a call of a tool that has no contract any more."""
    return a_past(key="pay.gone", server="pay", arguments=past.arguments)

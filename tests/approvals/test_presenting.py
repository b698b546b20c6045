"""The document that approvers are shown."""

from dataclasses import replace
from typing import Any

import pytest

from gateway import jsontext
from gateway.types.approvals import ApprovalNotes
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
)
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect
from tests.helpers.cases import a_contract
from tests.helpers.presenting import a_digest, a_document, a_sight


def a_write(**changes: Any) -> Contract:
    return replace(a_contract(), effect=Effect.WRITE, **changes)


def test_a_document_says_everything_about_a_call() -> None:
    notes = ApprovalNotes(summary="Pay $args.amount", show={"To": "/to", "Not": "/not"})
    document = a_document(
        {"amount": 5, "to": "a"},
        contract=a_write(approval=notes),
        before=a_sight({"amount": 4, "to": "a"}),
        provenance=("`/to` must come from results(crm.id), and did not",),
        note="please",
    )
    assert document == {
        "v": 1,
        "summary": "Pay 5",
        "server": "crm",
        "tool": "crm.find",
        "title": "",
        "effect": "write",
        "risk": "high",
        "risk_reason": "contract",
        "arguments": {"amount": 5, "to": "a"},
        "masked": [],
        "top": [
            {"label": "To", "pointer": "/to", "value": "a"},
            {"label": "Not", "pointer": "/not", "absent": True},
        ],
        "confirm": "",
        "changes": [{"pointer": "/amount", "before": 4, "after": 5, "masked": []}],
        "requester": {"user": "sam", "client": "test", "tenant": "acme", "roles": ["support"]},
        "run": {"id": "run_1", "phase": "acting"},
        "rule": "crm.large",
        "reason": "large ones need a person",
        "undo": {"kind": "unknown", "tool": "", "deadline_s": None, "reason": ""},
        "injected": None,
        "size": len('{"amount":5,"to":"a"}'),
        "provenance": ["`/to` must come from results(crm.id), and did not"],
        "note": "please",
    }


def test_a_secret_is_nowhere_in_the_document() -> None:
    notes = ApprovalNotes(summary="Use $args.pin", show={"Pin": "/pin"})
    document = a_document(
        a_sight({"pin": "s3cret"}, pin="[redacted:secret]"),
        contract=a_write(approval=notes),
        before=a_sight({"pin": "s3cret-2"}, pin="[redacted:secret]"),
    )
    assert b"s3cret" not in jsontext.dump(document)
    assert document["masked"] == ["/pin"]
    assert document["summary"] == "Use (hidden)"
    assert document["top"] == [{"label": "Pin", "pointer": "/pin", "hidden": True}]
    assert a_digest("s3cret").encode() in jsontext.dump(document)


@pytest.mark.parametrize(
    ("definition", "title"),
    [
        ({"title": "Find"}, "Find"),
        ({"annotations": {"title": "Finds"}}, "Finds"),
        ({"title": "Find", "annotations": {"title": "Finds"}}, "Find"),
        ({"title": 1, "annotations": []}, ""),
    ],
)
def test_the_title_is_the_reviewed_one(definition: JsonObject, title: str) -> None:
    assert a_document(contract=a_write(definition=definition))["title"] == title


@pytest.mark.parametrize(
    ("effect", "back", "undo"),
    [
        (Effect.READ, None, ("not_needed", "", None, "")),
        (Effect.WRITE, None, ("unknown", "", None, "")),
        (
            Effect.WRITE,
            Compensation(
                kind=CompensationClass.COMPENSATABLE,
                call=CallTemplate(tool="crm.undo"),
                deadline_s=60.0,
            ),
            ("compensatable", "crm.undo", 60.0, ""),
        ),
        (
            Effect.DESTRUCTIVE,
            Compensation(kind=CompensationClass.IRREVERSIBLE, reason="gone"),
            ("irreversible", "", None, "gone"),
        ),
    ],
)
def test_it_says_whether_the_call_can_be_undone(
    effect: Effect, back: Compensation | None, undo: tuple[Any, ...]
) -> None:
    document = a_document(effect=effect, contract=a_write(compensation=back))
    assert document["undo"] == dict(
        zip(("kind", "tool", "deadline_s", "reason"), undo, strict=True)
    )


def test_it_says_where_the_gateway_adds_a_key() -> None:
    known = Idempotency(inject=Injection(place=InjectPlace.HEADER, name="Idempotency-Key"))
    document = a_document(contract=a_write(idempotency=known))
    assert document["injected"] == {"where": "header", "name": "Idempotency-Key"}

"""What operations leave behind for their way back."""

from dataclasses import replace

import pytest

from gateway import jsontext
from gateway.crossing.remains import Gone, Remains
from gateway.operations import undo
from gateway.results import kept
from gateway.store.vault import Vault
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer, Refusal, Status
from tests.helpers.operations import wanted

VAULT = Vault(lambda tenant: b"k" * 32)
REMAINS = Remains(vault=VAULT)
ASKED: JsonObject = {"arguments": {"id": 7}, "principal": {"user": "sam"}}
ANSWER = Answer(result={"content": [], "structuredContent": {"id": "r1", "note": "[masked]"}})


def kept_as(
    outcome: Answer | Refusal | None = ANSWER, members: JsonObject | None = None
) -> Operation:
    op = wanted(op_id="op_1", arguments=VAULT.seal("acme", "k1", jsontext.dump(ASKED)))
    if outcome is None:
        return op
    body: JsonObject = {**kept.to_json(outcome), **(members or {})}
    return replace(op, outcome=VAULT.seal("acme", "op_1", jsontext.dump(body)))


def test_what_was_asked_for_and_by_whom_is_there() -> None:
    assert REMAINS.asked(kept_as()) == ASKED


def test_references_stand_for_what_was_sent_and_answered() -> None:
    known = REMAINS.known(replace(kept_as(), downstream_key="77"))
    assert (known.args, known.op) == ({"id": 7}, {"id": "op_1", "key": "77"})
    assert known.result == {"id": "r1", "note": "[masked]"}
    assert known.old is None


def test_captured_values_and_what_was_there_before_are_known() -> None:
    op = kept_as(members={undo.CAPTURED: {"/note": "late"}, undo.OLD: {"status": "paid"}})
    known = REMAINS.known(op)
    assert known.result == {"id": "r1", "note": "late"}
    assert known.old == {"status": "paid"}


def test_a_key_that_no_server_was_given_stands_for_nothing() -> None:
    assert REMAINS.known(kept_as()).op == {"id": "op_1"}


def test_without_an_answer_there_is_no_result() -> None:
    refused = Refusal(status=Status.TIMEOUT, reason="late")
    assert REMAINS.known(kept_as(refused)).result is None
    assert REMAINS.known(kept_as(None)).result is None


def test_an_outcome_of_another_version_has_no_result() -> None:
    op = replace(kept_as(), outcome=VAULT.seal("acme", "op_1", b'{"v": 9}'))
    assert REMAINS.known(op).result is None


def test_what_is_not_kept_or_belongs_elsewhere_is_gone() -> None:
    with pytest.raises(Gone, match="what it was asked for is not kept any more"):
        REMAINS.asked(replace(kept_as(), arguments=""))
    with pytest.raises(Gone, match="its outcome is not kept any more"):
        REMAINS.known(replace(kept_as(), op_id="op_2"))

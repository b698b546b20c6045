"""Calls that were judged, written to a log and read again, for tests of replay."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from gateway.case import Case
from gateway.crossing.snapshots import snapshot_of
from gateway.events import build
from gateway.events.envelope import Origin as Writer
from gateway.events.envelope import to_bytes
from gateway.events.redact import Redactor
from gateway.judging import CHECKS_FOR, judge
from gateway.replay import reading
from gateway.replay.oracle import Answer, Decided, Undecided
from gateway.replay.rerun import Rerun
from gateway.replay.then import Then
from gateway.replay.types import Judgement, Recorded
from gateway.revision import Revision
from gateway.store.events import StoredEvent
from gateway.types.json import JsonObject
from gateway.types.records import CallRecord
from gateway.types.tools import Contract, Kind, Sensitivity
from gateway.types.values import replaced
from tests.helpers.cases import NOW, a_case, a_contract, a_definition, a_revision, a_tool

REDACTOR = Redactor(lambda tenant: tenant.encode())
WRITER = Writer(instance="test", version="0")
TOOL = a_tool(
    a_definition(
        properties={
            "note": {"type": "string", "maxLength": 20},
            "amount": {"type": "number"},
            "id": {"type": "string"},
        }
    )
)


def rule(id: str = "all", decision: str = "allow", **more: Any) -> dict[str, Any]:
    """Return a rule about every tool."""
    return {"id": id, "decision": decision, "match": {"tools": ["*"]}, **more}


def policy(*rules: Mapping[str, Any], **more: Any) -> str:
    """Return a policy file; JSON is YAML."""
    return "".join(f"{key}: {json.dumps(each)}\n" for key, each in {**more, "rules": rules}.items())


def a_law(text: str, *contracts: Contract, id: str = "sha256:then", **changes: Any) -> Revision:
    """Return a revision with an id of its own."""
    revision = a_revision([*contracts], text)
    revision.policy.revision = id
    return replace(revision, id=id, **changes)


def a_secret_note(**changes: Any) -> Contract:
    """Return a contract whose argument `note` the log never holds."""
    return a_contract(TOOL, **({"sensitive": {"/note": Sensitivity.SECRET}} | changes))


def event_of(case: Case, **changes: Any) -> JsonObject:
    """Judge a case, and return its event as the log has it."""
    verdict = judge(case, CHECKS_FOR[case.call.method])
    judged = verdict.case
    record = CallRecord(
        call=case.call,
        parent=None,
        trace_id="",
        server_span="",
        authorize_span="",
        client_span="",
        tool=judged.tool,
        resource=REDACTOR.text(judged.tool.name) if judged.tool.kind is Kind.RESOURCE else "",
        contract=judged.contract,
        actor=judged.actor,
        run_id=judged.run_id,
        phase=str(judged.phase),
        effect=judged.effect,
        risk=judged.risk,
        decision=judged.decision,
        revision=judged.revision.id,
    )
    at = NOW + timedelta(milliseconds=5)
    event = build.authorization(
        record,
        REDACTOR,
        refusal=verdict.refusal,
        id="e1",
        at=at,
        snapshot=snapshot_of(judged, at),
    )
    return StoredEvent(seq=1, body=to_bytes(replaced(event, **changes), WRITER)).json()


def recorded(case: Case) -> Recorded:
    """Judge a case, and return the call as it is read out of the log."""
    return reading.recorded(reading.told(event_of(case)))


def a_known_case(law: Revision, arguments: JsonObject | None = None, **changes: Any) -> Case:
    """Return a call of the tool that has a contract in a revision."""
    contract = law.contracts[TOOL.key]
    fields: dict[str, Any] = {"tool": TOOL, "contract": contract, "revision": law, **changes}
    return a_case(arguments if arguments is not None else {}, **fields)


def then_of(call: Recorded, law: Revision) -> Then:
    """Return a call as it was then."""
    then = Rerun(revision=law, definitions={}).then(call)
    assert then is not None
    return then


def again(call: Recorded, law: Revision, other: Revision) -> Answer:
    """Judge a call that was judged under one revision under another one."""
    return Rerun(revision=other, definitions={})(call, then_of(call, law))


def decided(answer: Answer) -> Judgement:
    """Return what was decided, for a test that expects that."""
    assert isinstance(answer, Decided), answer
    return answer.judgement


def undecided(answer: Answer) -> Undecided:
    """Return what is missing, for a test that expects that."""
    assert isinstance(answer, Undecided), answer
    return answer


def places(answer: Answer) -> Sequence[str]:
    """Return the places that an answer lacks."""
    return [each.place for each in undecided(answer).missing]

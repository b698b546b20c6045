from datetime import UTC, datetime

from gateway.replay.types import Asked, Ended, Judgement, Recorded
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Kind
from gateway.types.values import replaced

ACTOR = Actor(
    user="sam",
    tenant="acme",
    roles=frozenset(),
    scopes=frozenset(),
    client="host",
    method="api_key",
    issuer="",
)
RECORDED = Recorded(
    seq=1,
    id="e1",
    call="call_1",
    at=datetime(2026, 11, 30, tzinfo=UTC),
    tenant="acme",
    actor=ACTOR,
    method=Method.CALL_TOOL,
    kind=Kind.TOOL,
    tool="crm.note",
    server="crm",
    name="crm_note",
    arguments={},
    judged=Judgement(effect=DecisionEffect.ALLOW),
)


def test_a_call_that_a_limit_had_no_room_for_does_not_go() -> None:
    free = Judgement(effect=DecisionEffect.ALLOW)
    assert free.goes is DecisionEffect.ALLOW
    assert replaced(free, exceeded="daily").goes is DecisionEffect.DENY


def test_only_a_no_of_a_person_is_a_denial() -> None:
    assert Asked(approval="apr_1", state="denied").is_denied
    assert not Asked(approval="apr_1", state="expired").is_denied


def test_a_call_without_an_end_is_not_known_to_have_taken_place() -> None:
    ended = Ended(status=Status.OK, code="", executed=Execution.YES, seq=3)
    assert not RECORDED.is_executed
    assert replaced(RECORDED, ended=ended).is_executed

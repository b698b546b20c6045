from dataclasses import replace
from datetime import timedelta
from typing import Any

from gateway.replay.repeats import ASSUMED_S, Operations, moves_nothing
from gateway.replay.types import Asked, Ended, Recorded, SideEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW
from tests.replay.test_types import RECORDED

DONE = Ended(status=Status.OK, code="", executed=Execution.YES, seq=2)
HELD = Ended(status=Status.APPROVAL_PENDING, code="", executed=Execution.NO, seq=2)


def a_write(number: int, *, after_s: float = 0, ended: Ended = HELD, **changes: Any) -> Recorded:
    at, call = RECORDED.at + timedelta(seconds=after_s), f"call_{number}"
    fields: dict[str, Any] = {
        "call": call,
        "at": at,
        "judged": ALLOW,
        "digest": "d",
        "ended": ended,
        **changes,
    }
    return replaced(RECORDED, **fields)


def test_a_request_for_approval_its_use_and_a_repeat_are_one_operation() -> None:
    operations = Operations()
    asked = Asked(approval="apr_1", state="consumed", op="op_1")
    paid = SideEffect(
        op="op_1", outcome="known", executed=Execution.YES, object_type="", object_id=""
    )
    answered = replaced(DONE, executed=Execution.NO)
    found = [
        operations(a_write(1, asked=asked)),
        operations(a_write(2, ended=DONE, is_sent=True, effects=(paid,))),
        operations(a_write(3, ended=answered)),
        operations(a_write(4, digest="other")),
    ]
    assert found == ["op_1", "op_1", "op_1", "call_4"]
    assert moves_nothing(a_write(3, ended=answered))
    assert not moves_nothing(a_write(2, ended=DONE, is_sent=True))
    assert not moves_nothing(a_write(1))


def test_what_was_sent_once_more_and_what_comes_late_is_another_operation() -> None:
    operations = Operations()
    found = [
        operations(a_write(1, ended=DONE, is_sent=True)),
        operations(a_write(2, ended=DONE, is_sent=True)),
        operations(a_write(3, after_s=ASSUMED_S)),
        operations(a_write(4, after_s=ASSUMED_S + 60), window_s=60),
    ]
    assert found == ["call_1", "call_2", "call_3", "call_4"]


def test_other_users_and_runs_repeat_nothing_and_reads_are_no_operations() -> None:
    operations = Operations()
    operations(a_write(1))
    kim = replace(RECORDED.actor, user="kim")
    assert operations(a_write(2, actor=kim)) == "call_2"
    assert operations(a_write(3, run="run_1")) == "call_3"
    assert operations(a_write(4, judged=replaced(ALLOW, does=Effect.READ))) == ""

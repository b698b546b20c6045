from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Facts, Origin
from gateway.crossing.snapshots import snapshot_of
from gateway.events.snapshots import Seen
from gateway.types.calls import Method
from gateway.types.decisions import Decision, Limit
from gateway.types.tools import Kind, SourceTrust
from gateway.types.values import replaced
from tests.helpers.cases import NOW, a_call, a_case, a_prompt
from tests.helpers.runs import a_run


def test_a_plain_read_depends_on_nothing_that_its_event_does_not_say() -> None:
    found = snapshot_of(a_case())
    assert found.received == a_case().facts.now
    assert not found.is_timed
    assert (found.pin, found.kind, found.held, found.origins, found.run) == (
        "",
        None,
        "",
        None,
        None,
    )


LIMIT = Limit(id="l", key="k", maximum=1, window_s=1, amount=1, rule="r")


@pytest.mark.parametrize(
    "changes",
    [{"run": a_run(), "run_id": "run_1"}, {"decision": Decision(limits=(LIMIT,))}],
)
def test_limits_and_runs_make_the_very_time_count(changes: dict[str, Any]) -> None:
    assert snapshot_of(replaced(a_case(), **changes)).is_timed


def test_another_definition_than_the_reviewed_one_is_named() -> None:
    case = a_case()
    other = replaced(case, tool=replace(case.tool, pin="sha256:x"))
    assert snapshot_of(other).pin == "sha256:x"


def test_a_completion_says_that_it_is_of_a_prompt() -> None:
    prompt = a_prompt()
    completed = replaced(a_case(), call=a_call(method=Method.COMPLETE), tool=prompt)
    assert snapshot_of(completed).kind is Kind.PROMPT
    got = replaced(completed, call=a_call(method=Method.GET_PROMPT))
    assert snapshot_of(got).kind is None


def test_origins_are_taken_over_without_the_tool_that_gave_them() -> None:
    origin = Origin(type="crm.id", record="call_1/0", tool="crm.find", trust=SourceTrust.SYSTEM)
    case = replaced(a_case(), facts=Facts(now=NOW, origins={"/id": (origin,)}))
    seen = Seen(type="crm.id", record="call_1/0", trust=SourceTrust.SYSTEM, is_exact=True)
    assert snapshot_of(case).origins == {"/id": (seen,)}

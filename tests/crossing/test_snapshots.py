from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.case import Case, Facts, Origin
from gateway.crossing.snapshots import snapshot_of
from gateway.events.snapshots import Seen, Snapshot
from gateway.types.calls import Method
from gateway.types.decisions import Decision, Limit
from gateway.types.tools import Kind, OnFail, ProvenanceRule, SourceTrust
from gateway.types.values import replaced
from tests.helpers.cases import ALLOW_ALL, NOW, a_call, a_case, a_prompt, a_revision
from tests.helpers.runs import a_run


def taken(case: Case, at: datetime = NOW) -> Snapshot:
    found = snapshot_of(case, at)
    assert found is not None
    return found


def test_a_plain_read_depends_on_nothing_that_its_event_does_not_say() -> None:
    case = a_case()
    assert snapshot_of(case, NOW + timedelta(seconds=1)) is None


def test_a_read_whose_event_is_late_says_when_it_came_in() -> None:
    found = taken(a_case(), NOW + timedelta(seconds=1, microseconds=1))
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
    assert taken(replaced(a_case(), **changes)).is_timed


def test_another_definition_than_the_reviewed_one_is_named() -> None:
    case = a_case()
    other = replaced(case, tool=replace(case.tool, pin="sha256:x"))
    assert taken(other).pin == "sha256:x"


PROOF = ProvenanceRule(pointer="/id", sources=(), on_fail=OnFail.DENY)
TIMED = ALLOW_ALL.replace("match:", "when: now > timestamp('2026-01-01T00:00:00Z'), match:")


@pytest.mark.parametrize(
    "changes",
    [
        {"held": "unsure"},
        {"facts": Facts(now=NOW, is_tainted=True)},
        {"contract": replace(a_case().contract, provenance=(PROOF,))},
        {"revision": a_revision(policy=TIMED)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_else_a_read_depends_on_is_looked_at(changes: dict[str, Any]) -> None:
    assert snapshot_of(replaced(a_case(), **changes), NOW) is not None


def test_a_completion_says_that_it_is_of_a_prompt() -> None:
    prompt = a_prompt()
    completed = replaced(a_case(), call=a_call(method=Method.COMPLETE), tool=prompt)
    assert taken(completed).kind is Kind.PROMPT
    got = replaced(completed, call=a_call(method=Method.GET_PROMPT))
    assert taken(got).kind is None


def test_origins_are_taken_over_without_the_tool_that_gave_them() -> None:
    origin = Origin(type="crm.id", record="call_1/0", tool="crm.find", trust=SourceTrust.SYSTEM)
    case = replaced(a_case(), facts=Facts(now=NOW, origins={"/id": (origin,)}))
    seen = Seen(type="crm.id", record="call_1/0", trust=SourceTrust.SYSTEM, is_exact=True)
    assert taken(case).origins == {"/id": (seen,)}

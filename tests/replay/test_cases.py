from dataclasses import replace

import pytest

from gateway.case import Case, Facts, Origin
from gateway.replay.cases import Rebuild, Rebuilt, Unkept
from gateway.replay.types import Recorded
from gateway.revision import Revision, Unreviewed
from gateway.store.times import microseconds
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.runs import BindingKind, Collected, Holder, Mode, Phase, StopReason, Trust
from gateway.types.tools import Away, Effect, Kind, Quarantine, SourceTrust
from gateway.types.values import replaced
from tests.helpers.cases import NOW, a_call, a_case, a_contract, a_resource
from tests.helpers.replays import (
    TOOL,
    a_known_case,
    a_law,
    a_secret_note,
    policy,
    recorded,
    rule,
)
from tests.helpers.runs import a_run

LAW = a_law(policy(rule()), a_secret_note())


def rebuilt(call: Recorded, law: Revision = LAW, **definitions: JsonObject) -> Rebuilt:
    made = Rebuild(revision=law, definitions=definitions)(call)
    assert made is not None
    return made


def test_a_call_comes_back_as_the_case_that_it_was() -> None:
    case = a_known_case(LAW, {"amount": 3})
    again = rebuilt(recorded(case)).case
    assert (again.tool, again.contract, again.actor) == (case.tool, case.contract, case.actor)
    assert (again.call.arguments, again.call.method) == ({"amount": 3}, Method.CALL_TOOL)
    assert (again.phase, again.revision) == (case.phase, LAW)


def test_a_run_comes_back_with_all_that_phases_go_by() -> None:
    run = a_run(
        template="t",
        mode=Mode.HOST,
        phase=Phase.AWAITING_APPROVAL,
        resume_phase=Phase.ACTING,
        is_paused=True,
        stop_reason=StopReason.BLOCKED,
        is_tainted=True,
        ends_at=microseconds(NOW) + 5,
        evidence=1,
        calls=2,
        tokens=3,
        open_ops=4,
        pending_approvals=5,
        verified=("a.b",),
        succeeded=("a.c",),
        version=6,
        held_by=Holder(run_id="", is_over=True),
        fields={"id": Collected(value="c-1", trust=Trust.HOST, source="host", at=0)},
    )
    case = a_known_case(
        LAW,
        run=run,
        run_id=run.run_id,
        bound_by=BindingKind.SESSION,
        reads_while_paused=False,
    )
    again = rebuilt(recorded(case))
    same = replaced(run, owner="", user="sam", created_at=0, active_at=0)
    assert again.case.run == same
    assert (again.case.bound_by, again.case.reads_while_paused) == (BindingKind.SESSION, False)
    assert again.fields == {}


def test_a_field_whose_value_is_hidden_is_there_and_unknown() -> None:
    field = Collected(value="jane@example.org", trust=Trust.MODEL, source="model", at=0)
    run = a_run(fields={"mail": field})
    again = rebuilt(recorded(a_known_case(LAW, run=run, run_id=run.run_id)))
    assert again.fields == {"mail": ("",)}
    assert again.case.run is not None
    assert again.case.run.fields["mail"].source == "model"


def test_origins_come_back_with_the_relations_of_their_records() -> None:
    origins = {
        "/id": (Origin(type="t", record="call_7/a", tool="x", trust=SourceTrust.SYSTEM),),
        "/note": (Origin(type="u", record="call_7/a/0", tool="x", is_exact=False),),
    }
    case = a_known_case(LAW, facts=Facts(now=NOW, origins=origins, is_tainted=True))
    facts = rebuilt(recorded(case)).case.facts
    (one,), (other,) = facts.origins["/id"], facts.origins["/note"]
    assert (one.type, one.trust, one.is_exact) == ("t", SourceTrust.SYSTEM, True)
    assert other.record.startswith(one.record + "/")
    assert not other.is_exact
    assert facts.is_tainted


@pytest.mark.parametrize(
    "changes",
    [
        {"quarantine": Quarantine(reason="odd")},
        {"away": Away(reason="not there yet", code="starting", retry_after_s=1.0)},
        {"pin": "sha256:other"},
    ],
)
def test_a_tool_that_could_not_be_used_still_can_not(changes: dict[str, object]) -> None:
    case: Case = a_known_case(LAW, tool=replace(TOOL, **changes))  # pyright: ignore[reportArgumentType] - fields by name
    again = rebuilt(recorded(case)).case.tool
    assert (again.quarantine is None, again.away is None, again.pin) == (
        "quarantine" not in changes,
        "away" not in changes,
        changes.get("pin", TOOL.pin),
    )


def test_a_contract_with_another_definition_is_for_a_server_that_has_it() -> None:
    call = recorded(a_known_case(LAW))
    other = {**TOOL.definition, "description": "another one"}
    contract = replace(a_secret_note(), definition=other, pin="sha256:new")
    again = rebuilt(call, a_law(policy(rule()), contract)).case
    assert (again.tool.pin, again.tool.definition) == ("sha256:new", other)


def test_without_a_contract_a_tool_can_not_be_called() -> None:
    none = a_law(policy(rule()))
    assert Rebuild(revision=none, definitions={})(recorded(a_known_case(LAW))) is None


def test_a_tool_that_nobody_reviewed_goes_by_the_definition_that_was_kept() -> None:
    law = a_law(policy(rule()), unreviewed=Unreviewed.OBSERVE)
    call = recorded(a_known_case(LAW))
    again = rebuilt(call, law, **{TOOL.pin: TOOL.definition}).case
    assert (again.contract.reviewed, again.contract.effect) == (False, Effect.READ)
    with pytest.raises(Unkept) as raised:
        Rebuild(revision=law, definitions={})(call)
    assert raised.value.missing.place == "definition of `crm.find`"


def test_a_resource_that_was_let_in_was_clear_or_listed() -> None:
    odd = a_resource("crm://notes/../1")
    listed = a_case(tool=odd, contract=a_contract(odd), call=a_call(method=Method.READ_RESOURCE))
    again = rebuilt(recorded(listed)).case.tool
    assert (again.kind, again.definition["uri"]) == (Kind.RESOURCE, odd.name)
    unlisted = replaced(listed, tool=replace(odd, definition={}))
    assert rebuilt(recorded(unlisted)).case.tool.definition == {}

"""What is handed over with a run."""

from typing import Any

from gateway.runs.handover import Reach, Receiver, Remains, package
from gateway.runs.templates import FieldRule, Template
from gateway.types.approvals import ApprovalState
from gateway.types.operations import OpState, VerificationState
from gateway.types.runs import Evidence, Trust
from tests.helpers.approvals import an_approval
from tests.helpers.operations import wanted
from tests.helpers.runs import a_field, a_run

REACH = Reach(
    tools={"desk.refund": frozenset({"payments:write"}), "crm.note": frozenset[str]()},
    types={"crm.id": (frozenset({"crm:read"}), frozenset({"crm:admin"}))},
)
NOBODY = Receiver(scopes=frozenset())
ALL = Receiver()


def an_operation(**changes: Any) -> Any:
    return wanted(**{"shown": '{"amount": 12}', "state": OpState.SUCCEEDED, **changes})


def remains(**changes: Any) -> Remains:
    values: dict[str, Any] = {
        "run": a_run(note="he is angry"),
        "template": None,
        "operations": [],
        "approvals": [],
        "evidence": [],
    }
    return Remains(**(values | changes))


def test_what_nobody_knows_comes_first_and_is_the_first_thing_to_do() -> None:
    unknown = an_operation(state=OpState.INDETERMINATE, created_at=1)
    done = an_operation(created_at=2)
    found = package(remains(operations=[done, unknown]), ALL, REACH)
    assert [each.operation for each in found.unknown] == [unknown]
    assert [each.operation for each in found.deeds] == [done]
    assert found.next[0].startswith("find out whether `desk.refund` took effect")
    assert unknown.op_id in found.next[0]
    assert found.reason == "he is angry"


def test_the_next_steps_are_in_the_order_of_what_cannot_wait() -> None:
    template = Template(
        name="refund",
        fields={"order": FieldRule(required=True), "customer_id": FieldRule(required=True)},
    )
    found = package(
        remains(
            run=a_run(fields={"order": a_field()}),
            template=template,
            operations=[
                an_operation(verification=VerificationState.FAILED),
                an_operation(state=OpState.DISPATCHING),
                an_operation(state=OpState.INDETERMINATE),
            ],
            approvals=[an_approval(), an_approval(state=ApprovalState.DENIED)],
        ),
        ALL,
        REACH,
    )
    starts = [step.partition(" ")[0] for step in found.next]
    assert starts == ["find", "wait", "look", "decide", "find"]
    assert found.missing == ("customer_id",)
    assert len(found.approvals) == 1


def test_nothing_goes_beyond_the_scopes_of_whoever_takes_over() -> None:
    run = a_run(
        fields={
            "customer_id": a_field("c-1", source="crm.id", trust=Trust.MODEL),
            "order": a_field(7, source="user"),
        }
    )
    held = remains(
        run=run,
        operations=[an_operation(), an_operation(tool="crm.note"), an_operation(tool="x.y")],
    )
    found = package(held, NOBODY, REACH)
    assert {each.name: each.value for each in found.fields} == {"customer_id": None, "order": 7}
    shown = {each.operation.tool: each.arguments for each in found.deeds}
    assert shown == {"desk.refund": None, "crm.note": {"amount": 12}, "x.y": None}
    assert found.withheld == 3
    reader = package(held, Receiver(scopes=frozenset({"crm:read"})), REACH)
    assert [each.value for each in reader.fields] == ["c-1", 7]
    assert package(held, ALL, REACH).withheld == 0


def test_references_are_for_whoever_could_have_read_what_they_name() -> None:
    read = [
        Evidence(source="doc://merger", tool="desk.refund"),
        Evidence(source="doc://note", tool="crm.note"),
        Evidence(source="doc://old", tool="gone.tool"),
        Evidence(source="kb://host"),
    ]
    found = package(remains(evidence=read), NOBODY, REACH)
    assert [each.source for each in found.evidence] == ["doc://note", "kb://host"]
    assert found.withheld == 2
    assert len(package(remains(evidence=read), ALL, REACH).evidence) == 4
    payer = Receiver(scopes=frozenset({"payments:write"}))
    assert [each.source for each in package(remains(evidence=read), payer, REACH).evidence] == [
        "doc://merger",
        "doc://note",
        "kb://host",
    ]


def test_a_field_of_a_type_that_no_tool_yields_any_more_is_withheld() -> None:
    run = a_run(fields={"old": a_field("v", source="gone.type")})
    [given] = package(remains(run=run), NOBODY, REACH).fields
    assert (given.value, given.is_withheld, given.source) == (None, True, "gone.type")


def test_evidence_is_references_and_a_text_that_was_cut_stays_one() -> None:
    seen = Evidence(source="kb://1", version="3", chunk="2")
    found = package(
        remains(evidence=[seen], operations=[an_operation(shown='{"a": "b…')]), ALL, REACH
    )
    assert found.evidence == (seen,)
    assert found.deeds[0].arguments == '{"a": "b…'

from decimal import Decimal

from gateway.policy.request import VARIABLES
from gateway.types.json import Json
from gateway.types.runs import Collected, Run, StopReason, Trust
from gateway.types.tools import Risk
from gateway.types.values import replaced
from tests.policy.example import NOW, PIN, request


def test_each_name_reads_its_own_part_of_the_call() -> None:
    call = request(arguments={"a": 1})
    values = {name: each.read(call, Risk.CRITICAL) for name, each in VARIABLES.items()}
    assert values == {
        "args": {"a": 1},
        "identity.user": "sam",
        "identity.tenant": "acme",
        "identity.roles": ["support"],
        "identity.scopes": ["crm:read", "mail:send", "payments:write"],
        "identity.client": "desk",
        "request.method": "tools/call",
        "request.cause": "caller",
        "resource.uri": "",
        "tool.name": "payments.refund",
        "tool.server": "payments",
        "tool.effect": "write",
        "tool.risk": "critical",
        "tool.schema_hash": PIN,
        "tool.pinned_hash": PIN,
        "run.fields": {},
        "run.id": "run_1",
        "run.objective": "",
        "run.phase": "acting",
        "run.said": {},
        "run.stop": "",
        "run.tainted": False,
        "run.task": "",
        "run.template": "",
        "now": NOW,
    }


def a_run(**fields: Json) -> Run:
    return Run(
        run_id="run_1",
        tenant="acme",
        owner="o",
        user="sam",
        task_id="ticket-7",
        objective="give it back",
        template="refund",
        stop_reason=StopReason.BLOCKED,
        is_tainted=True,
        fields={
            name: Collected(value=value, trust=Trust.HOST, source="host", at=0)
            for name, value in fields.items()
        },
    )


def test_a_call_in_a_run_shows_what_the_run_is_about() -> None:
    call = replaced(request(), run=a_run(customer_id="c-1001"))
    read = {name: each.read(call, call.risk) for name, each in VARIABLES.items()}
    assert {name: value for name, value in read.items() if name.startswith("run.")} == {
        "run.fields": {"customer_id": "c-1001"},
        "run.id": "run_1",
        "run.objective": "give it back",
        "run.phase": "acting",
        "run.said": {},
        "run.stop": "blocked",
        "run.tainted": True,
        "run.task": "ticket-7",
        "run.template": "refund",
    }
    assert call.template == "refund"


def test_a_field_that_no_expression_can_hold_is_missing_and_breaks_no_other() -> None:
    run = a_run(
        whole=2**63, cents=Decimal("0.1"), none=None, many=[1, 2**70], deep={"a": [True, 1.5, "x"]}
    )
    call = replaced(request(), run=run)
    assert VARIABLES["run.fields"].read(call, call.risk) == {"deep": {"a": [True, 1.5, "x"]}}


def test_what_the_actor_was_shown_elsewhere_taints_a_call_as_well() -> None:
    run = replaced(a_run(), is_tainted=False)
    for call in (request(), replaced(request(), run=run)):
        tainted = VARIABLES["run.tainted"]
        assert tainted.read(call, call.risk) is False
        assert tainted.read(replaced(call, is_tainted=True), call.risk) is True


def test_what_only_a_model_has_said_is_apart_from_what_rules_go_by() -> None:
    said = {
        "host": (Trust.HOST, "host"),
        "user": (Trust.HOST, "user"),
        "result": (Trust.MODEL, "crm.id"),
        "model": (Trust.MODEL, "model"),
        "posed": (Trust.MODEL, "user"),
    }
    fields = {
        name: Collected(value=name, trust=trust, source=source, at=0)
        for name, (trust, source) in said.items()
    }
    call = replaced(request(), run=replaced(a_run(), fields=fields))
    known, told = (VARIABLES[f"run.{of}"].read(call, call.risk) for of in ("fields", "said"))
    assert known == {"host": "host", "user": "user", "result": "result"}
    assert told == {"model": "model", "posed": "posed"}

"""From files of templates to the templates that runs go by."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from gateway import jsontext
from gateway.actions import revisions, templates
from gateway.contracts import pins, writing
from gateway.errors import FileError
from gateway.revision import Unreviewed
from gateway.runs.limits import MOST_SUMS
from gateway.runs.machine import ALLOWS, Kind, Room
from gateway.runs.templates import RunLimit, Template
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Collected, Mode, Phase, Run, Trust
from gateway.types.tools import Contract, Effect, Ensure, Risk, Yield

TEXT = """\
runs:
  refund:
    mode: agent
    objective: give back what was charged twice
    fields:
      customer_id: {required: true, from: [user, crm.customer_id]}
      note: {}
    phases:
      acting: {enter_when: [fields.customer_id, evidence >= 1], tools: [desk.refund, crm.add_note]}
      finalizing: {enter_when: [open_ops == 0], tools: [crm.add_note]}
    during_wait: [crm.add_note]
    completed_when: [verified(desk.refund)]
    limits:
      wall: 2h
      idle: 30m
      calls: 80
      writes: 3
      money: {argument: /amount, max: 500, tools: [desk.refund]}
    explicit_for: [critical]
"""


def read(**texts: str) -> tuple[dict[str, Template], list[FileError]]:
    errors: list[FileError] = []
    written = templates.read(
        {f"runs/{name}.yaml": text for name, text in texts.items()}, "p/", errors
    )
    return templates.templates(written), errors


def texts(template: Template, phase: Phase) -> list[str]:
    return [each.text for each in template.guards(phase)]


def test_a_template_is_what_its_file_says() -> None:
    found, errors = read(refund=TEXT)
    refund = found["refund"]
    assert errors == []
    assert (refund.name, refund.mode, refund.place) == (
        "refund",
        Mode.AGENT,
        "p/runs/refund.yaml:2",
    )
    assert refund.objective == "give back what was charged twice"
    assert refund.fields["customer_id"].required
    assert refund.fields["customer_id"].sources == ("user", "crm.customer_id")
    assert refund.tools[Phase.ACTING] == {"desk.refund", "crm.add_note"}
    assert refund.finalizers == refund.during_wait == {"crm.add_note"}
    assert (refund.wall_s, refund.idle_s) == (7200.0, 1800.0)
    assert refund.explicit_for == {Risk.CRITICAL}
    assert refund.limits == (
        RunLimit(kind="calls", maximum=80),
        RunLimit(kind="writes", maximum=3),
        RunLimit(kind="money", maximum=500, argument="/amount", tools=frozenset({"desk.refund"})),
    )


def test_a_required_field_is_a_guard_of_acting_and_of_completion_once() -> None:
    refund = read(refund=TEXT)[0]["refund"]
    assert texts(refund, Phase.ACTING) == ["fields.customer_id", "evidence >= 1"]
    assert texts(refund, Phase.COMPLETED) == ["fields.customer_id", "verified(desk.refund)"]
    assert texts(refund, Phase.FINALIZING) == ["open_ops == 0"]
    assert texts(refund, Phase.RETRIEVING) == []


def test_a_required_field_is_there_once_it_has_a_value() -> None:
    guard = read(refund=TEXT)[0]["refund"].guards(Phase.ACTING)[0]
    for value, holds in (("c-1001", True), (False, True), (None, False)):
        assert guard.holds(a_run(customer_id=value)) is holds
    assert not guard.holds(a_run())


def a_run(**fields: Json) -> Run:
    collected = {
        name: Collected(value=value, trust=Trust.HOST, source="host", at=1)
        for name, value in fields.items()
    }
    return Run(run_id="run_1", tenant="acme", owner="o", user="ana", fields=collected)


def test_a_template_that_says_nothing_demands_nothing() -> None:
    plain = read(plain="runs: {plain: {}}")[0]["plain"]
    assert plain == Template(
        name="plain", enter_when={Phase.ACTING: ()}, place="p/runs/plain.yaml:1"
    )


def test_the_faults_of_all_files_are_told_together() -> None:
    _, errors = read(
        a="runs: {a: {modes: x}}", b=TEXT, c=TEXT, d="runs: {d: {completed_when: [x]}}"
    )
    assert [str(each).partition(": ")[0] for each in errors] == [
        "p/runs/a.yaml:1:12",
        "p/runs/d.yaml:1:29",
        "p/runs/c.yaml:2:3",
    ]


def test_policy_tests_know_the_modes_and_fields_of_templates() -> None:
    known = templates.known(read(refund=TEXT)[0])
    mode, fields = known["refund"]
    assert mode is Mode.AGENT
    assert set(fields) == {"customer_id", "note"}


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "runs.md"
ALLOW = """\
rules:
  - {id: all, decision: allow, match: {tools: ["*"], roles: {any: [support]}}}
"""


def a_tool_of_the_page(name: str, effect: Effect, risk: Risk, *arguments: str) -> Contract:
    kinds: dict[str, Json] = {"amount": {"type": "number"}}
    schema: JsonObject = {
        "type": "object",
        "properties": {each: kinds.get(each, {"type": "string"}) for each in arguments},
    }
    definition: JsonObject = {"name": name.partition(".")[2], "inputSchema": schema}
    final = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="it is out of the house")
    return Contract(
        tool=name,
        pin=pins.pin(definition),
        effect=effect,
        risk=risk,
        definition=definition,
        compensation=final if effect is Effect.WRITE else None,
        ensure=(Ensure(when="true", message="it is so"),) if effect is Effect.WRITE else (),
        yields=() if effect is Effect.WRITE else (Yield(type="crm.customer_id", path="/id"),),
    )


def test_the_example_of_the_page_has_nothing_to_mend_and_its_tests_pass() -> None:
    runs, tests = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    contracts = [
        a_tool_of_the_page("crm.find", Effect.READ, Risk.LOW, "query"),
        a_tool_of_the_page("crm.add_note", Effect.WRITE, Risk.LOW, "text"),
        a_tool_of_the_page("desk.refund", Effect.WRITE, Risk.HIGH, "customer_id", "amount"),
    ]
    folder = revisions.Folder(
        contracts={"contracts/all.yaml": writing.dump(contracts)},
        policies={"all.yaml": ALLOW},
        runs={"runs/refund.yaml": runs},
        tests={"tests/refund.yaml": tests},
    )
    built = revisions.build(
        folder, unreviewed=Unreviewed.REFUSE, at=datetime(2026, 11, 30, tzinfo=UTC)
    )
    assert built.problem == ""
    assert built.findings == ()
    assert built.report is not None
    assert len(built.report.results) == 2


_CELLS = {
    Room.NONE: "–",
    Room.FREE: "yes",
    Room.BEGINS: "→ retrieving",
    Room.ENTERS: "→ acting",
    Room.APPROVED: "approved",
    Room.FINALIZERS: "finalizers",
    Room.RETRY: "retry",
}


def test_the_table_of_the_page_is_the_table_of_the_machine() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    for phase, allowance in ALLOWS.items():
        cells = [_CELLS[allowance.room(kind)] for kind in Kind]
        assert rows[phase.value] == " | ".join(cells)


def test_a_template_has_as_many_sums_as_there_are_counters() -> None:
    sums = ", ".join(f"{{argument: /a{number}, max: 1}}" for number in range(MOST_SUMS + 1))
    text = f"runs: {{pay: {{limits: {{money: [{sums}]}}}}}}"
    found, errors = read(pay=text)
    assert [error.message for error in errors] == [
        "`runs.pay.limits.money` has more than 4; leave some out"
    ]
    found, errors = read(pay=text.replace("{argument: /a0, max: 1}, ", ""))
    assert (len(found["pay"].limits), errors) == (MOST_SUMS, [])


HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "runs.md"
NUMBER: JsonObject = {"type": "number"}
STRING: JsonObject = {"type": "string"}


def an_object(*required: str, **properties: Json) -> JsonObject:
    return {"type": "object", "properties": properties, "required": [*required]}


def a_list(name: str, **properties: Json) -> JsonObject:
    rows: JsonObject = {"type": "array", "items": an_object(*properties, **properties)}
    return an_object(name, **{name: rows})


BOOKS: Mapping[str, tuple[JsonObject, JsonObject]] = {
    "books.search_customers": (an_object("query", query=STRING), a_list("customers", id=STRING)),
    "books.list_invoices": (
        an_object("customer_id", customer_id=STRING),
        a_list("invoices", id=STRING, customer_id=STRING, total=NUMBER, note=STRING),
    ),
    "books.correct_invoice": (
        an_object("amount", invoice_id=STRING, customer_id=STRING, amount=NUMBER),
        an_object(id=STRING),
    ),
}


def drafted(text: str) -> str:
    """Return the contracts of the page as they stand in a file: with what a draft has."""
    tools: Any = yaml.safe_load(text)["tools"]
    assert tools.keys() == BOOKS.keys()
    for name, (arguments, result) in BOOKS.items():
        definition: JsonObject = {
            "name": name.partition(".")[2],
            "inputSchema": arguments,
            "outputSchema": result,
        }
        is_write = name == "books.correct_invoice"
        tools[name] |= {"pin": pins.pin(definition), "definition": definition, "reviewed": True}
        tools[name] |= {"effect": "write" if is_write else "read", "risk": "low"}
        if is_write:
            tools[name]["compensation"] = {"class": "irreversible", "reason": "r"}
    return jsontext.dump({"tools": tools}).decode()


def test_the_kind_of_work_of_the_how_to_is_what_its_tests_say() -> None:
    blocks = re.findall(r"```yaml\n# (policies/\S+)\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    texts = {name.removeprefix("policies/"): text for name, text in blocks}
    folder = revisions.Folder(
        contracts={"contracts/books.yaml": drafted(texts["contracts/books.yaml"])},
        policies={"books.yaml": texts["books.yaml"]},
        runs={"runs/correction.yaml": texts["runs/correction.yaml"]},
        tests={"tests/books.yaml": texts["tests/books.yaml"]},
    )
    built = revisions.build(
        folder, unreviewed=Unreviewed.REFUSE, at=datetime(2026, 11, 30, tzinfo=UTC)
    )
    assert built.errors == ()
    assert built.report is not None
    assert built.report.failed == 0, built.report.text()
    # The filter is told of, as the page says.
    assert [each.check for each in built.findings] == ["optional-field"]

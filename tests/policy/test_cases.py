import pytest

from gateway.errors import FileError
from gateway.policy.cases import PolicyCase, load
from gateway.types.calls import Method
from gateway.types.runs import Mode, Phase
from gateway.types.tools import Effect, Kind, Risk
from tests.policy.example import CONTRACTS, NOW, PIN

BY_NAME = {each.tool: each for each in CONTRACTS}
FILE = """\
now: 2026-11-30T10:00:00+01:00
policies: [a.yaml]
tools: tools.yaml
callers:
  sam: {user: sam, tenant: acme, roles: [support], scopes: [a]}
  ops: {user: ops}
defaults: {as: sam, phase: planning}
tests:
  - {name: one, call: crm.search_customers, args: {query: x}, expect: {decision: allow}}
  - name: two
    as: ops
    call: payments.refund
    phase: acting
    risk: critical
    schema_hash: sha256:other
    now: 2027-01-01T00:00:00Z
    expect: {decision: deny}
  - {name: three, call: crm.serch_customers, expect: {decision: deny}}
"""


def test_a_case_has_what_it_says_and_otherwise_the_defaults() -> None:
    file = load(FILE, file="t.yaml")
    one, two, _ = file.cases(BY_NAME)
    assert (file.policies, file.tools) == (("a.yaml",), ("tools.yaml",))
    assert one.call is not None
    assert two.call is not None
    assert (one.call.actor.user, one.call.phase, one.call.now) == ("sam", Phase.PLANNING, NOW)
    assert (one.call.pin, one.call.risk, one.place) == (PIN, Risk.LOW, "t.yaml:9")
    assert (two.call.actor.user, two.call.phase) == ("ops", Phase.ACTING)
    assert (two.call.pin, two.call.risk, two.call.now.year) == (
        "sha256:other",
        Risk.CRITICAL,
        2027,
    )


def test_a_case_about_an_unknown_tool_says_so() -> None:
    three = load(FILE, file="t.yaml").cases(BY_NAME)[2]
    assert three.call is None
    assert three.fault == "no tool `crm.serch_customers`; did you mean `crm.search_customers`?"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("as: ops", "as: opz", "t.yaml:10:5: no caller `opz`; did you mean `ops`?"),
        ("as: sam, ", "", "t.yaml:9:5: no caller ``"),
        ("{decision: allow}", "{}", "expects nothing can't fail"),
        ("decision: allow", "decison: allow", "unknown key `decison`; did you mean `decision`?"),
        ("phase: planning", "phase: plan", "did you mean `planning`?"),
        ("10:00:00+01:00", "10:00:00", "`now`"),
        ("args: {query: x}", "result: {}", "needs a `result`"),
        ("{decision: allow}", "{result: {}}", "needs a `result`"),
    ],
)
def test_a_file_that_can_not_be_meant_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(FileError) as caught:
        load(FILE.replace(old, new), file="t.yaml")
    assert said in str(caught.value)


OTHERS = """\
callers: {sam: {user: sam, authenticated_by: api_key}}
defaults: {as: sam}
tests:
  - {name: a, resource: "file:///a", server: files, expect: {decision: deny}}
  - {name: b, resource: "file:///a", method: resources/subscribe, expect: {decision: deny}}
  - {name: c, prompt: crm.reply, args: {tone: kind}, expect: {decision: deny}}
  - {name: d, call: payments.refund, ask: roots/list, expect: {decision: deny}}
  - {name: e, call: payments.refund, method: tasks/cancel, expect: {decision: deny}}
"""


def test_a_case_may_be_about_a_resource_a_prompt_a_question_or_a_task() -> None:
    calls = [each.call for each in load(OTHERS, file="t.yaml").cases(BY_NAME)]
    assert [
        (call.method, call.kind, call.contract.tool, call.server_name)
        for call in calls
        if call is not None
    ] == [
        (Method.READ_RESOURCE, Kind.RESOURCE, "file:///a", "files"),
        (Method.SUBSCRIBE, Kind.RESOURCE, "file:///a", ""),
        (Method.GET_PROMPT, Kind.PROMPT, "crm.reply", "crm"),
        (Method.LIST_ROOTS, Kind.TOOL, "payments.refund", "payments"),
        (Method.CANCEL_TASK, Kind.TOOL, "payments.refund", "payments"),
    ]
    assert calls[0] is not None
    assert (calls[0].effect, calls[0].actor.method) == (Effect.READ, "api_key")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("prompt: crm.reply", "prompt: crm.reply, call: payments.refund", "be about one `call`"),
        ("prompt: crm.reply, ", "", "be about one `call`, `resource` or `prompt`"),
        ("prompt: crm.reply", "prompt: crm.reply, server: crm", "`server` goes with `resource`"),
        ("resources/subscribe", "prompts/get", "is about a resource, and `prompts/get` never is"),
        ("ask: roots/list", "ask: roots/list, method: tasks/get", "a `method` and an `ask`"),
        ("ask: roots/list", "ask: tools/call", "no server asks `tools/call`"),
        ("roots/list", "root/list", "did you mean `roots/list`?"),
        ("api_key", "apikey", "did you mean `api_key`?"),
        ("prompt: crm.reply", "prompt: crm.reply, cause: lookup", "by itself only calls tools"),
        ("method: tasks/cancel", "method: tasks/cancel, cause: lookup", "only calls tools"),
        ("ask: roots/list", "cause: compensated", "did you mean `compensation`?"),
        (
            "ask: roots/list, expect: {",
            "ask: roots/list, result: {}, expect: {result: {}, ",
            "only calls of tools",
        ),
    ],
)
def test_a_case_that_is_about_nothing_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(FileError) as caught:
        load(OTHERS.replace(old, new), file="t.yaml")
    assert said in str(caught.value)


IN_RUN = """\
callers: {sam: {user: sam, tenant: acme, roles: [support]}}
defaults: {as: sam, phase: retrieving}
tests:
  - name: one
    call: crm.search_customers
    run: {template: refund, fields: {customer_id: c-1001}, evidence: 2, verified: [crm.note]}
    expect: {decision: allow, phase: retrieving}
"""
KNOWN = {"refund": (Mode.AGENT, ("customer_id", "amount"))}


def in_run(old: str = "", new: str = "") -> PolicyCase:
    (one,) = load(IN_RUN.replace(old, new), file="t.yaml").cases(BY_NAME, KNOWN)
    return one


def test_a_case_may_be_made_in_a_run() -> None:
    call = in_run().call
    assert call is not None
    assert call.bound is not None
    run = call.bound.run
    assert (call.phase, call.run_id) == (run.phase, run.run_id) == (Phase.RETRIEVING, "run_test")
    assert (run.template, run.mode, run.evidence) == ("refund", Mode.AGENT, 2)
    assert run.fields["customer_id"].value == "c-1001"


def test_a_run_may_say_its_own_phase() -> None:
    call = in_run("evidence: 2", "phase: acting").call
    assert call is not None
    assert call.phase is Phase.ACTING


def test_a_run_of_no_known_template_says_so() -> None:
    assert in_run("refund", "refnd").fault == "no run template `refnd`; did you mean `refund`?"
    assert in_run("customer_id", "customer").fault == (
        "`refund` has no field `customer`; did you mean `customer_id`?"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    run: {", "    phase: acting\n    run: {phase: acting, ", "beside that of its `run`"),
        ("    run: {", "    # run: {", "expects a `phase`, and has no `run`"),
        ("evidence: 2", "resume_phase: acting", "comes back to `resume_phase`"),
        ("evidence: 2", "evidence: -1", "at least `0`"),
    ],
)
def test_what_a_case_says_of_its_run_has_to_fit(old: str, new: str, said: str) -> None:
    with pytest.raises(FileError, match=said):
        in_run(old, new)

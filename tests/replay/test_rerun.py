import pytest

from gateway.replay.oracle import Undecided
from gateway.replay.rerun import Rerun
from gateway.replay.types import Recorded
from gateway.revision import Revision, Unreviewed
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Status
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case, a_contract, a_resource
from tests.helpers.replays import (
    a_known_case,
    a_law,
    a_secret_note,
    again,
    decided,
    places,
    policy,
    recorded,
    rule,
    undecided,
)
from tests.helpers.runs import a_run

LAW = a_law(policy(rule()), a_secret_note())


def test_a_call_of_which_all_is_known_is_judged_as_a_live_one() -> None:
    call = recorded(a_known_case(LAW, {"amount": 3}))
    no = a_law(policy(rule("no", "deny", code="c")), a_secret_note(), id="sha256:now")
    assert decided(again(call, LAW, LAW)).rule == "all"
    assert (decided(again(call, LAW, no)).rule, decided(again(call, LAW, no)).code) == ("no", "c")


def test_a_tool_without_a_contract_is_none_that_callers_know() -> None:
    call = recorded(a_known_case(LAW))
    found = decided(again(call, LAW, a_law(policy(rule()))))
    assert (found.effect, found.status) == (DecisionEffect.DENY, Status.UNKNOWN_TOOL)


def test_a_definition_that_was_not_kept_leaves_it_open() -> None:
    call = recorded(a_known_case(LAW))
    observing = a_law(policy(rule()), unreviewed=Unreviewed.OBSERVE)
    assert places(again(call, LAW, observing)) == ["definition of `crm.find`"]
    assert Rerun(revision=observing, definitions={}).then(call) is None


READ = {"id": "r", "decision": "allow", "match": {"resources": ["crm://notes/*"]}}
TOOLS = rule("tools")


@pytest.mark.parametrize(
    ("rules", "is_known"),
    [((READ, TOOLS), True), (({**READ, "match": {"resources": ["crm://*"]}},), False)],
)
def test_a_resource_whose_name_is_hidden_is_judged_by_unchanged_rules_alone(
    rules: tuple[dict[str, object], ...], is_known: bool
) -> None:
    hidden = a_resource("crm://notes/jane@example.org")
    law, other = a_law(policy(READ)), a_law(policy(*rules), id="sha256:now")
    case = a_case(tool=hidden, contract=a_contract(hidden))
    case = replaced(case, call=a_call(method=Method.READ_RESOURCE), revision=law)
    call = recorded(case)
    assert "jane" not in str(call)
    answer = again(call, law, other)
    if is_known:
        assert decided(answer).rule == "r"
    else:
        assert places(answer) == ["resource.uri"]


def test_what_a_run_is_for_is_known_where_rules_spoke_of_it() -> None:
    speaking = a_law(policy(rule(when="run.objective != 'x'")), a_secret_note(), id="sha256:now")
    run = a_run(objective="refund")

    def call_under(law: Revision) -> Recorded:
        return recorded(a_known_case(law, run=run, run_id=run.run_id))

    assert decided(again(call_under(speaking), speaking, speaking)).rule == "all"
    found = again(call_under(LAW), LAW, speaking)
    assert "run.objective" in [each.place for each in undecided(found).missing]


def test_without_its_own_revision_a_call_is_judged_by_what_the_log_has() -> None:
    call = recorded(a_known_case(LAW, {"amount": 3}))
    assert decided(Rerun(revision=LAW, definitions={})(call, None)).rule == "all"
    hushed = recorded(a_known_case(LAW, {"note": "hush"}))
    assert isinstance(Rerun(revision=LAW, definitions={})(hushed, None), Undecided)

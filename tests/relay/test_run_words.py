"""What models are told of runs."""

from collections.abc import Sequence

from gateway.relay import run_words
from gateway.relay.run_words import Bringers
from gateway.runs.handover import Given
from gateway.runs.templates import FieldRule, Guard, Template
from gateway.types.json import Json
from gateway.types.runs import Phase, Run, Trust
from tests.helpers.runs import a_run

LOOKS = Bringers(
    of_types=lambda types: ["crm.find", "crm.get"] if "crm.id" in types else [],
    of_evidence=lambda: ["crm.read"],
)
NOTHING = Bringers(of_types=lambda types: [], of_evidence=list)


def never(text: str) -> Guard:
    return Guard(text=text, holds=lambda run: False)


WORK = Template(
    name="work",
    fields={
        "customer_id": FieldRule(sources=("user", "crm.id")),
        "amount": FieldRule(sources=("user",)),
        "why": FieldRule(),
    },
    enter_when={Phase.ACTING: (never("fields.customer_id"), never("evidence >= 1"))},
    completed_when=(never("fields.amount"), never("fields.why"), never("open_ops == 0")),
)


def how(bring: Bringers = LOOKS) -> dict[str, str]:
    return run_words.ways(a_run(), run_words.missing(a_run(), WORK), WORK, bring)


def stands(run: Run, *fields: Given) -> str:
    lacks = run_words.missing(run, WORK)
    return run_words.stands(run, fields, lacks, run_words.ways(run, lacks, WORK, LOOKS))


def known(name: str, value: Json, *, is_withheld: bool = False) -> Given:
    return Given(name=name, value=value, is_withheld=is_withheld, trust=Trust.HOST, source="user")


def phases(run: Run) -> Sequence[str]:
    return list(run_words.missing(run, WORK))


def test_each_missing_thing_has_the_way_by_which_a_model_comes_by_it() -> None:
    assert how() == {
        "fields.customer_id": "look it up with `crm.find` or `crm.get` first, then call "
        "`run_set_field` with what that returned",
        "evidence >= 1": "read with `crm.read`",
        "fields.amount": "ask the user: the host sets it",
        "fields.why": "call `run_set_field`",
    }


def test_where_no_tool_is_there_for_a_caller_none_is_named() -> None:
    assert "evidence >= 1" not in how(NOTHING)
    assert how(NOTHING)["fields.customer_id"].startswith("look it up with a tool first")


def test_who_may_act_by_now_is_told_what_counts_as_done() -> None:
    lacks = {"completed": ["verified(desk.refund)", "succeeded(desk.note)"]}
    for phase, is_told in ((Phase.RETRIEVING, False), (Phase.FINALIZING, True)):
        found = run_words.ways(a_run(phase=phase), lacks, WORK, LOOKS)
        assert bool(found) == is_told
    assert found["verified(desk.refund)"].startswith("call `desk.refund` in this run, and what")
    assert "told once more is no call" in found["succeeded(desk.note)"]


def test_while_people_decide_it_is_told_what_lies_behind_that() -> None:
    waits = a_run(phase=Phase.AWAITING_APPROVAL, resume_phase=Phase.ACTING, pending_approvals=1)
    assert phases(waits) == ["completed"]
    assert "1 request has to be decided." in stands(waits)
    assert phases(a_run(phase=Phase.RETRIEVING)) == ["acting", "completed"]
    assert phases(a_run(phase=Phase.HANDOFF)) == []


def test_a_text_has_what_was_collected_and_what_is_withheld() -> None:
    text = stands(a_run(), known("amount", 20.5), known("customer_id", None, is_withheld=True))
    assert "Collected: `amount` = 20.5, `customer_id` (withheld)." in text
    long = stands(a_run(), known("why", "x" * 900))
    assert len(long) < 900


def test_a_run_that_does_not_go_on_says_why_and_who_changes_that() -> None:
    over = stands(a_run(phase=Phase.HANDOFF, note="for fern: angry", open_ops=1))
    assert over.startswith("It is over (for fern: angry): leave it to whoever has it now")
    paused = stands(a_run(is_paused=True, note="wrong customer?"))
    assert "It is paused (wrong customer?): a person or the host has to resume it." in paused


def test_templates_are_offered_with_what_they_are_for() -> None:
    many = {f"t{number:02}": WORK for number in range(22)}
    assert run_words.offered({}) == ""
    assert run_words.offered({"work": WORK}) == "`work`"
    assert run_words.offered(many).endswith("`t19`, and 2 more")
    named = Template(name="pay", objective="give money back")
    assert run_words.offered({"pay": named}) == "`pay` (give money back)"

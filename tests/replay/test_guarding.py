import json
from typing import Any

import pytest

from gateway.actions.templates import templates
from gateway.policy.run_files import load
from gateway.replay.oracle import Answer
from gateway.runs.templates import Template
from gateway.types.outcomes import Status
from gateway.types.runs import Collected, Phase, Trust
from gateway.types.tools import Effect, Risk
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
)
from tests.helpers.runs import a_run

WRITE: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.MEDIUM}


def a_template(*guards: str) -> Template:
    entry = f"enter_when: {json.dumps(guards)}"
    text = "runs:\n  t:\n    fields: {mail: {}, ticket: {}}\n"
    text += f"    phases: {{acting: {{{entry}}}}}\n"
    return templates(load(text, file="runs/t.yaml"))["t"]


def under(then: Template, now: Template, mail: str = "jane@example.org", **run: Any) -> Answer:
    """Judge a write that enters `acting`, in a run whose field `mail` the log does not hold."""
    field = Collected(value=mail, trust=Trust.HOST, source="host", at=0)
    bound = a_run(template="t", phase=Phase.RETRIEVING, fields={"mail": field}, **run)
    law = a_law(policy(rule()), a_secret_note(**WRITE), templates={"t": then})
    other = a_law(policy(rule()), a_secret_note(**WRITE), templates={"t": now}, id="sha256:now")
    call = recorded(a_known_case(law, run=bound, run_id=bound.run_id, phase=bound.phase))
    return again(call, law, other)


ANA = "fields.mail != 'ana@example.org'"


def test_a_guard_that_let_the_run_in_lets_it_in_again() -> None:
    more = a_template(ANA, "evidence >= 1")
    assert decided(under(a_template(ANA), more, evidence=1)).phase == "acting"
    assert decided(under(a_template(ANA), more)).status is Status.PHASE_BLOCKED


def test_a_guard_that_held_it_back_alone_does_so_again() -> None:
    then = a_template(ANA, "evidence >= 1")
    found = under(then, a_template(ANA), mail="ana@example.org", evidence=1)
    assert decided(found).status is Status.PHASE_BLOCKED


def test_of_two_that_may_have_held_it_back_neither_is_known() -> None:
    then = a_template(ANA, "evidence >= 1")
    assert places(under(then, a_template(ANA))) == ["run.fields.mail"]


def test_a_new_guard_over_an_unknown_field_is_not_known() -> None:
    assert places(under(a_template("calls >= 0"), a_template(ANA))) == ["run.fields.mail"]


@pytest.mark.parametrize("guards", [("fields.mail",), ("evidence >= 0",)])
def test_that_a_field_is_there_is_known(guards: tuple[str, ...]) -> None:
    assert decided(under(a_template("calls >= 0"), a_template(*guards))).phase == "acting"


def test_what_was_not_counted_then_is_not_known() -> None:
    bound = a_run(template="t", phase=Phase.RETRIEVING)
    counting = a_template("open_ops == 0")
    law = a_law(policy(rule()), a_secret_note(), templates={"t": counting})
    writing = a_law(policy(rule()), a_secret_note(**WRITE), templates={"t": counting})
    call = recorded(a_known_case(law, run=bound, run_id=bound.run_id, phase=bound.phase))
    assert places(again(call, law, writing)) == ["run.open_ops"]

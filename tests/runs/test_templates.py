"""Templates as values."""

import pytest

from gateway.runs.templates import Guard, Template
from gateway.types.runs import Phase


def guard(text: str) -> Guard:
    return Guard(text=text, holds=lambda _run: True)


def test_each_phase_has_its_guards_and_completion_too() -> None:
    template = Template(
        name="refund",
        enter_when={Phase.ACTING: (guard("evidence >= 1"),)},
        completed_when=(guard("open_ops == 0"),),
    )
    assert [each.text for each in template.guards(Phase.ACTING)] == ["evidence >= 1"]
    assert [each.text for each in template.guards(Phase.COMPLETED)] == ["open_ops == 0"]
    assert template.guards(Phase.FINALIZING) == ()


@pytest.mark.parametrize("phase", Phase)
def test_a_template_that_names_no_tools_lets_all_of_them(phase: Phase) -> None:
    assert Template(name="refund").lets(phase, "crm.find", is_read=True)
    assert Template(name="refund").lets(phase, "crm.refund", is_read=False)


def test_where_writes_are_possible_the_named_tools_are_the_writes() -> None:
    template = Template(name="refund", tools={Phase.ACTING: frozenset({"crm.refund"})})
    assert template.lets(Phase.ACTING, "crm.refund", is_read=False)
    assert not template.lets(Phase.ACTING, "crm.delete", is_read=False)
    assert template.lets(Phase.ACTING, "crm.find", is_read=True)


def test_where_only_reads_are_possible_the_named_tools_are_the_reads() -> None:
    template = Template(name="refund", tools={Phase.RETRIEVING: frozenset({"crm.find"})})
    assert template.lets(Phase.RETRIEVING, "crm.find", is_read=True)
    assert not template.lets(Phase.RETRIEVING, "crm.export", is_read=True)

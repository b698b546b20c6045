"""Which requests a rule is about."""

import pytest

from gateway.policy.methods import ASKS, EVERY, OF, USE, Target, about
from gateway.types.calls import Method
from gateway.types.tools import Kind


@pytest.mark.parametrize("kind", Kind)
def test_a_rule_over_a_kind_is_about_all_that_can_be_done_with_it(kind: Kind) -> None:
    assert about(kind, None, denies=False) == OF[kind]
    assert USE[kind] in OF[kind]


def test_methods_narrow_a_rule_to_those_that_fit_its_kind() -> None:
    named = frozenset({Method.READ_RESOURCE, Method.CALL_TOOL, Method.ELICIT})
    assert about(Kind.RESOURCE, named, denies=False) == {Method.READ_RESOURCE, Method.ELICIT}


def test_methods_alone_are_taken_as_they_are() -> None:
    named = frozenset({Method.GET_PROMPT})
    assert about(None, named, denies=False) == named
    assert about(None, named, denies=True) == named


def test_a_rule_that_names_nothing_permits_tools_only_and_forbids_everything() -> None:
    assert about(None, None, denies=False) == OF[Kind.TOOL]
    assert about(None, None, denies=True) == EVERY == set(Method)


def test_every_method_belongs_to_a_kind_or_is_a_question() -> None:
    assert frozenset().union(*OF.values()) | ASKS == EVERY
    assert not ASKS & frozenset().union(*OF.values())


@pytest.mark.parametrize(
    ("kind", "key", "is_template"),
    [
        (Kind.RESOURCE, "crm://notes/{id}", True),
        (Kind.RESOURCE, "crm://notes/1", False),
        (Kind.TOOL, "crm.{find}", False),
    ],
)
def test_only_a_resource_with_a_variable_stands_for_several(
    kind: Kind, key: str, is_template: bool
) -> None:
    target = Target(method=Method.READ_RESOURCE, kind=kind, key=key, server="crm")
    assert target.is_template is is_template

"""From a file to written templates."""

import pytest

from gateway.errors import FileError, FilesError
from gateway.policy.run_files import duplicates, load
from gateway.types.runs import Phase

TEXT = """\
runs:
  refund:
    fields: {customer_id: {required: true}}
    phases:
      acting:
        enter_when: [fields.customer_id, "evidence >= 1"]
        tools: [desk.refund]
    completed_when: [verified(desk.refund)]
"""


def test_a_template_has_its_guards_by_the_phase_that_they_lead_to() -> None:
    (found,) = load(TEXT, file="runs/refund.yaml")
    assert {phase: [guard.text for guard in each] for phase, each in found.guards.items()} == {
        Phase.ACTING: ["fields.customer_id", "evidence >= 1"],
        Phase.COMPLETED: ["verified(desk.refund)"],
    }
    assert found.place == "runs/refund.yaml:2"
    assert found.tools(Phase.ACTING) == ("desk.refund",)
    assert found.tools(Phase.FINALIZING) is None


def test_every_fault_of_every_guard_is_told_where_it_stands() -> None:
    text = TEXT.replace('"evidence >= 1"', '"evidense >= 1"').replace(
        "verified(desk.refund)", "verified(refund)"
    )
    with pytest.raises(FilesError) as raised:
        load(text, file="r.yaml")
    assert [str(each) for each in raised.value.errors] == [
        "r.yaml:6:43: no name `evidense` here; did you mean `evidence`?",
        "r.yaml:8:31: `refund` is no tool; name it as `server.name`",
    ]


def test_a_file_that_is_no_map_is_refused() -> None:
    with pytest.raises(FileError, match="a map of keys"):
        load("- a", file="r.yaml")


def test_a_name_is_given_once_in_all_files() -> None:
    both = (*load(TEXT, file="a.yaml"), *load(TEXT, file="b.yaml"))
    (fault,) = duplicates(both)
    assert (
        str(fault)
        == "b.yaml:2:3: run template `refund` is already defined at a.yaml:2; rename or remove one"
    )

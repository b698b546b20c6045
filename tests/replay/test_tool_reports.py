from gateway.policy.findings import Finding, Level
from gateway.replay.examples import Example
from gateway.replay.tool_reports import Misfit, ToolReport, as_json, lines
from tests.helpers.cases import NOW

FIRST = Example(call="call_1", run="", seq=3, at=NOW, user="sam", tenant="acme")
BREAK = Finding(
    level=Level.ERROR,
    check="condition-type",
    message="no `amount`",
    file="p.yaml",
    line=4,
    column=2,
)
CHANGED = ToolReport(
    tool="pay.refund",
    fate="changed",
    place="c.yaml:3",
    changes=tuple((f"/inputSchema/{number}", "added") for number in range(8)),
    calls=9,
    blocked=7,
    fits=3,
    fits_no_more=2,
    unknown=4,
    missing=(("/arguments/iban", "redacted"),),
    faults=(Misfit(pointer="", expected="`a`", calls=2, first=FIRST),),
    results={"unknown": 5},
    breaks=(BREAK,),
    failing=("t.yaml:1: sam may",),
    first=FIRST,
)


def test_the_lines_say_what_is_blocked_what_fits_and_what_breaks() -> None:
    told = "\n".join(lines([CHANGED]))
    for words in (
        "pay.refund: not as its contract (c.yaml:3) has it",
        "and 2 more",
        "blocked until it is pinned again: 7 calls; then the policy does not pass with it",
        "arguments of 9 calls: 3 as before, 2 fit no more, 4 nobody can tell",
        "/: expected `a`: 2 calls",
        "not in the log: /arguments/iban (redacted)",
        "0 fit, 0 do not, 5 not kept, so nobody can tell",
        "error: p.yaml:4: [condition-type] no `amount`",
        "policy test fails: t.yaml:1: sam may",
    ):
        assert words in told, words


def test_tools_that_stay_as_they_are_take_no_lines() -> None:
    assert [*lines([ToolReport(tool="a.b", fate="same", calls=3)])] == []


def test_what_passes_once_it_is_pinned_is_told_by_what_breaks() -> None:
    def passes(fate: str, *breaks: Finding, failing: tuple[str, ...] = ()) -> bool:
        return ToolReport(tool="a.b", fate=fate, breaks=breaks, failing=failing).passes

    warning = Finding(level=Level.WARNING, check="x", message="", file="", line=0, column=0)
    assert passes("changed", warning)
    assert passes("new")
    assert not any((passes("gone"), passes("unusable"), passes("changed", BREAK)))
    assert not passes("changed", failing=("t",))


def test_programs_get_all_of_it() -> None:
    said = as_json(CHANGED)
    assert said["passes_when_pinned"] is False
    assert said["arguments"] == {
        "fit": 3,
        "fit_now": 0,
        "fit_no_more": 2,
        "misfit": 0,
        "unknown": 4,
        "missing": [{"place": "/arguments/iban", "why": "redacted"}],
        "faults": [{"pointer": "", "expected": "`a`", "calls": 2, "first": FIRST.as_json()}],
    }

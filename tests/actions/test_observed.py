"""Counting what would have been."""

from gateway.actions.observed import Cause, Tally
from gateway.types.observed import PASSED, Observed, Would

DENIED = Observed(would=Would.DENY, rule="no-bans", code="policy_denied")
MASKED = Observed(would=Would.MASK)
UNREVIEWED = Observed(would=Would.DENY, code="unreviewed")


def test_calls_are_counted_by_what_would_have_been_and_by_what() -> None:
    tally = Tally()
    for tool, words in (
        ("crm.find", (PASSED, None)),
        ("crm.find", (PASSED, MASKED)),
        ("crm.ban", (DENIED, None)),
        ("crm.ban", (DENIED, MASKED)),
        ("crm.new", (UNREVIEWED, None)),
    ):
        tally.count(tool, *words)
    assert [*tally.ranked()] == [
        (Cause(would=Would.DENY, rule="no-bans", tool="crm.ban"), 2),
        (Cause(would=Would.DENY, rule="unreviewed", tool="crm.new"), 1),
        (Cause(would=Would.MASK, rule="", tool="crm.ban"), 1),
        (Cause(would=Would.MASK, rule="", tool="crm.find"), 1),
    ]
    assert tally.in_words() == (
        "5 calls passed; 3 would have been denied, 2 would have had parts of the answer masked"
    )


def test_what_was_told_is_read_again() -> None:
    tally = Tally()
    tally.count("crm.ban", DENIED)
    again = Tally.of_json(tally.to_json())
    assert (again.calls, again.causes) == (1, tally.causes)
    assert Tally.of_json({"calls": "many", "would": [7, {"would": "fly"}]}).calls == 0


def test_the_log_gives_the_same_counts() -> None:
    tally = Tally()
    tally.see({"decision": "deny", "tool": "crm.ban", "observed": {"would": "deny", "rule": "r"}})
    tally.see({"decision": "allow", "tool": "crm.find", "observed": {"would": "pass"}})
    tally.see({"status": "ok", "tool": "crm.find", "observed": {"would": "mask"}})
    tally.see({"decision": "deny", "tool": "crm.ban"})  # enforced
    assert tally.calls == 2
    assert tally.sums() == {Would.DENY: 1, Would.MASK: 1}


def test_where_nothing_would_have_been_otherwise_that_is_said() -> None:
    tally = Tally()
    tally.count("crm.find", PASSED)
    assert tally.in_words() == "1 call passed, all of them in any case"

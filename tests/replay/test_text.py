from gateway.replay import text
from gateway.replay.tally import Tally
from gateway.replay.types import Counters, Subject
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, DENY, a_report, changed, recorded, report, same


def test_text_tells_counts_groups_money_and_what_is_missing() -> None:
    said = "\n".join(text.lines(a_report()))
    for line in (
        "5 calls in 1 run: 1 same, 3 changed, 1 undecidable (limits as recorded)",
        "GRANTS MORE (review each): 2 calls",
        "  mail.send: require_approval → allow  1 call, 1 user",
        "      large (policy.yaml:20) → small (policy.yaml:10)",
        "      people had said NO to 1 of these",
        "  would not have happened: billing.refund, 1 call, 61,204.00 EUR",
        "  would have gone ahead with nobody asked: mail.send, 1 call",
        "  billing.refund: 1 call need /arguments/iban (redacted), read by large",
        "      whatever it was, 1 call would be: deny",
        "RULES that held for no call",
        "  never (policy.yaml:30)",
        "Self-check: 5 calls judged by their own revision again, all same",
    ):
        assert line in said
    assert said.index("GRANTS MORE") < said.index("GRANTS LESS") < said.index("UNDECIDABLE")


def test_text_of_an_empty_log_says_so() -> None:
    assert "No call was judged in this period." in "\n".join(text.lines(report([])))


def test_a_failed_self_check_is_not_to_be_missed() -> None:
    broken = report([replaced(same(recorded(1, ALLOW)), is_faithful=False)])
    said = "\n".join(text.lines(broken))
    assert "SELF-CHECK FAILED: 1 call of 1" in said
    assert "call_1, event 10, sam of acme" in said


def test_places_of_then_and_now_have_one_form() -> None:
    now = replaced(ALLOW, place="/tmp/drafts/policy.yaml:30")
    found = report([changed(recorded(1, replaced(ALLOW, rule="old")), now, grants=Lean.OTHER)])
    told = replaced(found, subject=replaced(found.subject, folder="/tmp/drafts/"))
    said = "\n".join(text.lines(told))
    assert "old (policy.yaml:10) → small (policy.yaml:30)" in said
    assert "/tmp/drafts" not in said
    assert told.groups[0].now_at == now.place  # SARIF points there


def test_rules_about_servers_that_nobody_called_are_one_count() -> None:
    tally = Tally(
        subject=Subject(revision="sha256:b", counters=Counters.RECORDED),
        rules={"here": "p.yaml:1", "there": "p.yaml:2", "far": "p.yaml:3", "any": "p.yaml:4"},
        servers={
            "here": frozenset({"billing", "time"}),
            "there": frozenset({"time"}),
            "far": frozenset({"crm"}),
            "any": frozenset(),
        },
    )
    tally.add(same(recorded(1, DENY)))
    said = [*text.lines(tally.report())]
    at = said.index("RULES that held for no call")
    assert said[at + 1 : at + 4] == [
        "  here (p.yaml:1)",
        "  any (p.yaml:4)",
        "  and 2 rules about servers that no call of this period used (JSON names them)",
    ]

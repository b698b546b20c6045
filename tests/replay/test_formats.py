from xml.etree import ElementTree as Xml

from gateway import jsontext
from gateway.replay import junit, sarif, text
from gateway.replay.report import Report, Wanted, as_json
from gateway.replay.types import Gone, Missing, Money
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, ASK, DENY, changed, recorded, report, same, undecidable

IBAN = Missing(place="/arguments/iban", why=Gone.REDACTED, readers=("large",))


def _found() -> Report:
    return report(
        [
            same(recorded(1, ALLOW)),
            changed(recorded(2, DENY, user="ann"), ALLOW, grants=Lean.WIDER),
            changed(
                recorded(3, ASK, denied=True, tool="mail.send"),
                ALLOW,
                grants=Lean.WIDER,
                overrides=True,
            ),
            changed(
                recorded(4, ALLOW, run="run_1", executed=True),
                DENY,
                grants=Lean.NARROWER,
                money=Money(amount=61_204, currency="EUR"),
                first=True,
            ),
            undecidable(recorded(5, ALLOW), IBAN, certain=DecisionEffect.DENY),
        ]
    )


def test_text_tells_counts_groups_money_and_what_is_missing() -> None:
    said = "\n".join(text.lines(_found()))
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
        "RULES that held for no call: large (policy.yaml:20), never (policy.yaml:30)",
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


def test_json_has_every_group_and_can_be_written() -> None:
    told = as_json(_found())
    assert jsontext.parse_result(jsontext.dump(told))
    assert told["same"] == 1
    assert _tools(told["grants_more"]) == ["mail.send", "billing.refund"]
    assert _tools(told["grants_less"]) == ["billing.refund"]
    assert _tools(told["unknown"]) == ["billing.refund"]


def _tools(groups: Json) -> list[Json]:
    assert isinstance(groups, list)
    return [each["tool"] for each in groups if isinstance(each, dict)]


def test_sarif_has_a_result_for_each_group_at_the_line_of_the_rule() -> None:
    told = sarif.sarif(_found(), version="1.2.3")
    runs = told["runs"]
    assert isinstance(runs, list)
    assert isinstance(runs[0], dict)
    results = runs[0]["results"]
    assert isinstance(results, list)
    levels = [(each["ruleId"], each["level"]) for each in results if isinstance(each, dict)]
    assert levels == [
        ("grants-more", "error"),
        ("grants-more", "error"),
        ("grants-less", "warning"),
        ("undecidable", "note"),
    ]
    assert isinstance(results[0], dict)
    assert results[0]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "policy.yaml"},
                "region": {"startLine": 10},
            }
        }
    ]


def test_junit_fails_on_what_was_named_and_on_nothing_else() -> None:
    def failures(*wanted: Wanted) -> tuple[str, int]:
        root = Xml.fromstring(junit.junit(_found(), fail_on=wanted))
        return root.attrib["tests"], len(root.findall("testcase/failure"))

    assert failures() == ("5", 0)
    assert failures(Wanted.GRANTS_MORE) == ("5", 2)
    assert failures(Wanted.GRANTS_LESS, Wanted.UNDECIDABLE) == ("5", 2)
    assert failures(Wanted.CHANGED) == ("5", 3)


def test_junit_fails_where_a_log_does_not_fit_its_own_revision() -> None:
    broken = report([replaced(same(recorded(1, ALLOW)), is_faithful=False)])
    root = Xml.fromstring(junit.junit(broken, fail_on=()))
    assert root.attrib["failures"] == "1"


def test_junit_can_be_read_whatever_a_tool_is_called() -> None:
    odd = changed(recorded(1, DENY, tool="a.\x00\x1b<b>&\ud800"), ALLOW, grants=Lean.WIDER)
    root = Xml.fromstring(junit.junit(report([odd]), fail_on=[Wanted.GRANTS_MORE]))
    case = root.find("testcase")
    assert case is not None
    assert "<b>&" in case.attrib["name"]

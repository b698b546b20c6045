from collections.abc import Callable

from gateway.admin.rendering import Pages
from gateway.admin.replay_showing import showing
from gateway.replay import sarif
from gateway.replay.junit import junit
from gateway.replay.report import RECORDED_ONLY, Report, Wanted, as_json
from gateway.replay.text import lines
from gateway.replay.types import Counters, Money
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, ASK, a_report, changed, recorded, report


def test_sarif_has_a_result_for_each_group_at_the_line_of_the_rule() -> None:
    told = sarif.sarif(a_report(), version="1.2.3")
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


def test_a_limit_without_room_is_told_in_words_in_every_form() -> None:
    full = replaced(ALLOW, exceeded="refunds-a-day")
    found = report([changed(recorded(1, ASK), full, grants=Lean.NARROWER)])
    words = "require_approval → over a limit"
    assert words in str(sarif.sarif(found, version="1"))
    assert words in "\n".join(lines(found))
    assert words in junit(found, fail_on=[])
    (group,) = found.groups
    assert group.after == "no_room"
    assert "['require_approval', 'over a limit']" in str(as_json(found)["grants_less"])


def test_sums_of_recorded_limits_say_in_every_form_what_they_leave_out() -> None:
    money = Money(amount=400, currency="EUR")
    once = replaced(
        changed(recorded(1, ASK), ALLOW, grants=Lean.WIDER, money=money), operation="op_1"
    )
    found = report([once, once])
    simulated = replaced(found, subject=replaced(found.subject, counters=Counters.SIMULATED))
    pages = Pages()
    forms: tuple[Callable[[Report], str], ...] = (
        lambda of: "\n".join(lines(of)),
        lambda of: junit(of, fail_on=[Wanted.GRANTS_MORE]),
        lambda of: str(sarif.sarif(of, version="1")),
        lambda of: str(as_json(of)),
        lambda of: pages.file("replay_file", report=of, showing=showing(of)),
    )
    for told in forms:
        assert RECORDED_ONLY in told(found)
        assert RECORDED_ONLY not in told(simulated)
        assert "800" not in told(found)

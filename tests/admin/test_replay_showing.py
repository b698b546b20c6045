from datetime import timedelta

from gateway.admin.rendering import Pages
from gateway.admin.replay_showing import command, showing
from gateway.replay.types import Gone, Missing
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import (
    ALLOW,
    ASK,
    DENY,
    START,
    changed,
    recorded,
    report,
    same,
    undecidable,
)


def test_the_title_says_what_matters_most() -> None:
    wider = changed(recorded(1, DENY), ALLOW, grants=Lean.WIDER)
    narrower = changed(recorded(2, ALLOW), DENY, grants=Lean.NARROWER)
    unknown = undecidable(recorded(3, ALLOW), Missing(place="/arguments/x", why=Gone.REDACTED))
    assert showing(report([wider, narrower])).title == "1 call would be granted more"
    assert showing(report([narrower])).title == "Nothing more is granted; 1 call would change"
    assert showing(report([unknown])).title == "Nothing changes, as far as is known of 1 call"
    assert showing(report([same(recorded(4, ALLOW))])).title == "Nothing changes for 1 call"


def test_the_command_makes_the_same_report_again() -> None:
    found = report([same(recorded(1, ALLOW))])
    subject = replaced(found.subject, since=START, until=START + timedelta(days=7), tenant="a b")
    assert command(replaced(found, subject=subject)) == (
        f"weighbridge replay --revision {subject.revision} --since 2026-10-01T09:00:00"
        " --until 2026-10-08T09:00:00 --tenant 'a b' --counters recorded"
    )


def test_how_often_people_are_asked_a_week_is_told_from_a_week_on() -> None:
    lead = replaced(ASK, people="1 of lead")
    asked = [same(recorded(n, lead)) for n in (1, 2, 337)]
    assert showing(report(asked)).workload[0].weekly == "1.5"
    assert showing(report(asked[:2])).workload[0].weekly == ""


def test_the_file_stands_alone_and_takes_no_word_from_outside_for_its_own() -> None:
    odd = "<script>alert(1)</script>\u202e"
    calls = [
        changed(recorded(1, ASK, denied=True, tool=odd), ALLOW, grants=Lean.WIDER, overrides=True),
        undecidable(recorded(2, ALLOW, user=odd), Missing(place=odd, why=Gone.CUT, readers=(odd,))),
        replaced(same(recorded(3, ALLOW, run="run_<b>")), is_faithful=False),
    ]
    found = report(calls)
    page = Pages().file("replay_file", report=found, showing=showing(found))
    assert "<script" not in page
    assert "\u202e" not in page
    assert "run_<b>" not in page
    assert "202E" in page
    assert "--paper" in page  # the style is in it
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<h2>") == page.count("</h2>")
    assert "People had said" in page
    assert "Failed." in page

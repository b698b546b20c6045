from xml.etree import ElementTree as Xml

from gateway.replay import junit
from gateway.replay.report import Wanted
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW, DENY, a_report, changed, recorded, report, same


def test_junit_fails_on_what_was_named_and_on_nothing_else() -> None:
    def failures(*wanted: Wanted) -> tuple[str, int]:
        root = Xml.fromstring(junit.junit(a_report(), fail_on=wanted))
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

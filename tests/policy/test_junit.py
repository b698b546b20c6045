from xml.etree import ElementTree as Xml

from gateway.policy.junit import junit
from gateway.policy.testing import Result


def test_results_are_read_by_ci_systems() -> None:
    text = junit(
        [
            Result(name="a <fine> one", place="t.yaml:3", problems=()),
            Result(name="b", place="t.yaml:4", problems=("rule: expected x", "code: expected y")),
        ]
    )
    root = Xml.fromstring(text)
    assert root.attrib == {"name": "policy", "tests": "2", "failures": "1", "errors": "0"}
    fine, bad = root.findall("testcase")
    assert fine.attrib["name"] == "a <fine> one"
    assert fine.find("failure") is None
    assert (bad.attrib["file"], bad.attrib["line"]) == ("t.yaml", "4")
    failure = bad.find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "rule: expected x"
    assert failure.text == "rule: expected x\ncode: expected y"

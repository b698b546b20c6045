"""Policy test results as JUnit XML, which CI systems read."""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from gateway.policy.testing import Result


def junit(results: Sequence[Result], *, suite: str = "policy") -> str:
    """Render results as one `testsuite`; a failure carries every problem of its case."""
    failed = sum(not result.passed for result in results)
    root = Xml.Element(
        "testsuite",
        {"name": suite, "tests": str(len(results)), "failures": str(failed), "errors": "0"},
    )
    for result in results:
        file, _, line = result.place.rpartition(":")
        case = Xml.SubElement(
            root, "testcase", {"classname": file, "name": result.name, "file": file, "line": line}
        )
        if not result.passed:
            failure = Xml.SubElement(case, "failure", {"message": result.problems[0]})
            failure.text = "\n".join(result.problems)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)

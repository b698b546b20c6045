from gateway.errors import FileError
from gateway.policy.findings import (
    Finding,
    Level,
    as_github,
    as_json,
    as_sarif,
    as_text,
    of_error,
)
from gateway.types.json import Json

ERROR = of_error(FileError("`a`, it is\nwrong: 5%", file="p,x.yaml", line=3, column=7))
WHOLE = Finding(
    level=Level.INFO, check="unchecked", message="m", file="contracts", line=0, column=0
)


def test_a_line_for_people() -> None:
    assert as_text([WHOLE]) == "contracts:0:0: info [unchecked] m"


def test_objects_for_programs() -> None:
    (told,) = as_json([ERROR])
    assert told == {
        "level": "error",
        "check": "schema",
        "message": "`a`, it is\nwrong: 5%",
        "file": "p,x.yaml",
        "line": 3,
        "column": 7,
    }


def test_annotations_escape_what_would_end_them() -> None:
    assert as_github([ERROR, WHOLE]).splitlines() == [
        "::error file=p%2Cx.yaml,line=3,col=7,title=policy schema::`a`, it is%0Awrong: 5%25",
        "::notice file=contracts,line=0,col=0,title=policy unchecked::m",
    ]


def test_a_sarif_log_has_a_region_only_where_there_is_a_line() -> None:
    log = as_sarif([ERROR, WHOLE], version="1.2.3")
    runs = log["runs"]
    assert log["version"] == "2.1.0"
    assert isinstance(runs, list)
    assert isinstance(runs[0], dict)
    results = runs[0]["results"]
    assert isinstance(results, list)
    places: list[Json] = [each["locations"] for each in results if isinstance(each, dict)]
    assert places == [
        [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "p,x.yaml"},
                    "region": {"startLine": 3, "startColumn": 7},
                }
            }
        ],
        [{"physicalLocation": {"artifactLocation": {"uri": "contracts"}}}],
    ]
    tool = runs[0]["tool"]
    assert tool == {
        "driver": {
            "name": "weighbridge",
            "version": "1.2.3",
            "rules": [{"id": "schema"}, {"id": "unchecked"}],
        }
    }

from gateway.replay import sarif
from tests.helpers.compared import a_report


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

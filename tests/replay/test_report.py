from gateway import jsontext
from gateway.replay.report import as_json
from gateway.types.json import Json
from tests.helpers.compared import a_report


def test_json_has_every_group_and_can_be_written() -> None:
    told = as_json(a_report())
    assert jsontext.parse_result(jsontext.dump(told))
    assert told["same"] == 1
    assert _tools(told["grants_more"]) == ["mail.send", "billing.refund"]
    assert _tools(told["grants_less"]) == ["billing.refund"]
    assert _tools(told["unknown"]) == ["billing.refund"]


def _tools(groups: Json) -> list[Json]:
    assert isinstance(groups, list)
    return [each["tool"] for each in groups if isinstance(each, dict)]

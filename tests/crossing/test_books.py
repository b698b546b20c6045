from gateway.crossing.books import yielded
from gateway.types.json import JsonObject
from gateway.types.tools import Yield
from tests.helpers.cases import a_case, a_contract


def test_values_of_one_item_share_a_record() -> None:
    contract = a_contract(yields=(Yield(type="id", path="/*/id"), Yield(type="mail", path="/*/m")))
    rows: JsonObject = {"structuredContent": {"a": {"id": 1, "m": "x"}, "b": {"id": True}}}
    found = yielded(a_case(contract=contract), rows)
    assert [(each.type, each.value) for each in found] == [("id", 1), ("mail", "x")]
    assert len({each.record for each in found}) == 1

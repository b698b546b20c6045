import pytest

from gateway.types.json import Json
from gateway.types.repeats import KEY, BadRepeat, Repetition, asked

OP = "op_01KB2Y7Q1C5D6E7F8G9H0J1K2M"


def test_a_host_names_the_call_that_it_repeats_and_why() -> None:
    assert asked({}) is None
    said: Json = {"op_id": OP, "reason": "the customer wants two"}
    assert asked({KEY: said}) == Repetition(op_id=OP, reason="the customer wants two")


@pytest.mark.parametrize(
    "said",
    [
        True,
        OP,
        {},
        {"op_id": OP},
        {"op_id": OP, "reason": " "},
        {"op_id": OP, "reason": "r" * 1001},
        {"op_id": OP, "reason": 1},
        {"op_id": 1, "reason": "r"},
        {"op_id": "op_1", "reason": "r"},
        {"op_id": f"{OP}' OR 1", "reason": "r"},
    ],
)
def test_anything_less_is_refused_without_being_repeated(said: Json) -> None:
    with pytest.raises(BadRepeat) as refused:
        asked({KEY: said})
    assert "OR 1" not in str(refused.value)

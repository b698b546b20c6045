from gateway.events.patterns import PATTERNS
from gateway.events.profile import EVENTS, RESULTS, Profile
from gateway.events.quick import QuickLook
from gateway.events.scanner import Scanner
from gateway.types.json import Json

SCANNER = Scanner(PATTERNS)


def look(value: Json, profile: Profile = EVENTS) -> int | None:
    return QuickLook(SCANNER, profile).clean(value)


def test_a_clean_value_is_told_by_the_number_of_its_keys() -> None:
    assert look({"a": [{"b": 1}, {"b": "x"}], "c": None}) == 4
    assert look("text") == 0


def test_anything_that_may_have_to_change_is_left_to_the_slow_way() -> None:
    assert look({"password": "x"}) is None
    assert look({"a": ["mail a@x.org"]}) is None
    assert look({"a": '{"token": "x"}'}) is None
    assert look({"a": "x" * (EVENTS.max_text + 1)}) is None
    many: list[Json] = [0] * (EVENTS.max_nodes + 1)
    assert look(many) is None


def test_numbers_as_long_as_a_card_matter_only_where_personal_data_does() -> None:
    assert look({"n": 4111111111111111}) is None
    assert look({"n": 4111111111111111}, RESULTS) == 1


def test_it_bears_more_keys_than_it_remembers() -> None:
    quick = QuickLook(SCANNER, EVENTS)
    for start in range(0, 6_000, 1_000):
        value: Json = {f"k{number}": 1 for number in range(start, start + 1_000)}
        assert quick.clean(value) == 1_000
    assert quick.clean({"k1": 1, "x" * 100: 1}) == 2

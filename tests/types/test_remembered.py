"""Results that are remembered by the identity of what they were made of."""

from gateway.types.remembered import by_identity


def test_the_same_object_is_looked_at_once_and_an_equal_one_by_itself() -> None:
    seen: list[tuple[int, ...]] = []

    @by_identity(8)
    def total(numbers: tuple[int, ...]) -> int:
        seen.append(numbers)
        return sum(numbers)

    one = (1, 2, 3)
    equal = (*one[:1], *one[1:])
    assert [total(one), total(one), total(equal)] == [6, 6, 6]
    assert [each is one for each in seen] == [True, False]


def test_no_more_objects_are_held_than_agreed_and_none_is_taken_for_another() -> None:
    @by_identity(4)
    def text(value: list[int]) -> str:
        return str(value[0])

    for number in range(1_000):  # most are gone by the next round, and their ids are given again
        assert text([number]) == str(number)

import pytest

from gateway.events import digits


@pytest.mark.parametrize(
    "number", ["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009"]
)
def test_card_numbers_are_told_by_prefix_length_and_sum(number: str) -> None:
    assert digits.is_card(number)


@pytest.mark.parametrize(
    "number", ["4111111111111112", "1234567890123452", "41111111", "79927398713"]
)
def test_other_rows_of_digits_are_no_cards(number: str) -> None:
    assert not digits.is_card(number)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("DE89370400440532013000", 22),
        ("de89 3704 0044 0532 0130 00", 27),
        ("NO9386011117947", 15),
        ("GB82 WEST 1234 5698 7654 32 from", 27),
        ("DE89370400440532013001", 0),
        ("DE8937040044053201300012", 0),
        ("DE89", 0),
    ],
)
def test_account_numbers_are_told_by_their_check_digits(text: str, length: int) -> None:
    assert digits.iban_length(text) == length

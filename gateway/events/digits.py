"""Check digits: what tells a card or an account number from any other row of digits."""

import re
from typing import Final

_SHORTEST_IBAN: Final = 15  # ISO 13616: Norway's, the shortest there is
_LONGEST_IBAN: Final = 34
# First digits and lengths that card networks give out (ISO/IEC 7812 and the networks' own pages).
_CARD: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}"
    r"|6\d{15,18}"
)
_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_card(text: str) -> bool:
    """Whether the digits are a payment card's: a network's prefix and length, and Luhn's sum."""
    digits = text.replace(" ", "").replace("-", "")
    if not _CARD.fullmatch(digits):
        return False
    values = [ord(digit) - 48 for digit in reversed(digits)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0


def iban_length(text: str) -> int:
    """Return how many leading characters are a valid IBAN (ISO 7064, mod 97-10); 0 for none.

    Text that follows an account number may look like more of it, so shorter readings count too.
    """
    for end in range(len(text), _SHORTEST_IBAN - 1, -1):
        if end < len(text) and text[end].isalnum() and text[end - 1] != " ":
            continue  # a number doesn't end inside a word
        if _is_iban(text[:end].rstrip().replace(" ", "").upper()):
            return len(text[:end].rstrip())
    return 0


def _is_iban(compact: str) -> bool:
    if not _SHORTEST_IBAN <= len(compact) <= _LONGEST_IBAN or not compact.isascii():
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1

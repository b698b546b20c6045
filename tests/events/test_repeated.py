"""What stands under a telling key, in other texts."""

import base64
from urllib.parse import quote

import pytest

from gateway.events.repeated import Repeated

FOUND = Repeated({"hunter two/2", "hunter two/2 and more"})


@pytest.mark.parametrize(
    ("text", "kept", "count"),
    [
        ("log in with hunter two/2, or not", "log in with [redacted:secret], or not", 1),
        ("hunter two/2 and more", "[redacted:secret]", 1),
        (f"?p={quote('hunter two/2', safe='')}", "?p=[redacted:secret]", 1),
        ("hunter two/2hunter two/2", "[redacted:secret][redacted:secret]", 2),
        ("hunter", "hunter", 0),
        ("", "", 0),
    ],
)
def test_each_is_cut_out_of_a_text_in_every_form(text: str, kept: str, count: int) -> None:
    cut = FOUND.cut(text)
    assert (cut.text, cut.count) == (kept, count)


def test_a_text_that_is_one_says_so() -> None:
    assert FOUND.cut("hunter two/2").whole is not None
    assert FOUND.cut("hunter two/2.").whole is None


def test_base64_of_it_is_found_as_well() -> None:
    coded = base64.b64encode(b"me:hunter two/2").decode()
    assert FOUND.cut(coded).count == 1
    assert FOUND.cut("half \ud800 of a pair, hunter two/2").count == 1

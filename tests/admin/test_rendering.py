import pytest
from jinja2 import UndefinedError

from gateway.admin.rendering import STYLE_PATH, Pages, style, told
from gateway.approvals.visible import visible


def test_every_text_is_escaped() -> None:
    page = Pages().message("<b>", "<script>alert(1)</script>", status=400).body
    assert b"<script>" not in page
    assert b"&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert b"<h1>&lt;b&gt;</h1>" in page


def test_a_page_that_lacks_something_is_a_fault_and_not_half_a_page() -> None:
    with pytest.raises(UndefinedError):
        Pages().render("link")


def test_what_was_hidden_is_set_apart_from_the_text_that_spells_it() -> None:
    assert told(visible("a\u202eb")) == 'a<span class="esc">\\u{202E}</span>b'
    spelled = told(visible("a\\u{202E}b"))
    assert spelled == 'a<span class="esc">\\u{5C}</span>u{202E}b'
    assert told(visible("a\u200b" + "\u200b" * 99)) == 'a<span class="esc">\\u{200B ×100}</span>'


def test_a_line_end_is_one_behind_its_sign() -> None:
    assert told(visible("a\nb")) == 'a<span class="sign">⏎</span><br>b'


def test_markup_in_a_text_is_text() -> None:
    shown = told(visible("<img src=x onerror=alert(1)>&\"'\u200b<b>"))
    assert "<img" not in shown
    assert "<b>" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;&amp;&#34;&#39;" in shown


def test_the_style_has_an_address_of_its_own_and_may_be_kept() -> None:
    assert STYLE_PATH.startswith("/style-")
    assert "immutable" in style().headers["cache-control"]

import re

import pytest
from jinja2 import UndefinedError

from gateway.admin.rendering import STYLE_PATH, Pages, code_line, style, told
from gateway.admin.sessions import Current
from gateway.approvals.visible import visible
from tests.helpers.approvals import an_approver


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


def palettes() -> list[dict[str, str]]:
    """Return the colours of the style by name: by day, and by night."""
    text = bytes(style().body).decode()
    blocks = re.findall(r":root \{(.*?)\}", text, re.S)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for block in blocks]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2, 1.4.3)."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


TEXTS = (
    *(
        (text, ground)
        for text in ("ink", "soft", "accent")
        for ground in ("paper", "card", "sunken")
    ),
    *(("no", ground) for ground in ("card", "sunken", "no-soft")),
    *((text, ground) for text, ground in (("yes", "yes-soft"), ("warn", "warn-soft"))),
    *((f"on-{each}", each) for each in ("accent", "yes", "no")),
    *(("ink", ground) for ground in ("no-soft", "line")),
    ("warn", "card"),
)


@pytest.mark.parametrize("night", [0, 1])
def test_every_text_stands_out_from_its_ground_by_day_and_by_night(night: int) -> None:
    colours = palettes()[night]
    assert colours.keys() == palettes()[0].keys()
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in TEXTS}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}
    assert contrast(colours["strong-line"], colours["card"]) >= 3  # the borders of fields


def test_a_line_of_a_file_keeps_its_indent_and_hides_nothing() -> None:
    assert code_line("    a: <b>") == "    a: &lt;b&gt;"
    assert "\u202e" not in code_line("  x\u202e")


def test_navigation_leads_auditors_further() -> None:
    current = Current(person=an_approver(), secret="s")
    for pages, is_there in ((Pages(), False), (Pages(lambda person: True), True)):
        page = pages.message("x", "y", status=200, current=current).body
        assert (b'href="/replay"' in bytes(page)) == is_there


def test_every_page_says_while_decisions_are_only_recorded() -> None:
    for pages, is_there in ((Pages(), False), (Pages(observes=lambda: True), True)):
        page = bytes(pages.message("Gone", "Nothing is here.", status=404).body)
        assert (b"Every call passes" in page) is is_there

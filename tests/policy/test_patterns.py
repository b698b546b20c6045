import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.patterns import glob, is_template, meets


@pytest.mark.parametrize(
    ("pattern", "key", "selected"),
    [
        ("crm.*", "crm.search", True),
        ("crm.*", "crm2.search", False),
        ("*.search", "crm.search", True),
        ("crm.sear?h", "crm.search", True),
        ("crm.search", "crm.search_all", False),
        ("crm.[a-z]", "crm.s", False),
        ("crm.search", "crmXsearch", False),
        ("*", "crm.se\narch", True),
        ("*.a*b?d*", "crm.aab_ab+d", True),
        ("*.a*b?d*", "crm.aab_abd", False),
        ("a*a", "a", False),
        ("*ab*ab", "ab", False),
    ],
)
def test_patterns_over_server_and_tool(pattern: str, key: str, selected: bool) -> None:
    assert glob([pattern])(key) is selected
    assert glob(["nothing.else", pattern])(key) is selected


def test_a_long_uri_that_fits_many_stars_costs_no_more_than_its_length() -> None:
    selects = glob(["file:///" + "*a" * 20 + "*z"])
    assert not selects("file:///" + "a" * 100_000)
    assert selects("file:///" + "a" * 100_000 + "z")


@pytest.mark.parametrize(
    ("pattern", "template", "met"),
    [
        ("file:///handbook/*", "file:///{path}", True),
        ("file:///handbook/*", "file:///handbook/{+path}", True),
        ("file:///handbook/*", "file:///payroll/{path}", False),
        ("file:///a.md", "file:///{name}.md", True),
        ("file:///a.txt", "file:///{name}.md", False),
        ("db://?/rows/*", "db://x/rows/{id}{?lang,page}", True),
        ("db://?/rows/*", "db://xy/rows/{id}", False),
        ("*", "file:///plain", True),
        ("file:///{path}", "file:///{path}", True),
    ],
)
def test_a_pattern_and_a_template_meet_in_some_uri(pattern: str, template: str, met: bool) -> None:
    assert meets(pattern, template) is met


def test_a_template_too_long_to_tell_counts_as_met() -> None:
    assert meets("file:///a", "file:///b" + "x" * 4096)


def test_braces_make_a_template() -> None:
    assert is_template("file:///{path}")
    assert not is_template("file:///path")


@given(
    pattern=st.text("ab*?", max_size=6),
    before=st.text("ab", max_size=3),
    value=st.text("ab", max_size=3),
    after=st.text("ab", max_size=3),
)
def test_what_a_pattern_selects_of_a_template_is_met(
    pattern: str, before: str, value: str, after: str
) -> None:
    if glob([pattern])(before + value + after):
        assert meets(pattern, f"{before}{{x}}{after}")

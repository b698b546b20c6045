"""Which URIs a template could give."""

import pytest

from gateway.servers import templates


@pytest.mark.parametrize(
    ("template", "uri", "fits"),
    [
        ("file:///{path}", "file:///a", True),
        ("file:///{path}", "file:///a/b", False),
        ("file:///{+path}", "file:///a/b", True),
        ("db://{table}{?q}", "db://t?q=1", True),
        ("db://{table", "db://t", False),
        ("x://{v:3}", "x://abc", False),
    ],
)
def test_templates_are_matched_as_far_as_rfc_6570_can_be_undone(
    template: str, uri: str, fits: bool
) -> None:
    assert templates.fits(template, uri) is fits

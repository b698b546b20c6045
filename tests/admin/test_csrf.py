import pytest
from starlette.datastructures import Headers

from gateway.admin import csrf


def test_a_token_is_good_for_one_login_and_one_form() -> None:
    token = csrf.token("secret", "/approvals/apr_1/decide")
    assert csrf.holds("secret", "/approvals/apr_1/decide", token)
    assert not csrf.holds("other", "/approvals/apr_1/decide", token)
    assert not csrf.holds("secret", "/approvals/apr_2/decide", token)
    for wrong in ("", token[:-1], token.upper() + "0", "\ud800"):
        assert not csrf.holds("secret", "/approvals/apr_1/decide", wrong)


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({"origin": "http://127.0.0.1:8701"}, True),
        ({"origin": "https://127.0.0.1:8701"}, True),  # a proxy speaks TLS for us
        ({"origin": "HTTP://127.0.0.1:8701"}, True),
        ({"origin": "http://127.0.0.1:3000"}, False),
        ({"origin": "http://127.0.0.1"}, False),
        ({"origin": "http://localhost:8701"}, False),
        ({"origin": "https://approvals.example.com"}, True),  # as people reach it
        ({"origin": "http://approvals.example.com"}, False),
        ({"origin": "null"}, False),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, False),
        ({"origin": ""}, False),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({}, False),
    ],
)
def test_a_form_comes_from_this_very_host_and_port(headers: dict[str, str], is_ours: bool) -> None:
    sent = Headers({"host": "127.0.0.1:8701", **headers})
    assert csrf.is_from_here(sent, "https://approvals.example.com") is is_ours

import pytest

from gateway.config import confidential
from gateway.config.settings import Settings


def found(settings: dict[str, object], *taken: tuple[tuple[str | int, ...], str]) -> set[str]:
    return set(confidential.find(Settings.model_validate(settings), taken))


@pytest.mark.parametrize(
    "name",
    ["API_KEY", "GITHUB_TOKEN", "PGPASSWORD", "CLIENT_SECRET", "SESSION_COOKIE", "SENTRY_DSN"],
)
def test_a_value_whose_name_tells_is_confidential_wherever_it_came_from(name: str) -> None:
    entry = {"command": "x", "env": {name: "abcdefgh", "REGION": "eu-central-1"}}
    assert found({"servers": {"a": entry}}) == {"abcdefgh"}


def test_a_value_from_the_environment_is_confidential_where_credentials_stand() -> None:
    for place in (
        ("servers", "a", "args", 0),
        ("servers", "a", "url"),
        ("store",),
        ("store", "url"),
    ):
        assert found({}, (place, "from-the-environment")) == {"from-the-environment"}
    assert found({}, (("telemetry", "service_name"), "weighbridge-eu")) == set()


def test_a_short_text_is_not_cut_out_of_every_word() -> None:
    assert found({}, (("store",), "8700")) == set()


def test_the_text_behind_a_scheme_is_confidential_by_itself() -> None:
    entry = {"url": "https://h", "headers": {"Authorization": "Basic dXNlcjpwYXNz"}}
    assert found({"servers": {"a": entry}}) == {"Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"}


def test_only_what_is_named_like_a_credential_is_taken_out_of_results() -> None:
    entry = {
        "command": "x",
        "args": ["--key=abcdefghij", "/home/somebody"],
        "env": {"API_KEY": "0123456789", "ROOT": "/home/somebody", "MODE": "production"},
    }
    other = {"url": "https://h.example/", "headers": {"Authorization": "Bearer abcdefgh"}}
    settings = Settings.model_validate({"servers": {"a": entry, "b": other, "c": other}})
    written: dict[confidential.Path, str] = {
        ("servers", "a", "args", 0): "--key=${GITHUB_TOKEN}",
        ("servers", "a", "args", 1): "${HOME}",
        ("servers", "a", "env", "ROOT"): "${HOME:-/}",
    }
    environ = {"GITHUB_TOKEN": "abcdefghij", "HOME": "/home/somebody"}
    found = confidential.of_servers(settings, written, environ)
    assert {name: sorted(texts) for name, texts in found.items()} == {
        "a": ["0123456789", "abcdefghij"],
        "b": ["Bearer abcdefgh", "abcdefgh"],
        "c": ["Bearer abcdefgh", "abcdefgh"],
    }
    assert found["b"][0] == "Bearer abcdefgh"  # the longest first


def test_what_signs_notices_and_where_a_chat_takes_them_is_confidential() -> None:
    secret = "whsec_" + "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="
    hooks = [
        {"name": "a", "url": "https://hooks.example.com/a", "secret": secret},
        {"name": "b", "url": "https://hooks.slack.com/services/T0/B0/x", "format": "slack"},
    ]
    expected = {secret, secret[6:], "https://hooks.slack.com/services/T0/B0/x"}
    place = ("approvals", "webhooks", 0, "url")
    assert found({"approvals": {"webhooks": hooks}}) == expected
    assert found({}, (place, "https://h.example/token")) == {"https://h.example/token"}
    assert found({}, (("approvals", "webhooks", 0, "name"), "operations")) == set()


def test_what_the_gateway_shows_its_identity_provider_is_confidential() -> None:
    oidc = {"issuer": "https://login.example.com", "client_id": "wb", "tenant": "acme"}
    assert found({"admin": {"oidc": {**oidc, "client_secret": "0123456789"}}}) == {"0123456789"}
    assert found({"admin": {"oidc": oidc}}) == set()

"""What the configuration says of times, servers and roles."""

from typing import Any

from gateway.config.settings import Settings
from gateway.config.terms import terms


def test_times_and_servers_are_those_of_the_configuration() -> None:
    settings = Settings.model_validate(
        {
            "servers": {
                "alpha": {"command": "alpha", "timeout": "5s"},
                "beta": {"url": "https://beta.example/mcp"},
            },
            "limits": {"call_timeout": "40s"},
            "operations": {"keep": "30d", "late_window": "2m"},
        }
    )
    found = terms(settings)
    assert (found.keep_s, found.late_window_s, found.timeout_s) == (30 * 86400, 120, 40)
    assert found.timeouts_s == {"alpha": 5}
    assert found.over_stdio == {"alpha"}


def test_roles_are_those_of_accounts_keys_and_whoever_acts_locally() -> None:
    key = {"id": "k1", "hash": "sha256:" + "0" * 64, "user": "al", "tenant": "acme"}
    said: dict[str, Any] = {
        "identity": {"local": {"roles": ["dev"]}, "api_keys": [{**key, "roles": ["support"]}]},
        "admin": {"accounts": [{"user": "bo", "tenant": "acme", "roles": ["lead"]}]},
    }
    found = terms(Settings.model_validate(said))
    assert found.roles == {"dev", "support", "lead"}
    assert found.are_all_roles


def test_a_provider_may_know_roles_that_nobody_wrote_down() -> None:
    oidc = {"issuer": "https://login.example.com/", "client_id": "weighbridge", "tenant": "acme"}
    admin = {"public_url": "https://approvals.example.com", "oidc": oidc}
    assert not terms(Settings.model_validate({"admin": admin})).are_all_roles


def test_there_is_a_place_for_the_key_of_sealed_copies_beside_a_file_or_where_it_is_named() -> None:
    def can_seal(**said: Any) -> bool:
        return terms(Settings.model_validate(said)).can_seal

    server = {"url": "postgresql://db/weighbridge"}
    assert can_seal(store={"url": "sqlite:////srv/weighbridge.db"})
    assert not can_seal(store=server)
    assert can_seal(store=server, events={"sealing": {"key": "/etc/sealing.key"}})

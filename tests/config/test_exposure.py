from typing import Any

import pytest

from gateway.config.exposure import find_open_listener, refuse_open_listeners
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError


def test_an_address_changed_on_the_command_line_is_judged_again() -> None:
    settings = Settings.model_validate({})
    refuse_open_listeners(settings)
    listen = settings.listen.model_copy(update={"address": "0.0.0.0:8700"})
    with pytest.raises(ConfigurationError, match=r"reached by others \(`0\.0\.0\.0:8700`\)"):
        refuse_open_listeners(settings.model_copy(update={"listen": listen}))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "[::1]:1", "localhost:1", "127.8.8.8:1"])
def test_a_loopback_address_needs_no_credential(address: str) -> None:
    settings = Settings.model_validate(
        {"listen": {"address": address, "allowed_hosts": ["localhost:5"]}}
    )
    assert find_open_listener(settings) is None


def test_the_admin_listener_stays_on_this_machine_whatever_credentials_agents_have() -> None:
    key = {"id": "a", "hash": f"sha256:{'0' * 64}", "user": "u", "tenant": "t"}
    found = find_open_listener(
        Settings.model_validate(
            {"admin": {"address": "0.0.0.0:8701"}, "identity": {"api_keys": [key]}}
        )
    )
    assert found is not None
    assert found.section == "admin"
    assert "`0.0.0.0:8701`" in found.message


ANN = {"user": "ann", "tenant": "acme"}
HTTPS = "https://approvals.example.com"


@pytest.mark.parametrize(
    ("admin", "mend"),
    [
        ({"address": "0.0.0.0:1"}, "add `admin.oidc` or `admin.accounts`"),
        ({"public_url": HTTPS}, "add `admin.oidc` or `admin.accounts`"),
        ({"hosts": ["wb.internal"], "accounts": [ANN]}, "set `admin.public_url: https://…`"),
        ({"address": "0.0.0.0:1", "accounts": [ANN]}, "set `admin.public_url: https://…`"),
        (
            {"address": "0.0.0.0:1", "accounts": [ANN], "public_url": "http://10.0.0.1"},
            "set `admin.public_url: https://…`",
        ),
    ],
)
def test_pages_that_others_reach_need_people_and_tls(admin: dict[str, Any], mend: str) -> None:
    found = find_open_listener(Settings.model_validate({"admin": admin}))
    assert found is not None
    assert found.section == "admin"
    assert mend in found.message


def test_pages_behind_tls_whose_people_are_named_may_be_reached_by_others() -> None:
    admin = {"address": "0.0.0.0:1", "accounts": [ANN], "public_url": HTTPS}
    assert find_open_listener(Settings.model_validate({"admin": admin})) is None

import pytest
from pydantic import ValidationError

from gateway.config.settings import Settings
from gateway.types.runs import Phase


def test_an_empty_configuration_is_safe() -> None:
    settings = Settings.model_validate({})
    assert settings.listen.is_local
    assert settings.admin.is_local
    assert settings.contracts.unreviewed == "refuse"
    assert not settings.telemetry.capture_content
    assert settings.store.reads_when_unavailable == "allow"
    assert settings.runs.default_phase is Phase.ACTING


def test_settings_can_not_be_changed() -> None:
    settings = Settings.model_validate({})
    with pytest.raises(ValidationError, match="frozen"):
        settings.listen.path = "/other"  # pyright: ignore[reportAttributeAccessIssue] - the point


def test_a_store_is_written_as_a_text_or_as_a_map() -> None:
    text = Settings.model_validate({"store": "postgresql://gw@db/gw"})
    full = Settings.model_validate({"store": {"url": "postgresql://gw@db/gw"}})
    assert text.store == full.store


@pytest.mark.parametrize("url", ["mysql://h/d", "sqlite://", "sqlite:///", "weighbridge.db"])
def test_another_store_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="is not a store"):
        Settings.model_validate({"store": url})


@pytest.mark.parametrize("path", ["mcp", "/mcp/", "//", "/a//b", "/../x", "/a?b", "/.well-known/x"])
def test_a_path_that_clients_could_not_find_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"listen": {"path": path}})


def test_the_resource_is_the_public_url_or_the_address() -> None:
    listen = Settings.model_validate({"listen": {"address": "[::1]:9000"}}).listen
    assert listen.resource == "http://[::1]:9000/mcp"
    assert (listen.endpoint.host, listen.endpoint.port) == ("::1", 9000)
    public = {"public_url": "https://tools.example.com/mcp"}
    assert Settings.model_validate({"listen": public}).listen.resource == public["public_url"]


def test_our_own_names_are_accepted_beside_the_allowed_ones() -> None:
    listen = Settings.model_validate(
        {
            "listen": {
                "address": "Gw.example:8700",
                "public_url": "https://Tools.example.com:8443/mcp",
                "allowed_hosts": ["lb.example"],
                "allowed_origins": ["https://chat.example"],
            }
        }
    ).listen
    assert listen.hosts == {"lb.example", "tools.example.com:8443", "gw.example:*"}
    assert listen.origins == {"https://chat.example", "https://tools.example.com:8443"}
    everywhere = Settings.model_validate({"listen": {"address": "0.0.0.0:1"}}).listen
    assert (everywhere.hosts, everywhere.origins) == (frozenset(), frozenset())


def test_original_names_are_for_one_server() -> None:
    servers = {"a": {"command": "x"}, "b": {"command": "y"}}
    with pytest.raises(ValidationError, match="works with one server"):
        Settings.model_validate({"servers": servers, "expose": {"transparent": True}})
    servers["b"]["disabled"] = "true"
    assert Settings.model_validate({"servers": servers, "expose": {"transparent": True}})

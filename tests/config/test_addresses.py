import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from gateway.config.addresses import endpoint, is_loopback, is_private_url, split_url
from gateway.config.settings import ListenSettings


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("127.0.0.1:8700", "127.0.0.1", 8700),
        ("[::1]:0", "::1", 0),
        ("gw.example:80", "gw.example", 80),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, host: str, port: int) -> None:
    assert (endpoint(address).host, endpoint(address).port) == (host, port)


@pytest.mark.parametrize(
    "address", ["8700", ":8700", "::1:8700", "h:99999", "h:", "http://h:1", "h:1/x", "h:１"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(PydanticCustomError, match="is not an address"):
        endpoint(address)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]
)
def test_loopback_hosts_are_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "gateway",
        "",
    ],
)
def test_every_other_host_is_not(host: str) -> None:
    assert not is_loopback(host)


def test_plain_http_is_private_on_this_machine_only() -> None:
    assert is_private_url("https://h.example/")
    assert is_private_url("http://[::1]:80/")
    assert not is_private_url("http://h.example/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h.example/mcp",
        "ftp://h",
        "https://",
        "https://h:0/",
        "https://h:x/",
        "https://[::1/",
        "javascript:x",
        "https://h/a b",
        "https://h/\x7f",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(PydanticCustomError):
        split_url(url)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"allowed_hosts": ["https://h.example"]}, "is not a host"),
        ({"allowed_hosts": ["h.example/x"]}, "is not a host"),
        ({"allowed_hosts": ["*"]}, "is not a host"),
        ({"allowed_origins": ["h.example"]}, "is not a URL"),
        ({"allowed_origins": ["https://h.example/"]}, "is not an origin"),
        ({"allowed_origins": ["*"]}, "is not a URL"),
        ({"allowed_origins": ["null"]}, "is not a URL"),
        ({"public_url": "https://h.example/mcp?x=1"}, "has a `?query`"),
    ],
)
def test_hosts_and_origins_are_exact(setting: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ListenSettings.model_validate(setting)
    assert said in str(caught.value)


def test_hosts_and_origins_compare_in_lower_case() -> None:
    listen = ListenSettings.model_validate(
        {"allowed_hosts": ["H.Example:80", "[::1]:80"], "allowed_origins": ["https://H.Example"]}
    )
    assert listen.allowed_hosts == {"h.example:80", "[::1]:80"}
    assert listen.allowed_origins == {"https://h.example"}

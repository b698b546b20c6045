import pytest

from gateway.policy.functions import email_domain, ip_in, ip_in_any, path_under, url_host


@pytest.mark.parametrize(
    ("address", "domain"),
    [("a@example.org", "example.org"), ("a.b+c@Mail.EXAMPLE.org", "mail.example.org")],
)
def test_the_domain_of_a_plain_address(address: str, domain: str) -> None:
    assert email_domain(address) == domain


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "@x.org",
        "a@",
        "a@b@acme.example",
        "a@evil.org,b@acme.example",
        "a@evil.org\nBcc: b@acme.example",
        "Eve <eve@evil.org> @acme.example",
        '"a@evil.org"@acme.example',
        "a@acme.example.",
        "a@аcme.example",  # a Cyrillic letter
        "a@acme..example",
        "a@[10.0.0.1]",
        " a@acme.example",
    ],
)
def test_an_address_that_two_readers_read_in_two_ways_is_an_error(address: str) -> None:
    with pytest.raises(ValueError, match="plain e-mail"):
        email_domain(address)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.ORG:8443/a?b#c", "example.org"),
        ("https://good.example@evil.org/", "evil.org"),
        ("https://example.org./", "example.org"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert url_host(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "//example.org/a",
        "/path",
        "https://",
        "https://evil.org\\@good.example/",
        "https://good.example\t.evil.org",
        " https://good.example",
        "https://good.example\n",
        "https://%65vil.org/",
        "https://gооd.example/",
        "mailto:a@x.org",
        "https://[::1",
    ],
)
def test_a_url_that_two_readers_read_in_two_ways_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|host|IPv6|NFKC"):
        url_host(url)


@pytest.mark.parametrize(
    "path", ["/srv/data", "/srv/data/", "/srv/data/a", "/srv/x/../data/a", "//srv//data/./a"]
)
def test_paths_at_or_below_the_root(path: str) -> None:
    assert path_under(path, "/srv/data")
    assert path_under(path, "/srv/data/")
    assert path_under(path, "/")


@pytest.mark.parametrize(
    "path",
    [
        "/srv/database",
        "/srv/data/../secrets",
        "/srv/data/../../etc/passwd",
        "/srv",
        "srv/data/a",
        "../srv/data",
        "~/srv/data",
        "",
    ],
)
def test_paths_outside_of_the_root(path: str) -> None:
    assert not path_under(path, "/srv/data")


def test_relative_paths_stay_below_a_relative_root() -> None:
    assert path_under("docs/../docs/a", "docs")
    assert path_under("a", ".")
    assert not path_under("../a", ".")
    assert not path_under("docs/../../a", "docs")


@pytest.mark.parametrize("path", ["/srv/data/\x00", "\\srv", "/srv/data/%2e%2E/x", "/srv/data%2Fx"])
def test_a_path_with_a_hidden_separator_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        path_under(path, "/srv/data")


def test_addresses_in_networks() -> None:
    assert ip_in("10.1.2.3", "10.0.0.0/8")
    assert ip_in("::ffff:10.1.2.3", "10.0.0.0/8")
    assert ip_in("2001:db8::5", "2001:db8::/32")
    assert not ip_in("11.1.2.3", "10.0.0.0/8")
    assert not ip_in("::1", "10.0.0.0/8")


@pytest.mark.parametrize("address", ["10.1", "010.1.2.3", "0x0a010203", "10.1.2.3 ", "localhost"])
def test_an_address_in_an_unusual_form_is_an_error(address: str) -> None:
    with pytest.raises(ValueError, match="does not appear"):
        ip_in(address, "10.0.0.0/8")


def test_one_bad_network_fails_the_list_even_behind_a_match() -> None:
    assert ip_in_any("10.1.2.3", ["192.0.2.0/24", "10.0.0.0/8"])
    with pytest.raises(ValueError, match="nope"):
        ip_in_any("10.1.2.3", ["10.0.0.0/8", "nope"])

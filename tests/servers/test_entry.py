"""Entries."""

from gateway.servers.entry import Entry


def test_the_secrets_of_an_entry_are_known_and_never_shown() -> None:
    entry = Entry(
        name="a",
        url="https://a.example/mcp",
        env={"TOKEN": "long-token", "DEBUG": "1"},
        headers={"Authorization": "Bearer header-token"},
    )
    assert entry.secrets[0] == "Bearer header-token"
    assert {"header-token", "long-token"} <= set(entry.secrets)
    assert "1" not in entry.secrets
    assert "token" not in repr(entry)


def test_the_url_says_how_a_server_is_reached() -> None:
    assert Entry(name="a", url="http://x").is_http
    assert not Entry(name="a", command="x").is_http

"""What of a client's values is a secret."""

import pytest

from gateway.clients import secrets


def cut(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """The text with a mark in the place of each secret."""
    for start, end in reversed(spans):
        text = f"{text[:start]}*{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("API_KEY", "x", "*"),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "short", "*"),
        ("LOG_LEVEL", "debug", "debug"),
        ("PORT", "8080", "8080"),
        ("HOME_DIR", "/home/ana/work", "/home/ana/work"),
        ("EMPTY_KEY", "", ""),
        ("DATABASE_URL", "postgres://ana:hunter2@db/x", "postgres://ana:*@db/x"),
        ("ANYTHING", "ghp_" + "a1B2" * 9, "*"),
        ("ANYTHING", "a8f5f167f44f4964e6c998dee827110c", "*"),
        ("SENTENCE", "read the docs", "read the docs"),
        ("DEPLOY_WEBHOOK", "https://h/abc", "*"),
        ("WALLET_PIN", "1234", "*"),
        ("PINNED", "yes", "yes"),
        ("OPTS", "--level 3 --db-password abc -v", "--level 3 --db-password * -v"),
        ("STORE", "AccountName=a;AccountKey=abc;Tls=1", "AccountName=a;AccountKey=*;Tls=1"),
    ],
)
def test_of_an_environment(name: str, text: str, left: str) -> None:
    assert cut(text, secrets.in_variable(name, text)) == left


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("--token", "abc", "*"),
        ("--token", "--verbose", "--verbose"),
        ("-y", "@scope/server-github", "@scope/server-github"),
        ("", "--api-key=abc", "--api-key=*"),
        ("-e", "GITHUB_TOKEN=abc", "GITHUB_TOKEN=*"),
        ("-e", "GITHUB_TOKEN", "GITHUB_TOKEN"),
        ("--header", "Authorization: Bearer abc", "Authorization: Bearer *"),
        ("--header", "X-Api-Key:abc", "X-Api-Key:*"),
        ("", "https://u:p4ss@h/x?api_key=abc&q=1", "https://u:*@h/x?api_key=*&q=1"),
        ("", "/srv/files/2026/notes-and-more-notes", "/srv/files/2026/notes-and-more-notes"),
        ("", "mcp-server-filesystem", "mcp-server-filesystem"),
        ("", "sk-a1b2c3d4e5f6a7b8c9d0e1f2", "*"),
        ("--config", "config.json", "config.json"),
        ("--token", "-abc1", "*"),
        ("--token", "--level=1", "--level=1"),
        ("-u", "ana:abc", "ana:*"),
        ("--user", "1000:1000", "1000:1000"),
        ("-u", "https://h", "https://h"),
        ("--pwd", "abc", "*"),
        ("--pwd", "/srv/work", "/srv/work"),
        ("-c", "cd x && run --token abc | tee", "cd x && run --token * | tee"),
    ],
)
def test_of_arguments(before: str, text: str, left: str) -> None:
    assert cut(text, secrets.in_argument(text, before)[0]) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("https://x.example/s/a8f5f167f44f4964e6c9/mcp", "https://x.example/s/*/mcp"),
        ("https://x.example/mcp?token=abc&b=t", "https://x.example/mcp?token=*&b=t"),
        ("https://x.example/mcp?page=2", "https://x.example/mcp?page=2"),
        ("http://[", "http://["),
        ("https://x/mcp?api%5Fkey=abc&b=t", "https://x/mcp?api%5Fkey=*&b=t"),
        ("https://x/mcp?config=eyJhcGlLZXkiOiJodW50ZXIyIn0%3D&b=t", "https://x/mcp?config=*&b=t"),
        ("https://x/mcp?c=%7B%22apiKey%22%3A%22hunter2%22%7D", "https://x/mcp?c=*"),
        ("https://x/mcp?q=a%20b", "https://x/mcp?q=a%20b"),
        ("https://x/mcp#token=abc", "https://x/mcp#token=*"),
    ],
)
def test_of_urls(text: str, left: str) -> None:
    assert cut(text, secrets.in_url(text)) == left


def test_every_value_of_a_header_is_one_without_its_scheme() -> None:
    assert cut("Bearer abc", secrets.in_header("Bearer abc")) == "Bearer *"
    assert cut("abc", secrets.in_header("abc")) == "*"
    assert not secrets.in_header(" ")


def test_spans_that_touch_are_one() -> None:
    assert secrets.merged([(3, 5), (0, 2), (4, 9), (9, 9)]) == ((0, 2), (3, 9))

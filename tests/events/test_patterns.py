import pytest

from gateway.events.patterns import PATTERNS, names_secret
from gateway.events.redact import RESULTS, Redactor

REDACTOR = Redactor(lambda _: b"key")

# Made up, in the forms that the issuers document.
SECRETS = (
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "Ab1-" * 8 + "Ab1",
    "ya29.a0AfH6SMBxxxxxxxxxxxxxxx",
    "GOCSPX-abcdefghijklmnopqrst",
    "AccountKey=" + "Ab+/" * 20 + "==",
    "dop_v1_" + "0a" * 32,
    "hvs." + "CAESIJ" * 5,
    "dapi" + "0a" * 16,
    "ghp_" + "aB3d" * 9,
    "github_pat_11ABCDEFG0123456789_abc",
    "glpat-abcdefGHIJ0123456789",
    "ATBBabcdefghijklmnopqrstuvwxyz",
    "npm_" + "aB3d" * 9,
    "pypi-" + "AgEIcHlwaS5vcmc" * 4,
    "dckr_pat_" + "aB3d" * 6,
    "xoxb-1234567890-abcdefghij",
    "xapp-1-A0123-456-abcdef",
    "https://hooks.slack.com/services/T0000/B0000/abcdefghijkl",
    "https://discord.com/api/webhooks/123456/" + "aB3d" * 10,
    "123456789:AA" + "Hd" * 16 + "x",
    "sk-proj-" + "aB3d" * 8,
    "hf_" + "aBcD" * 8,
    "sk_live_" + "aB3d" * 6,
    "whsec_" + "aB3d" * 8,
    "SG." + "aB3d" * 5 + "." + "aB3d" * 8,
    "shpat_" + "0a" * 16,
    "glsa_" + "aB3d" * 8,
    "wb_sam-key_" + "aB3d" * 8,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg",
    "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7,
    "Authorization: Bearer abc.def-123",
    "postgres://app:s3cr@db:5432/x",
    "https://0123456789abcdef@host.example/x",
    "https://h/cb?x=1&access_token=abc123",
)
LOOSE = (
    "Basic dXNlcjpwYXNz",
    "Cookie: sid=MARKA; other=MARKB",
    'failed: {"accesstoken":"MARK8"} at',
    "DB_PASSWORD=hunter2",
    "bad token MARK7",
    "the password is hunter2",
)
HARMLESS = (
    "the bearer of this letter",
    "basic understanding of tokens",
    "your token expired, ask for another token",
    "see https://example.com:8080/path?page_token=&x=1",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "order 1234567890123456",
    "DE00 1234 5678 9012 3456 78 is no account",
    "2026-11-29T09:00:00Z +49 30 123456",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_of_a_known_form_leave_neither_with_results_nor_with_events(secret: str) -> None:
    """case: OBS-01"""
    for text in (secret, f"x {secret} y", f"\n{secret}\n"):
        assert secret not in REDACTOR.text(text, profile=RESULTS)
        assert secret not in REDACTOR.text(text)


@pytest.mark.parametrize("text", LOOSE)
def test_what_only_looks_like_a_secret_is_cut_from_what_is_kept(text: str) -> None:
    """case: OBS-01"""
    kept = REDACTOR.text(text)
    assert "[redacted" in kept
    for part in ("MARK", "hunter2", "dXNlcjpwYXNz"):
        assert part not in kept
    assert REDACTOR.text(text, profile=RESULTS) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_numbers_and_addresses_stay(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize("text", ["sam@example.com", "DE89370400440532013000", "4111111111111111"])
def test_personal_data_is_cut_from_what_is_kept_and_stays_in_results(text: str) -> None:
    assert text not in REDACTOR.text(f"to {text} now")
    assert REDACTOR.text(text, profile=RESULTS) == text


def test_an_account_number_ends_where_its_digits_do() -> None:
    text = REDACTOR.text("pay DE89 3704 0044 0532 0130 00 from 1234 to me")
    assert text == "pay [redacted:iban] from 1234 to me"


@pytest.mark.parametrize("regex", [pattern.regex for pattern in PATTERNS])
def test_no_pattern_matches_what_stands_for_it(regex: str) -> None:
    names = {pattern.name for pattern in PATTERNS if pattern.regex == regex}
    for name in names:
        marker = f"x [redacted:{name}] y"
        assert REDACTOR.text(marker) == marker


@pytest.mark.parametrize(
    "key", ["page_token", "tokens", "next_token", "author", "secretary", "key"]
)
def test_keys_that_only_sound_like_secrets_do_not_count(key: str) -> None:
    assert not names_secret(key)


def test_hostile_text_takes_time_in_proportion_to_its_length() -> None:
    hostile = "-----BEGIN PRIVATE KEY-----" * 5_000 + "postgres://a:" * 10_000
    REDACTOR.text(hostile[:1_000], profile=RESULTS)
    assert "BEGIN" not in REDACTOR.text(hostile, profile=RESULTS)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_in_a_name_that_it_is_joined_to(secret: str) -> None:
    hidden = REDACTOR.text(f"alpha__{secret}")
    assert hidden.startswith("alpha_")
    assert "[redacted:" in hidden
    assert hidden != f"alpha__{secret}"

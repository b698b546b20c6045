import base64
import string
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import jsontext
from gateway.events.redact import EVENTS, RESULTS, Redacted, Redactor
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity

REDACTOR = Redactor(lambda tenant: f"key of {tenant}".encode())
SECRET: JsonObject = {"$redacted": "secret"}

# Texts that are close to what the patterns look for, so that properties meet the hard cases.
FRAGMENTS = (
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1" * 20,
    "eyJhbGciOi.eyJzdWIiOi.abc",
    "Bearer abc123def",
    "Authorization: Basic dXNlcjpwYXNz",
    "Cookie: a=b; c=d",
    "password=hunter2",
    "bad token MARK7",
    "https://u:pw1@h/mcp?token=abc1&x=1",
    "sam@example.com",
    "DE89 3704 0044 0532 0130 00",
    "4111 1111 1111 1111",
    '{"password": "x"}',
    "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    "[redacted:secret]",
    "[redacted:",
    "token",
    "secret",
    ":",
    "=",
    " ",
    "\n",
    '"',
)
texts = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.text(string.printable, max_size=6)), max_size=6
).map("".join)
keys = st.one_of(
    texts, st.sampled_from(("password", "api_key", "note", "$redacted", "hmac", "len"))
)
values: st.SearchStrategy[Json] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.just(4111111111111111), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)


def redact(value: Json, **options: object) -> Redacted:
    return REDACTOR.value(value, tenant="acme", **options)  # pyright: ignore[reportArgumentType] - options of one test


@pytest.mark.parametrize("profile", [EVENTS, RESULTS], ids=lambda profile: profile.name)
@given(value=values)
@settings(max_examples=2 * settings().max_examples)
def test_redacting_twice_changes_nothing(value: Json, profile: object) -> None:
    once = redact(value, profile=profile).value
    assert redact(once, profile=profile) == Redacted(value=once)


@given(value=values)
@settings(max_examples=2 * settings().max_examples)
def test_a_count_of_nothing_means_that_nothing_changed(value: Json) -> None:
    redacted = redact(value)
    assert (redacted.count == 0) == (redacted.value == value)


@given(value=values)
@settings(max_examples=2 * settings().max_examples)
def test_json_inside_a_text_is_as_safe_as_the_value_itself(value: Json) -> None:
    written = jsontext.dump([value]).decode()
    inside = REDACTOR.text(written, tenant="acme")
    assert not redact(jsontext.parse(inside)).count


def test_ordinary_arguments_pass_as_the_same_object() -> None:
    arguments: Json = {
        "customer_id": "cus_8123",
        "amount": 129.5,
        "tags": ["a"],
        "page_token": "n2",
    }
    redacted = redact(arguments)
    assert redacted.value is arguments
    assert redacted.count == 0


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "Pass_Word",
        "apiKey",
        "API-KEY",
        "x-api-key",
        "Set-Cookie",
        "dbPassword",
        "token",
    ],
)
def test_keys_that_name_secrets_hide_their_values_however_they_are_written(key: str) -> None:
    """case: OBS-01"""
    redacted = redact({"a": [{key: "MARK4"}]})
    assert redacted.value == {"a": [{key: SECRET}]}
    assert redacted.erased == (f"/a/0/{key}",)


def test_a_flag_or_a_gap_under_a_telling_key_stays() -> None:
    value: Json = {"password": None, "token": False, "secret": ""}
    assert redact(value).value == value


def test_a_whole_structure_under_a_telling_key_goes() -> None:
    assert redact({"credentials": {"user": "u", "pin": 1}}).value == {"credentials": SECRET}


def test_a_contract_hides_exactly_what_it_names() -> None:
    tags = {"/iban": Sensitivity.PERSONAL, "/people/*/pin": Sensitivity.SECRET}
    value: Json = {"iban": "x1", "people": [{"pin": 1, "n": "a"}, {"n": "b"}], "gone": None}
    redacted = redact(value, tags=tags)
    assert redacted.value == {
        "iban": {
            "$redacted": "personal",
            "hmac": redact("x1", tags={"": Sensitivity.PERSONAL}).value["hmac"],  # pyright: ignore
            "len": 2,
        },
        "people": [{"pin": SECRET, "n": "a"}, {"n": "b"}],
        "gone": None,
    }
    assert redacted.masked == ("/iban",)
    assert redacted.erased == ("/people/0/pin",)
    assert redact(redacted.value, tags=tags).value == redacted.value


def test_a_digest_is_the_same_within_a_tenant_and_another_in_the_next() -> None:
    spaced = REDACTOR.value("DE89 3704 0044 0532 0130 00", tenant="acme").value
    compact = REDACTOR.value("DE89370400440532013000", tenant="acme").value
    other = REDACTOR.value("DE89370400440532013000", tenant="globex").value
    assert isinstance(spaced, dict)
    assert isinstance(compact, dict)
    assert isinstance(other, dict)
    assert spaced["hmac"] == compact["hmac"] != other["hmac"]


def test_a_marker_that_a_caller_forged_hides_nothing() -> None:
    forged: Json = {"$redacted": "personal", "hmac": "AKIAIOSFODNN7EXAMPLE", "len": 3}
    assert "AKIA" not in str(redact(forged).value)
    extra: Json = {"$redacted": "secret", "note": "AKIAIOSFODNN7EXAMPLE"}
    assert "AKIA" not in str(redact(extra).value)


def test_keys_of_free_maps_are_redacted_without_losing_entries() -> None:
    redacted = redact({"sam@example.com": 1, "kim@example.com": 2}).value
    assert redacted == {"[redacted:email]": 1, "2#[redacted:email]": 2}


def test_json_in_a_text_is_redacted_inside_and_stays_json() -> None:
    """case: OBS-01"""
    text = REDACTOR.text('{"accesstoken":"MARK8","expires_in":3600}')
    assert text == '{"accesstoken":{"$redacted":"secret"},"expires_in":3600}'


def test_json_in_json_in_a_text_is_redacted_too() -> None:
    inner = jsontext.dump({"password": "MARK3"}).decode()
    text = jsontext.dump({"body": inner}).decode()
    assert "MARK3" not in REDACTOR.text(text)
    assert "MARK3" not in str(redact({"content": [{"type": "text", "text": text}]}).value)


def test_of_two_equal_keys_in_a_text_none_slips_through() -> None:
    text = '{"note":"AKIAIOSFODNN7EXAMPLE","note":"x","password":"p1","password":"p2"}'
    redacted = REDACTOR.text(text, profile=RESULTS)
    assert "AKIA" not in redacted
    assert "p1" not in redacted


def test_escapes_in_json_text_hide_nothing() -> None:
    text = '{"\\u0070assword":"MARK3","u":"https:\\/\\/a:MARK5@h"}'
    redacted = REDACTOR.text(text)
    assert "MARK3" not in redacted
    assert "MARK5" not in redacted


def test_results_keep_types_personal_data_and_prose() -> None:
    value: Json = {"mail": "sam@example.com", "n": "password: see wiki", "token": "t1"}
    assert redact(value, profile=RESULTS).value == {
        "mail": "sam@example.com",
        "n": "password: see wiki",
        "token": "[redacted:secret]",
    }


def test_results_lose_exact_forms_of_secrets() -> None:
    text = "key AKIAIOSFODNN7EXAMPLE and postgres://app:s3cr@db/x"
    assert REDACTOR.text(text, profile=RESULTS) == (
        "key [redacted:cloud_key] and postgres://app:[redacted:url_password]@db/x"
    )


def test_a_long_text_keeps_its_head_and_says_how_much_is_gone() -> None:
    redacted = redact({"body": "abc " * 10_000})
    assert isinstance(redacted.value, dict)
    body = redacted.value["body"]
    assert isinstance(body, str)
    assert len(body) <= EVENTS.max_text
    assert body.endswith("more characters]")
    assert redact(redacted.value).value == redacted.value


def test_a_secret_at_the_cut_of_a_long_text_is_gone() -> None:
    for offset in range(8_140, 8_200):
        text = "x " * offset + "ghp_" + "a1" * 20 + " y" * 9_000
        assert "a1" not in str(redact(text).value)


def test_what_is_nested_too_deeply_or_too_large_is_dropped() -> None:
    deep: Json = "AKIAIOSFODNN7EXAMPLE"
    for _ in range(60):
        deep = [deep]
    assert "depth" in str(redact(deep).value)
    many: Json = [[i] for i in range(20_000)]
    assert redact(many).value == {"$redacted": "size"}


KNOWN = ["Bearer MARK1-värde/+", "MARK2 secret", "https://u:MARK5x@h/mcp?token=MARK6y"]


@pytest.mark.parametrize(
    "text",
    [
        "MARK1-värde/+",
        quote("MARK1-värde/+"),
        "MARK1-v%c3%a4rde%2f%2b",
        base64.b64encode("user:MARK1-värde/+".encode()).decode(),
        base64.b64encode("x:MARK1-värde/+".encode()).decode(),
        base64.urlsafe_b64encode("ab:MARK1-värde/+ c".encode()).decode(),
        jsontext.dump(["MARK1-värde/+"]).decode(),
        "a MARK2 secret b",
        "MARK5x",
        "MARK6y",
    ],
)
@pytest.mark.parametrize("profile", [EVENTS, RESULTS], ids=lambda profile: profile.name)
def test_known_secrets_are_hidden_in_every_usual_form(text: str, profile: object) -> None:
    """case: OBS-01"""
    knowing = REDACTOR.with_secrets(KNOWN)
    redacted = knowing.text(f"<{text}>", profile=profile)  # pyright: ignore[reportArgumentType]
    assert text not in redacted
    assert "[redacted:secret]" in redacted
    assert text in REDACTOR.text(f"<{text}>", profile=RESULTS)


def test_half_a_surrogate_pair_is_no_way_around() -> None:
    assert "hunter2" not in REDACTOR.text("\ud800 password=hunter2")


def test_a_large_text_without_secrets_is_read_in_one_pass() -> None:
    text = "lorem ipsum dolor sit amet " * 40_000
    assert REDACTOR.text(text, profile=RESULTS) is text


def test_a_digest_is_keyed_by_tenant_and_the_same_for_the_same_value() -> None:
    made = REDACTOR.digest({"b": 1, "a": 2}, tenant="acme")
    assert made == REDACTOR.digest({"a": 2, "b": 1}, tenant="acme")
    assert made != REDACTOR.digest({"a": 2, "b": 1}, tenant="globex")
    assert made.startswith("hmac-sha256:")
    assert REDACTOR.digest("\ud800", tenant="acme") == ""


def test_a_number_that_tells_keys_apart_is_not_taken_for_a_part_of_a_secret() -> None:
    cookies: JsonObject = {"Cookie: a=b": None, "Cookie: a=c": None}
    once = redact(cookies).value
    assert isinstance(once, dict)
    assert len(once) == 2
    assert redact(once) == Redacted(value=once)


def test_what_stands_under_a_telling_key_is_hidden_where_it_stands_once_more() -> None:
    sent: JsonObject = {
        "login": {"password": "hunter-two", "pin": "b"},
        "again": "hunter-two",
        "note": "log in with hunter-two, or aHVudGVyLXR3bw==",
        "inside": '{"hint": "hunter-two", "n": 1}',
        "hunter-two": 1,
        "other": "hunter",
    }
    found = redact(sent)
    assert "hunter-two" not in str(found.value)
    assert found.value == {
        "login": {"password": SECRET, "pin": "b"},
        "again": SECRET,
        "note": "log in with [redacted:secret], or [redacted:secret]w==",
        "inside": '{"hint":{"$redacted":"secret"},"n":1}',
        "[redacted:secret]": 1,
        "other": "hunter",
    }
    assert {"/login/password", "/again"} <= {*found.erased}
    assert {"/note", "/inside"} <= {*found.masked}
    assert redact(found.value).value == found.value


def test_numbers_under_a_telling_key_are_hidden_once_more_and_short_words_are_not() -> None:
    found = redact(
        {"password": 4711_4712, "n": 4711_4712, "m": 47, "token": "page", "kind": "page"}
    )
    assert found.value == {
        **{"password": SECRET, "n": SECRET, "m": 47},
        **{"token": SECRET, "kind": "page"},
    }


def test_more_secrets_than_can_be_looked_for_leave_nothing() -> None:
    rows: Json = [{"password": f"secret-{n}", "note": f"secret-{n}"} for n in range(400)]
    found = redact({"rows": rows})
    assert (found.value, found.erased) == ({"$redacted": "size"}, ("",))


def test_approvers_see_what_a_model_says_twice() -> None:
    sent: JsonObject = {"to": "eve@example.com", "password": "eve@example.com"}
    shown = redact(sent, profile=RESULTS).value
    assert shown == {"to": "eve@example.com", "password": "[redacted:secret]"}

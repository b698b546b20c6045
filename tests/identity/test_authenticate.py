from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import anyio
import pytest

from gateway.config.identity import IdentitySettings
from gateway.identity.apikeys import new_api_key
from gateway.identity.authenticate import Authenticator
from gateway.identity.challenge import Challenge
from gateway.identity.shown import Shown
from gateway.types.calls import AuthMethod, Principal
from tests.helpers.issuer import (
    AUDIENCE,
    NOW,
    HandClock,
    Published,
    bearer,
    good_claims,
    key_set,
    public_jwk,
    publishing,
    rsa_key,
    sign,
)

ISSUER = "https://login.example.com/"
FIRST, SECOND = rsa_key(), rsa_key()
KEY = new_api_key("ci", user="builds", tenant="acme")
METADATA = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"


@dataclass(frozen=True, kw_only=True)
class Gate:
    authenticator: Authenticator
    published: Published
    clock: HandClock


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    clock = HandClock()
    async with publishing(key_set(public_jwk(FIRST, "k1"))) as (url, published):
        settings = IdentitySettings.model_validate(
            {
                "api_keys": [
                    {
                        "id": "ci",
                        "hash": hash_of(KEY.config_line),
                        "user": "builds",
                        "tenant": "acme",
                    }
                ],
                "jwt": [
                    {
                        "issuer": ISSUER,
                        "audience": AUDIENCE,
                        "jwks_url": url,
                        "claims": {"tenant": "/org/id"},
                        "required_scopes": ["tools:use"],
                    }
                ],
            }
        )
        authenticator = Authenticator(settings, resource=AUDIENCE, clock=clock)
        yield Gate(authenticator=authenticator, published=published, clock=clock)


def hash_of(config_line: str) -> str:
    return config_line.partition('hash: "')[2].partition('"')[0]


async def who(gate: Gate, headers: list[tuple[bytes, bytes]]) -> Principal:
    answer = await gate.authenticator.authenticate(headers)
    assert isinstance(answer, Principal), answer
    return answer


async def challenge(gate: Gate, headers: list[tuple[bytes, bytes]]) -> Challenge:
    answer = await gate.authenticator.authenticate(headers)
    assert isinstance(answer, Challenge), answer
    return answer


def token(**changes: object) -> str:
    return sign(good_claims(ISSUER, **changes), FIRST)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
async def test_the_scheme_is_read_in_any_case(gate: Gate, scheme: str) -> None:
    """case: AUT-05"""
    assert (await who(gate, bearer(token(), scheme))).user == "ann"
    assert (await who(gate, bearer(KEY.key, scheme))).method is AuthMethod.API_KEY


async def test_no_credential_gets_a_challenge_without_an_error_code(gate: Gate) -> None:
    """case: AUT-05"""
    answer = await challenge(gate, [(b"host", b"tools.example.com")])
    assert answer.status == 401
    assert answer.www_authenticate() == (
        f'Bearer scope="tools:use", resource_metadata="{METADATA}"'
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exp": NOW.timestamp() - 100}, "the token has expired"),
        (
            {"aud": "https://other.example"},
            "the token is not for this gateway: its audience is another",
        ),
    ],
)
async def test_a_bad_token_gets_a_challenge_that_says_why(
    gate: Gate, changes: dict[str, object], said: str
) -> None:
    """case: AUT-05"""
    answer = await challenge(gate, bearer(token(**changes)))
    assert answer.status == 401
    assert answer.www_authenticate() == (
        f'Bearer error="invalid_token", error_description="{said}", scope="tools:use", '
        f'resource_metadata="{METADATA}"'
    )


async def test_a_missing_scope_gets_403_and_the_scope(gate: Gate) -> None:
    """case: AUT-05"""
    answer = await challenge(gate, bearer(token(scope="crm:read")))
    assert (answer.status, answer.error, answer.scope) == (403, "insufficient_scope", "tools:use")
    assert METADATA in answer.www_authenticate()


async def test_identity_in_any_other_header_changes_nothing(gate: Gate) -> None:
    """case: AUT-03"""
    lies = [
        (b"x-tenant-id", b"t2"),
        (b"x-forwarded-email", b"root@t2.example"),
        (b"x-forwarded-user", b"root"),
        (b"x-api-key", KEY.key.encode()),
        (b"cookie", b"access_token=abc"),
    ]
    plain = await who(gate, bearer(token()))
    assert await who(gate, [*lies, *bearer(token())]) == plain
    assert plain.tenant == "acme"
    assert (await challenge(gate, lies)).status == 401


@pytest.mark.parametrize(
    "value",
    [
        b"Basic dXNlcjpwYXNz",
        b"Bearer",
        b"Bearer ",
        b"Bearer a b",
        b"Bearer caf\xe9",
        b"DPoP abc",
        b"",
    ],
)
async def test_other_schemes_and_forms_are_refused(gate: Gate, value: bytes) -> None:
    answer = await challenge(gate, [(b"Authorization", value)])
    assert (answer.status, answer.error) == (401, "invalid_token")


async def test_two_credentials_are_refused_whichever_is_good(gate: Gate) -> None:
    answer = await challenge(gate, [*bearer(token()), *bearer(KEY.key)])
    assert (answer.status, answer.error) == (400, "invalid_request")


async def test_a_verified_token_is_not_verified_again_within_a_minute(gate: Gate) -> None:
    first = await who(gate, bearer(token()))
    gate.published.body = key_set(public_jwk(SECOND, "k2"))
    gate.clock.move(59)
    assert await who(gate, bearer(token())) == first


async def test_a_withdrawn_key_stops_to_work_when_its_set_is_renewed(gate: Gate) -> None:
    await who(gate, bearer(token(exp=NOW.timestamp() + 9000)))
    gate.published.body = key_set(public_jwk(SECOND, "k2"))
    gate.clock.move(601)
    answer = await challenge(gate, bearer(token(exp=NOW.timestamp() + 9000)))
    assert "does not publish" in answer.description


async def test_a_remembered_token_ends_when_it_expires(gate: Gate) -> None:
    brief = token(exp=NOW.timestamp() + 10, iat=NOW.timestamp() - 200)
    await who(gate, bearer(brief))
    gate.clock.move(71)
    assert (await challenge(gate, bearer(brief))).description == "the token has expired"


async def test_rotation_is_followed_without_a_restart(gate: Gate) -> None:
    await who(gate, bearer(token()))
    gate.published.body = key_set(public_jwk(FIRST, "k1"), public_jwk(SECOND, "k2"))
    gate.clock.move(11)
    rotated = sign(good_claims(ISSUER), SECOND, kid="k2")
    assert (await who(gate, bearer(rotated))).user == "ann"


async def test_keys_that_can_not_be_had_are_503_and_shown_as_a_problem(gate: Gate) -> None:
    gate.published.status = 500
    answer = await challenge(gate, bearer(token()))
    assert (answer.status, answer.retry_after_s) == (503, 10.0)
    assert "error=" not in answer.www_authenticate()
    assert "HTTP 500" in gate.authenticator.problems()[0]
    assert (await who(gate, bearer(KEY.key))).user == "builds"


async def test_the_memory_for_tokens_is_bounded(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.identity.authenticate._CACHE_SIZE", 2)
    tokens = [token(jti=str(number)) for number in range(3)]
    for shown in tokens:
        await who(gate, bearer(shown))
    gate.published.body = key_set(public_jwk(SECOND, "k2"))
    gate.clock.move(30)
    assert (await who(gate, bearer(tokens[2]))).user == "ann"
    kept = vars(gate.authenticator)["_kept"]
    assert len(kept) == 2


def test_an_issuer_without_a_place_for_its_keys_is_a_fault() -> None:
    fields = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_file": "k.json", "tenant": "acme"}
    settings = IdentitySettings.model_validate({"jwt": [fields]})
    authenticator = Authenticator(settings, resource=AUDIENCE, clock=HandClock())
    assert authenticator.problems() == ()
    homeless = settings.jwt[0].model_copy(update={"jwks_file": None})
    with pytest.raises(ValueError, match="place for its keys"):
        Authenticator(
            settings.model_copy(update={"jwt": (homeless,)}), resource=AUDIENCE, clock=HandClock()
        )


async def test_no_credential_shows_up_in_what_the_authenticator_holds(gate: Gate) -> None:
    shown = token()
    await who(gate, bearer(shown))
    held = repr(vars(gate.authenticator))
    assert shown not in held
    assert shown.rpartition(".")[2] not in held


async def test_without_keys_and_issuers_the_local_actor_acts() -> None:
    settings = IdentitySettings.model_validate({"local": {"user": "ann", "tenant": "acme"}})
    authenticator = Authenticator(settings, resource=AUDIENCE, clock=HandClock())
    answer = await authenticator.authenticate([(b"x-tenant-id", b"globex")])
    assert isinstance(answer, Principal)
    assert (answer.user, answer.tenant, answer.method) == ("ann", "acme", AuthMethod.LOCAL)
    refused = await authenticator.authenticate(bearer(KEY.key))
    assert isinstance(refused, Challenge)
    assert "send no `Authorization` header" in refused.description


def test_the_metadata_names_issuers_and_no_more_scopes_than_every_call_needs() -> None:
    settings = IdentitySettings.model_validate(
        {
            "jwt": [
                {
                    "issuer": ISSUER,
                    "audience": AUDIENCE,
                    "jwks_url": "https://login.example.com/keys",
                    "tenant": "acme",
                    "required_scopes": ["tools:use"],
                }
            ]
        }
    )
    authenticator = Authenticator(settings, resource=AUDIENCE, clock=HandClock())
    assert authenticator.metadata() == {
        "resource": AUDIENCE,
        "resource_name": "Weighbridge",
        "bearer_methods_supported": ["header"],
        "authorization_servers": [ISSUER],
        "scopes_supported": ["tools:use"],
    }
    refused = authenticator.insufficient_scope(["b:write", "a:read"])
    assert (refused.status, refused.scope) == (403, "a:read b:write")


async def test_problems_with_keys_show_before_a_caller_meets_them_and_go_when_mended(
    gate: Gate,
) -> None:
    gate.published.status = 500
    assert "HTTP 500" in (await gate.authenticator.renew())[0]
    gate.published.status = 200
    gate.clock.move(11)
    assert await gate.authenticator.renew() == ()
    asked = gate.published.requests
    assert await gate.authenticator.renew() == ()
    assert gate.published.requests == asked  # fresh keys are not fetched again


async def test_keys_are_looked_after_for_as_long_as_there_are_issuers(gate: Gate) -> None:
    with anyio.move_on_after(5) as bound:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gate.authenticator.keep_keys, 0)
            while not gate.published.requests:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert not bound.cancelled_caught
    nobody = Authenticator(IdentitySettings(), resource=AUDIENCE, clock=HandClock())
    await nobody.keep_keys()  # ends by itself: there is nothing to look after


async def test_what_is_said_at_once_is_what_is_said_in_full(gate: Gate) -> None:
    shown: list[list[tuple[bytes, bytes]]] = [
        [],
        bearer(KEY.key),
        bearer(KEY.key[:-1] + ("0" if KEY.key[-1] != "0" else "1")),
        bearer("wb_other_" + "0" * 64),
        bearer("wba_ci_" + "0" * 64),
        bearer(token()),
        bearer(token(exp=NOW.timestamp() - 100)),
        bearer("", "Bearer"),
        bearer("a b"),
        [(b"authorization", b" \t")],
        [(b"authorization", b"Basic YTpi")],
        [(b"x-api-key", KEY.key.encode())],
    ]
    for headers in shown:
        at_once = gate.authenticator.at_once(dict(headers))
        answer = await gate.authenticator.authenticate(headers)
        assert at_once is None or at_once == answer, headers
        again = Shown()
        for _ in range(2):
            assert gate.authenticator.at_once(dict(headers), again) in (None, answer), headers


async def test_a_token_is_known_at_once_when_it_was_verified_and_for_as_long(gate: Gate) -> None:
    headers = bearer(token(exp=NOW.timestamp() + 30))
    assert gate.authenticator.at_once(dict(headers)) is None
    principal = await who(gate, headers)
    assert gate.authenticator.at_once(dict(headers)) is principal
    gate.clock.move(31)
    assert gate.authenticator.at_once(dict(headers)) is None


async def test_a_credential_that_is_shown_again_is_asked_for_anew(gate: Gate) -> None:
    again, key, bearing = Shown(), dict(bearer(KEY.key)), dict(bearer(token()))
    found = [gate.authenticator.at_once(key, again) for _ in range(2)]
    assert found == [await who(gate, bearer(KEY.key))] * 2
    assert gate.authenticator.at_once(bearing, again) is None  # another one, to be verified
    principal = await who(gate, [*bearing.items()])
    assert gate.authenticator.at_once(bearing, again) is principal
    assert gate.authenticator.at_once({}, again) == gate.authenticator.at_once({})
    assert gate.authenticator.at_once(bearing, again) is principal
    gate.clock.move(10_000_000)
    assert gate.authenticator.at_once(bearing, again) is None
    for wrong in (b"Basic YTpi", b"Bearer wb_other_" + b"0" * 64):
        refused = gate.authenticator.at_once({b"authorization": wrong}, again)
        assert isinstance(refused, Challenge)
        assert gate.authenticator.at_once({b"authorization": wrong}, again) == refused
    assert KEY.key not in repr((again.by, gate.authenticator.at_once(key, again), again.by))


def test_a_key_that_has_expired_is_refused_however_often_it_was_shown() -> None:
    clock, again = HandClock(), Shown()
    entry = {**KEY.entry, "expires": (NOW + timedelta(seconds=30)).isoformat()}
    settings = IdentitySettings.model_validate({"api_keys": [entry]})
    authenticator = Authenticator(settings, resource=AUDIENCE, clock=clock)
    headers = dict(bearer(KEY.key))
    assert isinstance(authenticator.at_once(headers, again), Principal)
    clock.move(31)
    assert isinstance(authenticator.at_once(headers, again), Challenge)


def test_nobody_needs_a_credential_where_none_is_set_up_and_none_is_taken() -> None:
    authenticator = Authenticator(IdentitySettings(), resource=AUDIENCE, clock=HandClock())
    found = authenticator.at_once({b"x-tenant-id": b"globex"})
    assert isinstance(found, Principal)
    assert found.method is AuthMethod.LOCAL
    refused = authenticator.at_once(dict(bearer(KEY.key)))
    assert isinstance(refused, Challenge)
    assert refused.status == 401

"""The way to an OpenID provider and back, and what of its answers is believed."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gateway.config.addresses import is_private_url
from gateway.config.admin import OidcSettings
from gateway.identity.challenge import Rejected
from gateway.identity.provider import Attempt, Provider, ProviderUnavailable
from gateway.types.calls import Principal
from tests.helpers.issuer import HandClock
from tests.helpers.provider import CLIENT, OTHER_KEY, SECRET, FakeProvider, providing

CALLBACK = "http://127.0.0.1:8701/login/callback"
ATTEMPT = Attempt(state="the-state", nonce="the-nonce", verifier="v" * 43)


def a_provider(fake: FakeProvider, **keys: Any) -> Provider:
    entry = OidcSettings.model_validate(
        {
            "issuer": fake.issuer,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "claims": {"tenant": "org"},
            "tenants": ["acme"],
            **keys,
        }
    )
    return Provider(entry, clock=fake.clock, is_trusted=is_private_url)


async def entering(fake: FakeProvider, provider: Provider, **changes: str) -> Principal:
    address = await provider.address(ATTEMPT, redirect_uri=CALLBACK)
    given = {name: values[0] for name, values in parse_qs(fake.log_in(address)).items()}
    return await provider.person(
        ATTEMPT,
        code=changes.get("code", given["code"]),
        said_issuer=changes.get("iss", given["iss"]),
        redirect_uri=CALLBACK,
    )


async def test_who_logs_in_is_who_the_id_token_says() -> None:
    async with providing(HandClock()) as fake:
        person = await entering(fake, a_provider(fake))
        assert (person.user, person.tenant, person.roles) == ("ann", "acme", {"finance-lead"})
        assert person.issuer == fake.issuer
        assert person.scopes == frozenset()
        assert fake.basics == [f"{CLIENT}:{SECRET}"]
        assert fake.forms[0] == {
            "grant_type": "authorization_code",
            "code": "code-0",
            "redirect_uri": CALLBACK,
            "code_verifier": ATTEMPT.verifier,
        }


async def test_the_browser_is_sent_with_state_nonce_and_challenge() -> None:
    async with providing(HandClock()) as fake:
        provider = a_provider(fake, scopes=["email", "openid"])
        address = await provider.address(ATTEMPT, redirect_uri=CALLBACK)
        assert address.startswith(f"{fake.issuer}/authorize?")
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked.pop("code_challenge") != ATTEMPT.verifier
        assert asked == {
            "response_type": "code",
            "client_id": CLIENT,
            "redirect_uri": CALLBACK,
            "scope": "openid email",
            "state": "the-state",
            "nonce": "the-nonce",
            "code_challenge_method": "S256",
        }


@pytest.mark.parametrize(
    ("keys", "discovery", "basic", "inside"),
    [
        ({"client_secret": None}, {}, "", {"client_id": CLIENT}),
        (
            {},
            {"token_endpoint_auth_methods_supported": ["client_secret_post"]},
            "",
            {"client_id": CLIENT, "client_secret": SECRET},
        ),
    ],
)
async def test_the_secret_goes_where_the_provider_takes_it(
    keys: dict[str, Any], discovery: dict[str, Any], basic: str, inside: dict[str, str]
) -> None:
    async with providing(HandClock()) as fake:
        fake.discovery = discovery
        await entering(fake, a_provider(fake, **keys))
        assert fake.basics == [basic]
        assert inside.items() <= fake.forms[0].items()


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"nonce": "another"}, "another login"),
        ({"nonce": None}, "another login"),
        ({"aud": "another"}, "its audience is another"),
        ({"aud": [CLIENT, "another"]}, "made for another client"),
        ({"azp": "another"}, "made for another client"),
        ({"iss": "https://other.example.com"}, "issuer"),
        ({"exp": 1.0}, "expired"),
        ({"org": "globex"}, "may not speak for"),
        ({"org": None}, "names no tenant"),
        ({"sub": None}, "names no user"),
        ({"roles": {"a": 1}}, "not a list of names"),
    ],
)
async def test_an_id_token_that_is_not_of_this_login_lets_nobody_in(
    claims: dict[str, Any], why: str
) -> None:
    async with providing(HandClock()) as fake:
        fake.claims = claims
        with pytest.raises(Rejected) as caught:
            await entering(fake, a_provider(fake))
        assert why in caught.value.reason


async def test_a_token_shared_with_others_has_to_name_us_as_its_user() -> None:
    async with providing(HandClock()) as fake:
        fake.claims = {"aud": [CLIENT, "another"], "azp": CLIENT}
        assert (await entering(fake, a_provider(fake))).user == "ann"


async def test_a_token_that_somebody_else_signed_lets_nobody_in() -> None:
    async with providing(HandClock()) as fake:
        fake.key = OTHER_KEY
        with pytest.raises(Rejected, match="signature"):
            await entering(fake, a_provider(fake))


@pytest.mark.parametrize("said", ["", "https://other.example.com"])
async def test_an_answer_in_the_name_of_another_provider_is_not_taken(said: str) -> None:
    async with providing(HandClock()) as fake:
        with pytest.raises(Rejected, match="another provider"):
            await entering(fake, a_provider(fake), iss=said)
        assert fake.forms == []


async def test_a_code_works_once_and_only_with_its_verifier() -> None:
    async with providing(HandClock()) as fake:
        provider = a_provider(fake)
        await entering(fake, provider)
        with pytest.raises(Rejected, match="log in again"):
            await entering(fake, provider, code="code-0")


@pytest.mark.parametrize(
    ("discovery", "why"),
    [
        ({"issuer": "https://other.example.com"}, "of another issuer"),
        ({"token_endpoint": "http://other.example.com/token"}, "no usable `token_endpoint`"),
        ({"authorization_endpoint": None}, "no usable `authorization_endpoint`"),
        ({"jwks_uri": 7}, "no usable `jwks_uri`"),
    ],
)
async def test_a_provider_that_names_others_is_not_followed(
    discovery: dict[str, Any], why: str
) -> None:
    async with providing(HandClock()) as fake:
        fake.discovery = discovery
        with pytest.raises(ProviderUnavailable, match=why):
            await a_provider(fake).address(ATTEMPT, redirect_uri=CALLBACK)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (302, b"{}"),
        (200, b"{}"),
        (200, b"[]"),
        (200, b"<html>"),
        (200, b'{"x": "' + b"x" * (300 << 10) + b'"}'),
    ],
)
async def test_an_answer_that_can_not_be_used_is_an_outage(status: int, body: bytes) -> None:
    async with providing(HandClock()) as fake:
        fake.token_status, fake.token_body = status, body
        with pytest.raises(ProviderUnavailable):
            await entering(fake, a_provider(fake))


async def test_a_provider_that_is_away_is_an_outage() -> None:
    async with providing(HandClock()) as fake:
        provider = a_provider(fake)
    with pytest.raises(ProviderUnavailable):
        await provider.address(ATTEMPT, redirect_uri=CALLBACK)


async def test_whether_people_could_log_in_is_found_out_without_anybody() -> None:
    async with providing(HandClock()) as fake:
        assert await a_provider(fake).problem() == ""
        fake.discovery = {"jwks_uri": f"{fake.issuer}/nowhere"}
        assert "HTTP 404" in await a_provider(fake).problem()
        fake.discovery = {"issuer": "https://other.example.com"}
        assert "of another issuer" in await a_provider(fake).problem()


async def test_what_a_provider_says_about_itself_is_asked_again_in_time() -> None:
    clock = HandClock()
    async with providing(clock) as fake:
        provider = a_provider(fake)
        await entering(fake, provider)
        fake.discovery = {"issuer": "https://other.example.com"}
        await entering(fake, provider)
        clock.move(601)
        with pytest.raises(ProviderUnavailable):
            await entering(fake, provider)

import pytest
from pydantic import ValidationError

from gateway.config.activation import ActivationSettings
from gateway.config.settings import Settings

ACCOUNTS = [
    {"user": "ann", "tenant": "acme", "roles": ["lead"]},
    {"user": "Ann", "tenant": "globex", "roles": ["lead"]},
    {"user": "bo", "tenant": "acme"},
]


def test_without_a_word_a_file_is_enough() -> None:
    assert not ActivationSettings().is_shared
    assert ActivationSettings(people=2).is_shared


@pytest.mark.parametrize("people", [0, 6])
def test_there_are_bounds(people: int) -> None:
    with pytest.raises(ValidationError):
        ActivationSettings(people=people)


def settings(**activation: object) -> Settings:
    return Settings.model_validate({"activation": activation, "admin": {"accounts": ACCOUNTS}})


def test_as_many_people_as_it_takes_have_to_be_there_and_a_name_is_one_of_them() -> None:
    made = settings(people=2, tenant="acme")
    assert (made.activation.people, made.say.tenant) == (2, "acme")
    with pytest.raises(ValidationError, match="is 3, and 2 can agree"):
        settings(people=3, tenant="acme")
    with pytest.raises(ValidationError, match="is 2, and 1 can agree"):
        settings(people=2, tenant="acme", roles=["lead"])
    with pytest.raises(ValidationError, match="is 2, and 1 can agree"):
        settings(people=2, tenant="globex")


def test_where_people_of_several_tenants_log_in_one_has_to_be_named() -> None:
    with pytest.raises(ValidationError, match="whose people agree, for all"):
        settings(people=2, roles=["lead"])
    assert settings(people=1).say.tenant == ""  # nobody agrees, since nothing is proposed


def provided(activation: dict[str, object], **oidc: object) -> Settings:
    return Settings.model_validate(
        {
            "activation": activation,
            "admin": {
                "oidc": {"issuer": "https://id.example.com", "client_id": "w"} | oidc,
                "public_url": "https://admin.example.com",
            },
        }
    )


def test_who_comes_from_a_provider_is_not_counted() -> None:
    made = provided({"people": 3, "tenant": "acme"}, claims={"tenant": "org"})
    assert (made.activation.people, made.say.issuer) == (3, "https://id.example.com")
    with pytest.raises(ValidationError, match="is 2, and 0 can agree"):
        provided({"people": 2, "tenant": "acme"}, tenant="globex")


def test_a_provider_of_several_tenants_needs_one_named_and_that_of_one_does_not() -> None:
    for tenants in ([], ["acme", "globex"]):
        with pytest.raises(ValidationError, match="whose people agree, for all"):
            provided({"people": 2}, claims={"tenant": "org"}, tenants=tenants)
    assert provided({"people": 2}, tenant="acme").say.tenant == "acme"

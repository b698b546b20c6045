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
    assert settings(people=2).activation.people == 2
    with pytest.raises(ValidationError, match="is 3, and 2 can agree"):
        settings(people=3)
    with pytest.raises(ValidationError, match="is 2, and 1 can agree"):
        settings(people=2, roles=["lead"])


def test_who_comes_from_a_provider_is_not_counted() -> None:
    made = Settings.model_validate(
        {
            "activation": {"people": 3},
            "admin": {
                "oidc": {"issuer": "https://id.example.com", "client_id": "w"}
                | {"claims": {"tenant": "org"}},
                "public_url": "https://admin.example.com",
            },
        }
    )
    assert made.activation.people == 3

from datetime import timedelta

import pytest

from gateway import yamltext
from gateway.config.identity import ApiKeySettings
from gateway.identity.apikeys import ADMIN_PREFIX, ApiKeys, hash_key, new_api_key
from gateway.identity.challenge import Rejected
from gateway.types.calls import AuthMethod
from tests.helpers.issuer import NOW

NEW = new_api_key("ci", user="builds", tenant="acme")


def an_entry(**changes: object) -> ApiKeySettings:
    entry = {"id": "ci", "hash": hash_key(NEW.key), "user": "builds", "tenant": "acme"}
    return ApiKeySettings.model_validate({**entry, **changes})


def test_a_key_says_who_acts() -> None:
    entry = an_entry(roles=["reader"], scopes=["crm:read"], client="runner")
    who = ApiKeys([entry]).principal(NEW.key, now=NOW)
    assert (who.user, who.tenant, who.subject, who.client) == ("builds", "acme", "ci", "runner")
    assert (who.roles, who.scopes) == ({"reader"}, {"crm:read"})
    assert who.method is AuthMethod.API_KEY
    assert ApiKeys([an_entry()]).principal(NEW.key, now=NOW).client == "ci"


def test_a_new_key_comes_with_the_line_that_lets_it_in() -> None:
    names = 'Ann "the boss": #1'
    made = new_api_key("a-1", user=names, tenant="acme")
    document = yamltext.load(f"api_keys:\n  {made.config_line}\n", file="c.yaml")
    entries = document.value["api_keys"]
    assert isinstance(entries, list)
    entry = ApiKeySettings.model_validate(entries[0])
    assert ApiKeys([entry]).principal(made.key, now=NOW).user == names
    assert made.key not in made.config_line
    assert document.value == {"api_keys": [made.entry]}
    assert new_api_key("a-1", user="u", tenant="t").key != made.key


def test_keys_of_one_kind_are_none_of_the_other() -> None:
    admins = new_api_key("ci", user="builds", tenant="acme", prefix=ADMIN_PREFIX)
    assert admins.key.startswith("wba_ci_")
    entry = an_entry(hash=hash_key(admins.key))
    assert ApiKeys([entry], prefix=ADMIN_PREFIX).principal(admins.key, now=NOW).subject == "ci"
    with pytest.raises(Rejected):
        ApiKeys([entry]).principal(admins.key, now=NOW)
    with pytest.raises(Rejected):
        ApiKeys([an_entry()], prefix=ADMIN_PREFIX).principal(NEW.key, now=NOW)


@pytest.mark.parametrize("key_id", ["", "a_b", "a b", "x" * 41])
def test_an_id_that_could_not_be_read_back_is_refused(key_id: str) -> None:
    with pytest.raises(ValueError, match="key id"):
        new_api_key(key_id, user="u", tenant="t")


@pytest.mark.parametrize(
    "key",
    [
        "wb_ci_" + "0" * 64,
        NEW.key[:-1] + ("0" if NEW.key[-1] != "0" else "1"),
        NEW.key.replace("wb_ci_", "wb_other_"),
        NEW.key.upper(),
        NEW.key + "0",
        NEW.key[:-1],
        "wb_ci_",
        "wb_",
    ],
)
def test_a_wrong_key_is_rejected_the_same_way_whatever_is_wrong(key: str) -> None:
    with pytest.raises(Rejected, match="the API key is not valid") as caught:
        ApiKeys([an_entry()]).principal(key, now=NOW)
    assert caught.value.status == 401


def test_a_key_of_another_id_does_not_open_this_one() -> None:
    other = new_api_key("cd", user="deploys", tenant="globex")
    entries = [an_entry(), an_entry(id="cd", hash=hash_key(other.key), tenant="globex")]
    keys = ApiKeys(entries)
    assert keys.principal(other.key, now=NOW).tenant == "globex"
    swapped = other.key.replace("wb_cd_", "wb_ci_")
    with pytest.raises(Rejected):
        keys.principal(swapped, now=NOW)


def test_a_key_works_until_it_expires() -> None:
    keys = ApiKeys([an_entry(expires="2026-11-29T12:00:01+00:00")])
    assert keys.principal(NEW.key, now=NOW).user == "builds"
    with pytest.raises(Rejected, match="expired"):
        keys.principal(NEW.key, now=NOW + timedelta(seconds=1))

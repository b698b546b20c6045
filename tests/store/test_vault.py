import pytest

from gateway.store.keys import TenantKeys
from gateway.store.vault import Vault, VaultBroken
from gateway.types.json import JsonObject


def a_vault(secret: bytes = b"s" * 32) -> Vault:
    return Vault(TenantKeys(secret).operations)


def test_what_is_sealed_opens_in_its_place_only() -> None:
    vault = a_vault()
    text = vault.seal("acme", "op_1", b"\x00secret")
    assert vault.open("acme", "op_1", text) == b"\x00secret"
    assert "secret" not in text
    assert text != vault.seal("acme", "op_1", b"\x00secret")
    for tenant, place, other in (
        ("globex", "op_1", text),
        ("acme", "op_2", text),
        ("acme", "op_1", text[:-8]),
        ("acme", "op_1", ""),
        ("acme", "op_1", "v1.no!"),
    ):
        with pytest.raises(VaultBroken):
            vault.open(tenant, place, other)


def test_another_store_opens_nothing() -> None:
    with pytest.raises(VaultBroken):
        a_vault(b"t" * 32).open("acme", "op_1", a_vault().seal("acme", "op_1", b"x"))


def test_a_digest_is_the_same_for_the_same_value_under_one_key_alone() -> None:
    value: JsonObject = {"pin": 4711, "n": [1.0]}
    vault = a_vault()
    digest = vault.digest("acme", value)
    assert digest == a_vault().digest("acme", {"n": [1], "pin": 4711.0})
    others = (vault.digest("globex", value), a_vault(b"t" * 32).digest("acme", value))
    assert len({digest, *others, vault.digest("acme", {**value, "pin": 4712})}) == 4
    assert (digest[:12], len(digest)) == ("hmac-sha256:", 76)

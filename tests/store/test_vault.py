import pytest

from gateway.store.keys import TenantKeys
from gateway.store.vault import Vault, VaultBroken


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

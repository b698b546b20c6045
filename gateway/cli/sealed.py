"""How commands about the past read sealed copies, where the key for them is at hand."""

from pathlib import Path

from gateway.app import sealing
from gateway.cli import disclosing
from gateway.cli.options import load
from gateway.errors import ConfigurationError
from gateway.store.sealing_keys import SealingKeys
from gateway.store.store import Store
from gateway.store.unsealing import Unsealing
from gateway.types.json import JsonObject


def opener(store: Store, path: Path) -> Unsealing:
    """Return what opens sealed copies; without a key it only says what became of them."""
    return Unsealing(store.sealed, _keys(path))


async def noted(
    store: Store, unsealing: Unsealing, how: str, asked: JsonObject, *, tenant: str = ""
) -> None:
    """Keep that sealed copies were opened, if any were. Raises StoreUnavailable."""
    if unsealing.opened:
        said: JsonObject = {**asked, "unsealed": unsealing.opened}
        await disclosing.told(store, how, said, tenant=tenant)


def _keys(path: Path) -> SealingKeys | None:
    try:
        return sealing.keys_of(load(path).settings)
    except ConfigurationError:
        return None

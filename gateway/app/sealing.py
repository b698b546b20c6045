"""Which key sealed copies of arguments hang on, and why there may be none."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.clock import Clock
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError
from gateway.store import key_files, sealing_keys
from gateway.store.sealing import Sealer
from gateway.store.sealing_keys import SealingKeys
from gateway.store.store import Store

OFF: Final = (
    "there is no key for sealed copies: `events.sealing.key` is not set; make one with "
    "`weighbridge events keys seal`"
)


def key_path(settings: Settings) -> Path | None:
    """Return the file of the key: the configured one, or that beside a store in a file."""
    return settings.events.sealing.key or sealing_keys.beside(settings.store.url)


def keys_of(settings: Settings) -> SealingKeys:
    """Return what opens sealed copies; raises ConfigurationError."""
    path = key_path(settings)
    if path is None:
        raise ConfigurationError(OFF)
    return sealing_keys.read(path)


def examined(settings: Settings, last: str | None) -> tuple[str, str]:
    """Return what keeps calls from being sealed, or copies from being opened, and its mend.

    Both are empty where all is well. `last` is the data key that was wrapped last, if any was.
    """
    path = key_path(settings)
    if path is None:
        return OFF, "then set `events.sealing.key` to its file, on each gateway"
    if last is None and settings.events.sealing.key is None and not path.exists():
        return "", ""  # the first call makes it
    try:
        keys = sealing_keys.read(path)
    except ConfigurationError as error:
        return str(error), "put a copy of it back; calls that have to be sealed are refused"
    if key_files.is_open(path):
        return (
            f"`{path}`: others can read the key for sealed copies",
            f"take the others' rights away: `chmod 600 {path}`",
        )
    if last and not keys.knows(last):
        return (
            f"what was sealed last does not open with `{path}`",
            "give every gateway the same key, or add the line of the other one to the file",
        )
    return "", ""


async def sealer_of(store: Store, settings: Settings, clock: Clock) -> Sealer:
    """Return what seals for a gateway; the first copy makes a key that nobody had to configure.

    One that is gone is not made anew by itself: nobody would notice that copies of before can't be
    opened. Raises StoreUnavailable.
    """
    is_own = settings.events.sealing.key is None and key_path(settings) is not None
    is_first = is_own and await store.sealed.newest_key() is None
    sealer = Sealer(_keys(settings, makes=is_first), clock)
    store.events.key_destroyed = sealer.forget
    store.sealed.problem = lambda: sealer.problem
    return sealer


def _keys(settings: Settings, *, makes: bool) -> Callable[[], SealingKeys]:
    path = key_path(settings)
    if makes and path is not None:
        return lambda: sealing_keys.make(path)
    return lambda: keys_of(settings)

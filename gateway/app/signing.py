"""Which key signs the checkpoints of a log, and why there may be none."""

from pathlib import Path
from typing import Final

from gateway.config.events import CheckpointsSettings
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError
from gateway.events.notes import Signer
from gateway.store import key_files
from gateway.store.store import Store

OFF: Final = (
    "there are no checkpoints: `events.checkpoints.key` is not set; make one with `weighbridge "
    "events keys new`"
)


def key_path(settings: Settings) -> Path | None:
    """Return the file of the key: the configured one, or that beside a store in a file."""
    return settings.events.checkpoints.key or key_files.beside(settings.store.url)


def default_name(store: Store) -> str:
    """Return the name of a log that was given none: no other store has it."""
    return f"weighbridge/log-{store.keys.fingerprint()}"


def signer_of(path: Path | None, settings: CheckpointsSettings) -> Signer:
    """Return the key that signs; raises ConfigurationError."""
    if path is None:
        raise ConfigurationError(OFF)
    signer = key_files.read(path)
    if settings.origin is not None and settings.origin != signer.name:
        raise ConfigurationError(
            f"`events.checkpoints.origin` is `{settings.origin}`, and the key is for "
            f"`{signer.name}`; make them the same"
        )
    return signer

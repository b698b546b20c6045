"""Reads one run out of the store, whole, so that it can be played without it."""

import anyio.to_thread

from gateway import __version__, ids, jsontext
from gateway.actions import revisions
from gateway.actions.disclosure import Reader, disclosed
from gateway.app.keeping import Keeping
from gateway.app.naming import naming
from gateway.app.playback import Playback
from gateway.app.programme import Programme, programme
from gateway.clock import Clock
from gateway.config.load import Loaded
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError, FileError, JsonError
from gateway.events.envelope import Origin
from gateway.events.redact import Redactor
from gateway.replay.takes import Kept, Take, takes
from gateway.replay.tape import Tape
from gateway.results import kept
from gateway.revision import Revision, Unreviewed
from gateway.store.store import Store
from gateway.store.vault import Vault, VaultBroken
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal

_NAME = 128  # characters of a name that nothing has, as the log keeps it
_URI = 2_000


async def playback(
    loaded: Loaded, run: str, clock: Clock, *, reader: Reader, is_open: bool = False
) -> Playback:
    """Return a run as a gateway that answers from it; the store is closed again.

    All that it gets is that `reader` read the run. `is_open` lets callers of every tenant in.
    Raises ConfigurationError for a run that can't be played, and StoreUnavailable, also where that
    it is read can't be kept.
    """
    origin = Origin(instance=ids.new("play"), version=__version__)
    url = loaded.settings.store.url
    store = await anyio.to_thread.run_sync(lambda: Store.open(url, origin=origin, create=False))
    try:
        found = await takes(store.events, run, _kept(store))
        shown = await _programme(store, loaded.settings, run, found)
        asked: JsonObject = {"run": run}
        await disclosed(
            *(store.events, clock, reader),
            how="playback",
            asked=asked,
            tenant=shown.actor.tenant,
        )
        keeping, redactor = Keeping(store=store), Redactor(store.keys.redaction, loaded.secrets)
    finally:
        await anyio.to_thread.run_sync(store.close)
    tenant = shown.actor.tenant

    def spelled(call: ProposedCall) -> str:
        longest = _URI if call.method in (Method.READ_RESOURCE, Method.SUBSCRIBE) else _NAME
        return redactor.text(call.name)[:longest]

    return Playback(
        tape=Tape(run, found),
        programme=shown,
        clock=clock,
        digest=lambda call: keeping.digest(tenant, call.asked),
        spelled=spelled,
        is_open=is_open,
    )


async def _programme(
    store: Store, settings: Settings, run: str, found: tuple[Take, ...]
) -> Programme:
    """Return what the run could use, by the revision of its first call."""
    id = next((take.asked.revision for take in found if take.asked is not None), "")
    if not id:
        raise ConfigurationError(
            f"the log has no calls of `{run}` that can be played; `weighbridge runs list` has runs"
        )
    revision = await _revision(store, settings, id)
    shown = programme(
        found,
        revision,
        await store.definitions.all(),
        naming=naming(settings.expose),
        phase=settings.runs.default_phase,
        servers=settings.servers.keys(),
    )
    assert shown is not None  # noqa: S101 - one of its calls was judged
    return shown


async def _revision(store: Store, settings: Settings, id: str) -> Revision:
    stored = await store.revisions.get(id)
    if stored is None:
        raise ConfigurationError(f"the store does not have revision `{id}`, which the run went by")
    texts = revisions.folder_of(stored.texts)
    unreviewed = revisions.unreviewed_of(id, texts) or Unreviewed(settings.contracts.unreviewed)
    try:
        return revisions.compiled(texts, unreviewed=unreviewed, at=stored.at)
    except FileError as error:
        raise ConfigurationError(
            f"revision `{id}`, which the run went by, can't be read any more: {error}"
        ) from error


def _kept(store: Store) -> Kept:
    """Return what finds the answer that an operation keeps for calls that repeat it."""
    vault = Vault(store.keys.operations)

    async def find(op: str) -> Answer | Refusal | None:
        operation = await store.operations.get(op)
        if operation is None or not operation.outcome:
            return None
        try:
            body = jsontext.parse_result(
                vault.open(operation.tenant, operation.op_id, operation.outcome)
            )
            return kept.from_json(body) if isinstance(body, dict) else None
        except (VaultBroken, JsonError, kept.NotKept):
            return None

    return find

import pytest

from gateway import ids
from gateway.actions.rotating import common_checkpoint
from gateway.actions.verifying import verify
from gateway.errors import LogChanged
from gateway.events import notes, upkeep
from gateway.events.faults import FaultKind
from gateway.events.notes import Signer
from gateway.events.trust import Trust
from gateway.store.store import Store
from gateway.types.events import Event
from tests.helpers.cases import NOW
from tests.helpers.tampering import SIGNER, checkpoint, write

NEW = Signer(name=SIGNER.name, seed=b"n" * 32)


def rotated() -> Event:
    return upkeep.key_rotated(
        id=ids.ulid(), at=NOW, old=str(SIGNER.key), new=str(NEW.key), by="ada", account="ada"
    )


async def test_who_knows_the_old_key_comes_to_trust_the_new_one(store: Store) -> None:
    await write(store, 20)
    await checkpoint(store)
    made = await common_checkpoint(store, [SIGNER, NEW], [rotated()])
    assert notes.parse(made.note).signed_by([SIGNER.key, NEW.key]) == (SIGNER.key, NEW.key)
    await write(store, 20)
    await checkpoint(store, NEW)
    report = await verify(store.checkpoints, Trust([SIGNER.key]), ())
    assert report.is_whole
    assert report.stored is not None
    assert report.stored.keys == (str(NEW.key),)


async def test_who_knows_only_the_new_key_trusts_nothing_of_before(store: Store) -> None:
    await write(store, 20)
    await checkpoint(store)
    await common_checkpoint(store, [SIGNER, NEW], [rotated()])
    report = await verify(store.checkpoints, Trust([NEW.key]), ())
    assert [(fault.kind, fault.last) for fault in report.faults] == [(FaultKind.SIGNATURE, 20)]


async def test_a_key_that_signs_without_having_been_handed_anything_is_not_trusted(
    store: Store,
) -> None:
    await write(store, 20)
    await checkpoint(store)
    await write(store, 20)
    await checkpoint(store, NEW)
    report = await verify(store.checkpoints, Trust([SIGNER.key]), ())
    assert [fault.kind for fault in report.faults] == [FaultKind.SIGNATURE]


async def test_without_an_event_there_is_no_common_checkpoint(store: Store) -> None:
    with pytest.raises(LogChanged, match="try again"):
        await common_checkpoint(store, [SIGNER, NEW], [])

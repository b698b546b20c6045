"""Opens what is sealed beside events, or says why not: shredded, no key, not what it was."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from gateway.events import sealing
from gateway.store.sealed_copies import Copy, SealedCopies
from gateway.store.sealing import opened
from gateway.store.sealing_keys import OtherKey, SealBroken, SealingKeys
from gateway.types.json import JsonObject
from gateway.types.values import value


class Unopened(StrEnum):
    """Why a sealed copy can't be read."""

    SHREDDED = "shredded"
    NO_KEY = "no_key"  # or another one than it was sealed under
    MISSING = "missing"  # nobody has shredded it, and it isn't there
    BROKEN = "broken"  # somebody has changed it, or moved it here


@value
class Unsealed:
    """The arguments that are sealed beside an event, or why they can't be read."""

    arguments: JsonObject | None = None
    why: Unopened | None = None
    since: datetime | None = None  # when it was shredded
    detail: str = ""


class Unsealing:
    """Reads sealed copies; without keys it can only say what became of them."""

    def __init__(self, copies: SealedCopies, keys: SealingKeys | None) -> None:
        self._copies = copies
        self._keys = keys
        self.opened = 0  # copies that were read

    async def beside(self, events: Sequence[JsonObject]) -> dict[str, Unsealed]:
        """Return what is sealed beside events as they are kept, by id; of others nothing.

        Raises StoreUnavailable.
        """
        telling = {str(event.get("id")): event for event in events if _tells(event)}
        if not telling:
            return {}
        copies = await self._copies.beside(telling)
        absent = {id: sealing.told(telling[id].get("body"))[0] for id in telling.keys() - copies}
        destroyed = await self._copies.destroyed(absent.values()) if absent else {}
        return {
            id: self._of(event, copies[id]) if id in copies else _absent(destroyed.get(absent[id]))
            for id, event in telling.items()
        }

    def _of(self, event: JsonObject, copy: Copy) -> Unsealed:
        if copy.shredded is not None and copy.content and copy.wrapped:
            detail = "it says that it was shredded, and is there; `weighbridge events shred` mends"
            return Unsealed(why=Unopened.BROKEN, detail=detail)
        if copy.shredded is not None:
            return Unsealed(why=Unopened.SHREDDED, since=copy.shredded)
        if self._keys is None:
            return Unsealed(why=Unopened.NO_KEY, detail="there is no key for it here")
        try:
            arguments = opened(self._keys, event, copy.wrapped, copy.content)
        except OtherKey as error:
            return Unsealed(why=Unopened.NO_KEY, detail=str(error))
        except SealBroken as error:
            return Unsealed(why=Unopened.BROKEN, detail=str(error))
        self.opened += 1
        return Unsealed(arguments=arguments)


def _tells(event: JsonObject) -> bool:
    return bool(sealing.told(event.get("body"))[1])


def _absent(destroyed: datetime | None) -> Unsealed:
    if destroyed is not None:
        return Unsealed(why=Unopened.SHREDDED, since=destroyed)
    return Unsealed(why=Unopened.MISSING, detail="the store does not have it")

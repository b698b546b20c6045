"""Keeps a server's configured secrets out of every text about it."""

from dataclasses import replace

from gateway.servers.connection import Mask
from gateway.types.json import Json
from gateway.types.operations import Delivered, Delivery, Rejected, Undelivered

_MARK = "[secret]"
_LONGEST_TEXT = 1_000


def masker(secrets: tuple[str, ...], mask: Mask) -> Mask:
    """Return a mask that knows an entry's own secrets, and then asks the general one."""

    def masked_text(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, _MARK)
        return mask(text)

    return masked_text


def masked(delivery: Delivery, mask: Mask) -> Delivery:
    """Mask what a server says of a failure; results pass, they belong to the pipeline."""
    match delivery:
        case Delivered():
            return delivery
        case Rejected():
            return replace(
                delivery,
                message=mask(delivery.message),  # whole: it goes on to the caller
                data=_masked_json(delivery.data, mask),
            )
        case Undelivered():
            return replace(delivery, detail=_short(mask(delivery.detail)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _masked_json(value: Json, mask: Mask) -> Json:
    match value:
        case str():
            return mask(value)
        case list():
            return [_masked_json(item, mask) for item in value]
        case dict():
            return {mask(key): _masked_json(item, mask) for key, item in value.items()}
        case _:
            return value

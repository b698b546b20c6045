"""What `weighbridge status` says of the checkpoints of the event log."""

from collections.abc import Iterator

from gateway.types.json import Json, JsonObject


def checkpoint_lines(status: JsonObject) -> Iterator[str]:
    """Yield how far checkpoints go, and how far each place outside of the store was told."""
    found = _object(status.get("checkpoints"))
    if not found or found.get("off"):
        return
    size, since, at = found.get("size"), found.get("since"), found.get("at")
    waits = f"{since} later ones wait, the oldest for {found.get('age_s')} s"
    if size:
        yield f"the checkpoint of {at} covers {size} events; {waits if since else 'those are all'}"
    else:
        yield f"no checkpoint yet; {since} events wait" if since else "no events yet"
    for place in _objects(found.get("to")):
        size = place.get("size")
        said = f"was handed that of {size}" if size else "was handed none since the start"
        yield f"`{place.get('name')}` {said}"


def checkpoint_problems(status: JsonObject) -> Iterator[str]:
    """Yield what keeps the log from being provable."""
    found = _object(status.get("checkpoints"))
    for key in ("off", "problem"):
        if found.get(key):
            yield str(found[key])
    for place in _objects(found.get("to")):
        if place.get("problem"):
            yield f"`{place.get('name')}` can't be handed checkpoints: {place['problem']}"


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: Json) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

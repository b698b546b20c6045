"""`weighbridge events unseal`: what was sent, from the sealed copy beside the log."""

from collections.abc import Iterator
from pathlib import Path

import click

from gateway import jsontext
from gateway.app import sealing
from gateway.cli import disclosing, output
from gateway.cli.opening import fine, opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.store.events import EventFilter
from gateway.store.unsealing import Unopened, Unsealed, Unsealing
from gateway.types.events import EventKind
from gateway.types.json import JsonObject

_MOST = 1_000  # events of one call
_NONE = "nothing of this call is sealed; its contract has no `audit: {seal: true}`"


@click.command("unseal", epilog="Example: weighbridge events unseal call_01JC...")
@click.argument("call")
@config_option
@json_option
def command(call: str, path: Path, as_json: bool) -> None:
    """Print the arguments of a call as they were, secrets included. That it was done is logged.

    Needs the key that they were sealed under, and that nobody has shredded them.
    """
    settings = load(path).settings

    async def read() -> tuple[list[JsonObject], dict[str, Unsealed]]:
        async with opened(path) as store:
            found = await store.events.query(EventFilter(call=call, limit=_MOST))
            events = [each.json() for each in found]
            if not await Unsealing(store.sealed, None).beside(events):
                return events, {}  # nobody is asked for a key that opens nothing
            keys = fine(lambda: sealing.keys_of(settings))
            unsealed = await Unsealing(store.sealed, keys).beside(events)
            if any(each.arguments is not None for each in unsealed.values()):
                tenant = str(events[0].get("tenant") or "")
                asked: JsonObject = {"call": call}
                await disclosing.told(store, "unseal", asked, tenant=tenant, events=len(unsealed))
            return events, unsealed

    events, unsealed = run(read)
    if not events:
        output.fail(f"the log has no call `{call}`; `events query` lists calls")
    if not unsealed:
        output.fail(_failed(events) or _NONE)
    for each in unsealed.values():
        _check(each)
    _tell(call, events, unsealed, as_json=as_json)


def _failed(events: list[JsonObject]) -> str:
    """Say why a call that should have been sealed was not, or return an empty text."""
    for event in events:
        body = event.get("body")
        said = body.get("sealed") if isinstance(body, dict) else None
        if isinstance(said, dict) and said.get("failed"):
            return f"nothing is sealed of this call: {said['failed']}"
    return ""


def _check(found: Unsealed) -> None:
    """End the command where a copy can't be read."""
    match found.why:
        case None:
            return
        case Unopened.SHREDDED:
            since = "" if found.since is None else f" on {found.since:%F}"
            output.fail(f"its arguments were shredded{since}", output.EXIT_FAILED)
        case Unopened.NO_KEY:
            output.fail(f"its arguments can't be read: {found.detail}", output.EXIT_FAILED)
        case Unopened.MISSING:
            output.fail(f"its sealed copy is gone: {found.detail}", output.EXIT_FAILED)
        case Unopened.BROKEN:
            output.fail(
                f"the sealed copy of this call is not what was sealed: {found.detail}",
                output.EXIT_FAILED,
            )


def _tell(
    call: str, events: list[JsonObject], unsealed: dict[str, Unsealed], *, as_json: bool
) -> None:
    copies = list(_copies(events, unsealed))
    if as_json:
        output.as_json({"call": call, **dict(copies)})
        return
    names = {"arguments": "arguments as they came", "sent": "as policy changed them"}
    for name, arguments in copies:
        output.one_line(f"{names[name]}: {jsontext.dump(arguments).decode()}")


def _copies(
    events: list[JsonObject], unsealed: dict[str, Unsealed]
) -> Iterator[tuple[str, JsonObject]]:
    for event in events:
        found = unsealed.get(str(event.get("id")))
        if found is not None and found.arguments is not None:
            is_first = event.get("kind") == EventKind.AUTHORIZATION.value
            yield ("arguments" if is_first else "sent"), found.arguments

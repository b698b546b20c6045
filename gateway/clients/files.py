"""A client's file as a whole: its text, its servers, and the text with a gateway in their place."""

from collections.abc import Set
from pathlib import PurePath
from typing import Final

from gateway.clients import jsonc, jsonc_editing, kinds, texts, toml
from gateway.clients.jsonc import Node
from gateway.clients.kinds import Client, Syntax
from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

_BOM: Final = "\ufeff"


@value
class ClientFile:
    """A file that was read: whose it is, what it says, and what of that is about servers."""

    client: Client
    file: str
    text: str
    whole: JsonObject
    servers: JsonObject
    node: Node | None = None  # of the section, in JSON


def read(data: bytes, path: PurePath, client: Client | None = None) -> ClientFile:
    """Read a file, for the client that its name or its content tells; raises FileError.

    Without a section of servers there are none.
    """
    file = str(path)
    client = client or kinds.by_name(path)
    if client is not None and client.syntax is Syntax.TOML:
        return _of_toml(texts.decoded(data, file, toml.LARGEST), client, file)
    text = texts.decoded(data, file)
    if not text.removeprefix(_BOM).strip():
        raise FileError("nothing in it", file=file)
    top = jsonc.parse(text, file)
    if not isinstance(top.value, dict):
        raise FileError("no JSON object at the top; is it a client's file?", file=file)
    client = client or (kinds.VS_CODE if "servers" in top.value else kinds.CLAUDE_CODE)
    node = next((each.node for each in top.members if each.name == client.section), None)
    servers = _map(node.value if node is not None else {}, client, file)
    return ClientFile(
        client=client, file=file, text=text, whole=top.value, servers=servers, node=node
    )


def _of_toml(text: str, client: Client, file: str) -> ClientFile:
    whole = toml.parse(text, file)
    servers = _map(whole.get(client.section, {}), client, file)
    return ClientFile(client=client, file=file, text=text, whole=whole, servers=servers)


def _map(found: Json, client: Client, file: str) -> JsonObject:
    if not isinstance(found, dict):
        raise FileError(f"`{client.section}` is no map of servers", file=file)
    return found


def switched(given: ClientFile, gone: Set[str], name: str, entry: JsonObject) -> str:
    """Return the text with one entry in place of others; raises FileError if that can't be done.

    What comes out is read again: but for these servers it has to say what it said before.
    """
    made = _edited(given, gone, name, entry)
    if made is None or not _says(made, given, gone, name, entry):
        message = "its servers can't be taken out of the text"
        if given.client.syntax is Syntax.TOML:
            message += f"; write each as `[{given.client.section}.NAME]`"
        raise FileError(message, file=given.file)
    return made


def put_back(now: ClientFile, before: ClientFile, name: str) -> str | None:
    """Return the text with the servers of before in the place of an entry; the rest stays as it is.

    None if that can't be done so that nothing else changes.
    """
    gone = before.servers.keys() - now.servers.keys()
    section = now.client.section
    if not gone or name not in now.servers:
        return None
    if now.client.syntax is Syntax.TOML:
        made = toml.replaced(now.text, section, {name}, toml.cut(before.text, section, gone))
    else:
        made = _members_put_back(now, before, name, gone)
    if made is None:
        return None
    kept = {key: each for key, each in now.servers.items() if key != name}
    wanted = {
        **now.whole,
        section: {**kept, **{key: before.servers[key] for key in gone}},
    }
    try:
        return made if _whole(made, now) == wanted else None
    except FileError:
        return None


def _members_put_back(now: ClientFile, before: ClientFile, name: str, gone: Set[str]) -> str | None:
    if now.node is None or before.node is None:
        return None
    place = next(each for each in now.node.members if each.name == name)
    indentation = texts.indentation(now.text, place.start)
    gap = ", " if indentation is None else f",{texts.line_end(now.text)}{indentation}"
    members = (each for each in before.node.members if each.name in gone)
    old = gap.join(before.text[each.start : each.node.end] for each in members)
    return now.text[: place.start] + old + now.text[place.node.end :]


def _edited(given: ClientFile, gone: Set[str], name: str, entry: JsonObject) -> str | None:
    if given.client.syntax is Syntax.TOML:
        table = toml.table(given.client.section, name, entry, texts.line_end(given.text))
        return toml.replaced(given.text, given.client.section, gone, table)
    if given.node is None:
        return None
    return jsonc_editing.replaced(given.text, given.node, gone, name, entry)


def _says(made: str, given: ClientFile, gone: Set[str], name: str, entry: JsonObject) -> bool:
    try:
        after = _whole(made, given)
    except FileError:
        return False
    kept = {key: each for key, each in given.servers.items() if key not in gone}
    return after == {**given.whole, given.client.section: {**kept, name: entry}}


def _whole(text: str, given: ClientFile) -> JsonObject:
    if given.client.syntax is Syntax.TOML:
        return toml.parse(text, given.file)
    found = jsonc.parse(text, given.file).value
    return found if isinstance(found, dict) else {}

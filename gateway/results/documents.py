"""The documents in the result of `resources/read`, as events name them."""

from dataclasses import dataclass

from gateway.types.json import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One document as it leaves."""

    uri: str
    content: str  # its text, or its bytes in base64
    version: str  # as far as its server tells one


def found(result: JsonObject, published: JsonObject) -> list[Found]:
    """Return the documents of a result; `published` is the definition from the server's list.

    A version is what `_meta.version` or `annotations.lastModified` says, of the document first.
    """
    contents = result.get("contents")
    return [
        Found(
            uri=_text(entry.get("uri")),
            content=_text(entry.get("text", entry.get("blob"))),
            version=_version(entry) or _version(published),
        )
        for entry in (contents if isinstance(contents, list) else ())
        if isinstance(entry, dict)
    ]


def _version(about: JsonObject) -> str:
    for member, key in (("_meta", "version"), ("annotations", "lastModified")):
        said = about.get(member)
        version = _text(said.get(key)) if isinstance(said, dict) else ""
        if version:
            return version
    return ""


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
